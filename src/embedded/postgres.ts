import { createHmac } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { codeOf } from '../domain/errors.ts';
import { serverErrors } from '../texts/errors/servers.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { serverProgress } from '../texts/progress.ts';
import { serverEnvironment } from './environment.ts';
import { portOfServer } from './noted-port.ts';
import type { ServicesOptions } from './options.ts';
import { type PostgresBinaries, postgresBinaries } from './postgres-binaries.ts';
import {
  type ClusterPlace,
  clusterExists,
  clusterPassword,
  createCluster,
  placeOfCluster,
  superuser,
} from './postgres-cluster.ts';
import { identify, spawnServer, stopProcess, waitUntilAnswers } from './processes.ts';
import { reasonOf, ServiceError, startFailure } from './service-error.ts';
import { notOurs, type ServerRecord, shareServer } from './shared-server.ts';

const database = 'vetledger';
const reachTimeoutMs = 5_000;
const queryTimeoutMs = 30_000;
const startTimeoutMs = 60_000;

/** The role that commands use on an embedded server. The cluster's superuser owns the tables. */
const runtimeRole = 'vetledger_runtime';
/** The role of the console on an embedded server. `migrate` creates it. */
const consoleRole = 'vetledger_console';

export interface PostgresHandle {
  /** URL for the runtime role, which all commands use. */
  url: string;
  /** URL for the owner of the tables. It equals `url` on a given server with a single role. */
  ownerUrl: string;
  /** URL for the console's role on an embedded server. Null on a given server: then `console.database_url` names it. */
  consoleUrl: string | null;
  /** The server's present URL. Another process may have restarted the embedded server on another port. */
  currentUrl(): string;
  embedded: boolean;
  /** Restarts an embedded server that has died. False if it runs, or if another process has restarted it. */
  revive(): Promise<boolean>;
  /** Ends this use of the server. The last user of an embedded server stops it. */
  release(): Promise<void>;
}

/**
 * Returns the given PostgreSQL, after checking within 5 s that it answers. Without one, starts or joins the embedded
 * server of `dataDir` (DESIGN: The service parts and how they start). Throws ServiceError `postgres_unreachable` or
 * `postgres_start_failed`.
 */
export async function acquirePostgres(options: ServicesOptions): Promise<PostgresHandle> {
  if (options.databaseUrl) {
    await checkReachable(options.databaseUrl);
    const { databaseUrl: url, migrateDatabaseUrl: ownerUrl = url } = options;
    return { url, ownerUrl, consoleUrl: null, currentUrl: () => url, embedded: false, ...notOurs };
  }
  return acquireEmbeddedPostgres(options, { durable: true });
}

/** Starts or joins the embedded server. `durable: false` skips all waits for the disk, for temporary data. */
export async function acquireEmbeddedPostgres(
  options: ServicesOptions,
  { durable }: { durable: boolean },
): Promise<PostgresHandle> {
  const dataDir = resolve(options.dataDir);
  const logFile = join(dataDir, 'logs', 'postgres.log');
  try {
    const server = await shareServer<{ place: ClusterPlace; binaries: PostgresBinaries }>({
      label: 'PostgreSQL',
      folder: postgresFolder(dataDir),
      progress: options.progress,
      prepare: async () => {
        const place = placeOfCluster(dataDir, options.progress);
        return { place, binaries: await postgresBinaries({ ...options, dataDir }, place.account) };
      },
      start: async ({ place, binaries }, record) => {
        if (!clusterExists(place.folder)) {
          options.progress(serverProgress.creatingDatabase({ folder: place.folder }));
          await createCluster(place, binaries, durable);
        }
        const left = await postmasterLeft(place.folder);
        if (left) {
          record(left.pid, { port: left.port, uiPort: null });
          return;
        }
        const port = await portOfServer(postgresFolder(dataDir), 'PostgreSQL', options.progress);
        const child = await spawnServer({
          command: binaries.postgres,
          args: ['-D', place.folder, ...settings(port, durable)],
          env: { ...serverEnvironment(options.env), LC_ALL: 'C', TZ: 'UTC' },
          logFile,
          account: place.account ?? undefined,
        });
        const started = record(child.pid, { port, uiPort: null });
        const password = clusterPassword(place.folder);
        await waitUntilAnswers('PostgreSQL', started, () => answers(port, password), startTimeoutMs, logFile);
        options.progress(serverProgress.ready({ server: 'PostgreSQL', port }));
      },
      answers: (record) => answers(record.port, clusterPassword(placeOfCluster(dataDir, options.progress).folder)),
      stop: stopPostgres,
    });
    const password = clusterPassword(placeOfCluster(dataDir, options.progress).folder);
    const { port } = server.record;
    try {
      await ensureDatabase(port, password);
    } catch (error) {
      await server.release();
      throw error;
    }
    return {
      url: urlOf(port, rolePassword(password, runtimeRole), database, runtimeRole),
      consoleUrl: urlOf(port, rolePassword(password, consoleRole), database, consoleRole),
      ownerUrl: urlOf(port, password, database),
      currentUrl: () => urlOf(server.current().port, rolePassword(password, runtimeRole), database, runtimeRole),
      embedded: true,
      revive: server.revive,
      release: server.release,
    };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw startFailure('postgres_start_failed', dataDir, logFile, 'database_url (DATABASE_URL)', error);
  }
}

/** The folder of the embedded server's lock, record and users. */
export function postgresFolder(dataDir: string): string {
  return join(dataDir, 'services', 'postgres');
}

/** Tries a fast shutdown, then an immediate one without a checkpoint, then a kill. */
export function stopPostgres(record: ServerRecord): Promise<void> {
  return stopProcess(record, [
    { signal: 'SIGINT', waitMs: 30_000 },
    { signal: 'SIGQUIT', waitMs: 10_000 },
    { signal: 'SIGKILL', waitMs: 5_000 },
  ]);
}

function urlOf(port: number, password: string, name: string, role = superuser): string {
  return `postgresql://${role}:${password}@127.0.0.1:${port}/${name}`;
}

/** Derived from the superuser's password, so that only one password is stored. */
function rolePassword(password: string, role: string): string {
  return createHmac('sha256', password).update(role).digest('hex');
}

function settings(port: number, durable: boolean): string[] {
  const values: Record<string, string> = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    timezone: 'UTC',
    log_timezone: 'UTC',
    max_connections: '200',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_wal_size: '256MB' }),
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * A server of this cluster that runs without a record, because its starter was killed before writing one. If the
 * process id in the pid file now belongs to another program, the file is removed, since PostgreSQL would refuse to
 * start.
 */
async function postmasterLeft(folder: string): Promise<{ pid: number; port: number } | null> {
  const file = join(folder, 'postmaster.pid');
  let lines: string[];
  try {
    lines = readFileSync(file, 'utf8').split('\n');
  } catch {
    return null;
  }
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  if (identify(pid) === null) return null;
  if (port > 0 && (await answers(port, clusterPassword(folder)))) return { pid, port };
  if (process.platform === 'linux' && !readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')) rmSync(file);
  return null;
}

async function answers(port: number, password: string): Promise<boolean> {
  try {
    await query(urlOf(port, password, 'postgres'), 'select 1', reachTimeoutMs);
    return true;
  } catch {
    return false;
  }
}

async function ensureDatabase(port: number, password: string): Promise<void> {
  const url = urlOf(port, password, 'postgres');
  const makeRole = `create role ${runtimeRole} login password '${rolePassword(password, runtimeRole)}'`;
  await ensure(url, `select 1 from pg_database where datname = '${database}'`, `create database ${database}`);
  await ensure(url, `select 1 from pg_roles where rolname = '${runtimeRole}'`, makeRole);
}

async function ensure(url: string, find: string, make: string): Promise<void> {
  const rows = await query(url, find);
  if (rows.length > 0) return;
  try {
    await query(url, make);
  } catch (error) {
    // If two processes start together, both may find it missing, and one of them creates it.
    if (!['42P04', '42710', '23505'].includes((error as { code?: string }).code ?? '')) throw error;
  }
}

async function query(url: string, sql: string, timeoutMs = queryTimeoutMs): Promise<unknown[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: reachTimeoutMs,
    query_timeout: timeoutMs,
  });
  // Without a listener, a connection that breaks while idle would end the process. A query on it fails with its own
  // error.
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

async function checkReachable(url: string): Promise<void> {
  let place: string;
  try {
    const { host, port } = new pg.Client({ connectionString: url });
    place = `${host}:${port}`;
  } catch {
    throw new ServiceError(serverErrors.postgresUrlInvalid());
  }
  try {
    await query(url, 'select 1', reachTimeoutMs);
  } catch (error) {
    throw new ServiceError(unusable(codeOf(error) ?? '', { place, reason: reasonOf(error) }), error);
  }
}

function unusable(code: string, failure: { place: string; reason: string }): PlainError {
  // SQLSTATE class 28: the server runs and refuses this role. It also answers so before the role exists.
  if (code.startsWith('28')) return serverErrors.postgresRoleRefused(failure);
  if (code === '3D000') return serverErrors.postgresDatabaseMissing(failure);
  if (code === '57P03') return serverErrors.postgresStarting(failure);
  return serverErrors.postgresUnreachable(failure);
}
