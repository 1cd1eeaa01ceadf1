import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverEnvironment } from '../../src/embedded/environment.ts';
import { withLock } from '../../src/embedded/lock.ts';
import {
  freePort,
  isPortFree,
  isRunning,
  privateFolder,
  spawnServer,
  stopProcess,
  waitUntilAnswers,
} from '../../src/embedded/processes.ts';
import { reasonOf, ServiceError } from '../../src/embedded/service-error.ts';
import { type ServerRecord, shareServer } from '../../src/embedded/shared-server.ts';
import { demoCompany } from './demo-company.ts';
import { installTryton, installWebClient, type ProgramOptions, trytonProgram, trytonProgramDir } from './program.ts';
import {
  copyTemplate,
  databaseFolder,
  loginOf,
  passwordFile,
  passwordsOf,
  type TrytonUser,
  trytonTemplate,
  writeSettings,
} from './template.ts';

const startTimeoutMs = 60_000;
const answerTimeoutMs = 30_000;
const portTimeoutMs = 10_000;
const lockWaitMs = 60_000;
const defaultDatabase = 'clinic';

export interface TrytonOptions {
  /**
   * The data folder; databases are in `tryton/databases` below it. Two servers that start with the same folder share
   * one process.
   */
  dataDir: string;
  /**
   * The folder of the program, the prepared database and the passwords. The default is VETLEDGER_TRYTON, or `tryton`
   * below dataDir.
   */
  programDir?: string;
  /**
   * The name of the database; the default is `clinic`. If it does not exist, it is copied from the prepared database.
   */
  database?: string;
  /** A fixed port; the default is a free one. */
  port?: number;
  /** Installs and serves Tryton's web client. The default is false. */
  webClient?: boolean;
  /** Receives one line for every slow step. */
  progress: (line: string) => void;
  env: NodeJS.ProcessEnv;
}

export interface TrytonServer {
  /** The URL of the server, without a trailing slash. */
  readonly url: string;
  readonly database: string;
  /** The name of the company. */
  readonly company: string;
  /** Logins and passwords; `api` is in the group Accounting only. */
  readonly users: Record<TrytonUser, { user: string; password: string }>;
  /** The file with the passwords. */
  readonly passwordFile: string;
  /** True if `url` serves the web client. */
  readonly hasWebClient: boolean;
  /** The file of a database; without a name, of `database`. */
  databaseFile(name?: string): string;
  /**
   * Creates a database with this name from the prepared one, and restarts the server to serve it. Throws if it exists.
   */
  newDatabase(name: string): Promise<void>;
  /**
   * Takes the write lock of a database, like a long transaction of another program. Returns a function that releases
   * it.
   */
  lockDatabase(name?: string): () => void;
  /** Kills the server's process, like a crash. */
  kill(): Promise<void>;
  /** Stops the server cleanly. */
  stop(): Promise<void>;
  /** Restarts it on the same port after `kill` or `stop`, and waits until it answers. */
  start(): Promise<void>;
  /** Ends this use of the server; the last user stops it. */
  release(): Promise<void>;
}

/** Installs Tryton and prepares the database if necessary. Returns the database's file. */
export async function prepareTryton(program: ProgramOptions): Promise<string> {
  await installTryton(program);
  return trytonTemplate(program);
}

/**
 * Starts a Tryton server on 127.0.0.1 with the demo's company, for the demo and for tests. The first use installs and
 * sets it up. Throws ServiceError `tryton_install_failed` or `tryton_start_failed`.
 */
export async function startTryton(options: TrytonOptions): Promise<TrytonServer> {
  const dataDir = resolve(options.dataDir);
  const programDir = resolve(options.programDir ?? trytonProgramDir(dataDir, options.env));
  const name = options.database ?? defaultDatabase;
  const program = { programDir, progress: options.progress, env: options.env };
  const folder = databaseFolder(dataDir);
  const settings = join(dataDir, 'tryton', 'trytond.conf');
  const logFile = join(dataDir, 'logs', 'tryton.log');
  const fileOf = (database: string) => join(folder, `${database}.sqlite`);
  mkdirSync(folder, { recursive: true, mode: privateFolder });
  const template = await prepareTryton(program);
  const passwords = passwordsOf(programDir);
  const webRoot = options.webClient ? await installWebClient(program) : null;
  await withLock(join(dataDir, 'tryton', 'databases.lock'), { waitMs: lockWaitMs }, async () => {
    if (!existsSync(fileOf(name))) copyTemplate(template, fileOf(name));
  });

  const launch = async (port: number, record: (pid: number) => ServerRecord): Promise<void> => {
    writeSettings(settings, { folder, port, webRoot });
    const child = await spawnServer({
      command: trytonProgram(programDir, 'trytond'),
      // Tryton loads the modules of an SQLite database only if the database is named here.
      args: ['-c', settings, '-d', ...databasesIn(folder)],
      env: serverEnvironment(options.env),
      logFile,
    });
    const started = record(child.pid);
    await waitUntilAnswers('Tryton', started, () => answers(port), startTimeoutMs, logFile);
    await logInOnce(port, name, programDir);
  };
  try {
    const server = await shareServer({
      label: 'Tryton',
      folder: join(dataDir, 'services', 'tryton'),
      progress: options.progress,
      prepare: async () => {},
      start: async (_, record) => {
        const port = options.port ?? (await freePort());
        options.progress('Tryton: starting');
        await launch(port, (pid) => record(pid, { port, uiPort: null }));
        options.progress(`Tryton: ready on 127.0.0.1:${port}`);
      },
      answers: (record) => answers(record.port),
      stop,
    });
    const { port } = server.record;
    const users = Object.fromEntries(
      Object.entries(passwords).map(([user, password]) => [user, { user: loginOf(user as TrytonUser), password }]),
    ) as TrytonServer['users'];
    return {
      url: `http://127.0.0.1:${port}`,
      database: name,
      company: demoCompany.name,
      users,
      passwordFile: passwordFile(programDir),
      hasWebClient: await servesWebClient(port),
      databaseFile: (database = name) => fileOf(database),
      newDatabase: async (database) => {
        copyTemplate(template, fileOf(database));
        await stop(server.current());
        await launch(port, (pid) => server.replaced(pid));
      },
      lockDatabase: (database = name) => lockFile(fileOf(database)),
      kill: async () => {
        await stopProcess(server.current(), [{ signal: 'SIGKILL', waitMs: 10_000 }]);
        await portReleased(port);
      },
      stop: async () => {
        await stop(server.current());
        await portReleased(port);
      },
      start: async () => {
        if (isRunning(server.current())) return;
        await launch(port, (pid) => server.replaced(pid));
      },
      release: server.release,
    };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const message = `The demo's Tryton of ${dataDir} could not be started: ${reasonOf(error)}`;
    throw new ServiceError({ code: 'tryton_start_failed', message, todo: `Read ${logFile}.` }, error);
  }
}

function databasesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((file) => (file.endsWith('.sqlite') ? [file.slice(0, -'.sqlite'.length)] : []));
}

function stop(record: ServerRecord): Promise<void> {
  return stopProcess(record, [
    { signal: 'SIGTERM', waitMs: 10_000 },
    { signal: 'SIGKILL', waitMs: 5_000 },
  ]);
}

/** Waits for the port, because an ending process can hold its socket for a moment. */
async function portReleased(port: number): Promise<void> {
  const deadline = performance.now() + portTimeoutMs;
  while (!(await isPortFree(port)) && performance.now() < deadline) await sleep(10);
}

async function answers(port: number): Promise<boolean> {
  try {
    const answer = await ask(port, '/rpc/', 'common.server.version', []);
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}

/** Checks for the web client, because a running server may have been started without it. */
async function servesWebClient(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(answerTimeoutMs) });
  await answer.arrayBuffer();
  return answer.ok;
}

/** Logs in once, because the first login loads the database's modules, which takes seconds. */
async function logInOnce(port: number, database: string, programDir: string): Promise<void> {
  const parameters = { password: passwordsOf(programDir).api };
  const answer = await ask(port, `/${database}/rpc/`, 'common.db.login', [loginOf('api'), parameters, 'en']);
  // Tryton answers status 200 with an error if it cannot load the database.
  if (answer.ok && !('error' in ((await answer.json()) as object))) return;
  throw new Error(
    `the API user cannot log in to ${database}, with the password of ${passwordFile(programDir)} (HTTP ${answer.status})`,
  );
}

async function ask(port: number, path: string, method: string, params: unknown[]): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 0, method, params }),
    signal: AbortSignal.timeout(answerTimeoutMs),
  });
}

function lockFile(file: string): () => void {
  const opened = new DatabaseSync(file, { timeout: 10_000 });
  opened.exec('begin immediate');
  return () => {
    if (opened.isOpen) opened.close();
  };
}
