import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../domain/concurrency.ts';
import { serverProgress } from '../texts/progress.ts';
import { withLock } from './lock.ts';
import { ExitedEarly, identify, isRunning, type ProcessIdentity, privateFile, privateFolder } from './processes.ts';

const lockWaitMs = 150_000;
const joinWaitMs = 60_000;
/** Wait between attempts while an earlier server is still shutting down. */
const notGoneYetMs = 1_000;
const startAttempts = 3;
/** After this time `current` reads the record again. */
const rereadAfterMs = 500;

/** A running server, as `server.json` in its folder records it. */
export interface ServerRecord extends ProcessIdentity {
  port: number;
  uiPort: number | null;
}

export type Ports = Pick<ServerRecord, 'port' | 'uiPort'>;

export interface SharedServerSpec<Prepared> {
  label: string;
  /** Folder of the lock, the server's record and its users. */
  folder: string;
  progress: (line: string) => void;
  /**
   * Steps that can take minutes and need no lock, such as installing the program. It is not called if a server is
   * running.
   */
  prepare: () => Promise<Prepared>;
  /** Starts the server, calls `record` with its process id at once, and resolves when the server answers. */
  start: (prepared: Prepared, record: (pid: number, ports: Ports) => ServerRecord) => Promise<void>;
  answers: (record: ServerRecord) => Promise<boolean>;
  stop: (record: ServerRecord) => Promise<void>;
}

export interface SharedServer {
  /** The server as this process joined or started it. */
  record: ServerRecord;
  /** The server as it is recorded at present. Another process may have restarted it. */
  current(): ServerRecord;
  /** Records the new process of a restarted server, so that the other users find it. */
  replaced(pid: number): ServerRecord;
  /** Restarts the server if its process has ended. False if it runs, even if another process has restarted it. */
  revive(): Promise<boolean>;
  /** Ends this use of the server. The last user stops it. Further calls do nothing. */
  release(): Promise<void>;
}

/** A server that vetledger did not start is neither restarted nor stopped. */
export const notOurs: Pick<SharedServer, 'revive' | 'release'> = {
  revive: async () => false,
  release: async () => {},
};

/**
 * Joins the server of a folder, or starts one. Each user registers with a file that contains its process id and start
 * time. Users that died do not count. The next start joins a server whose users have all died.
 */
export async function shareServer<Prepared>(spec: SharedServerSpec<Prepared>): Promise<SharedServer> {
  const folder = serverFolder(spec.folder);
  const userFile = folder.newUserFile();
  const locked = <T>(work: () => Promise<T>): Promise<T> =>
    withLock(
      folder.lockFile,
      {
        waitMs: lockWaitMs,
        onWait: (holder) => spec.progress(serverProgress.waitingForHolder({ server: spec.label, holder })),
      },
      work,
    );

  const joinRunning = async (): Promise<ServerRecord | null> => {
    const record = folder.read();
    if (record === null) return null;
    if (isRunning(record)) {
      if (folder.livingUsers().length === 0)
        spec.progress(serverProgress.joining({ server: spec.label, pid: record.pid }));
      const deadline = performance.now() + joinWaitMs;
      while (isRunning(record) && performance.now() < deadline) {
        if (await spec.answers(record)) {
          folder.addUser(userFile);
          return record;
        }
        await sleep(250);
      }
      spec.progress(serverProgress.notAnswering({ server: spec.label, pid: record.pid }));
      await spec.stop(record);
    }
    folder.forget();
    return null;
  };

  const startNew = async (prepared: Prepared): Promise<ServerRecord> => {
    for (let attempt = 1; ; attempt++) {
      const recorded: ServerRecord[] = [];
      try {
        await spec.start(prepared, (pid, ports) => {
          const record = { ...(identify(pid) ?? { pid, started: 'ended' }), ...ports };
          recorded.push(record);
          folder.write(record);
          return record;
        });
        const [started] = recorded;
        if (started === undefined) throw new Error(`${spec.label} started without being recorded`);
        folder.addUser(userFile);
        return started;
      } catch (error) {
        for (const record of recorded) await spec.stop(record);
        folder.forget();
        // Another process can take the free port before the server starts to listen.
        const portLost = error instanceof ExitedEarly && /address already in use/i.test(error.log);
        // A server that was killed a moment ago can still hold its lock file or its children's shared memory.
        const notGoneYet =
          error instanceof ExitedEarly && /lock file .* already exists|pre-existing shared memory/i.test(error.log);
        if ((!portLost && !notGoneYet) || attempt === startAttempts) throw error;
        if (notGoneYet) await sleep(notGoneYetMs);
      }
    }
  };

  let record = await locked(joinRunning);
  if (record === null) {
    const prepared = await spec.prepare();
    record = await locked(async () => (await joinRunning()) ?? (await startNew(prepared)));
  }

  const held = record;
  let released = false;
  let latest = { record: held, readAt: performance.now() };
  return {
    record: held,
    current: () => {
      if (performance.now() - latest.readAt > rereadAfterMs)
        latest = { record: folder.read() ?? latest.record, readAt: performance.now() };
      return latest.record;
    },
    replaced: (pid) => {
      const record = { ...held, ...(identify(pid) ?? { pid, started: 'ended' }) };
      folder.write(record);
      latest = { record, readAt: performance.now() };
      return record;
    },
    revive: () =>
      locked(async () => {
        const recorded = folder.read();
        const runs = recorded !== null && isRunning(recorded);
        if (!runs && !released) {
          folder.forget();
          await startNew(await spec.prepare());
        }
        latest = { record: folder.read() ?? held, readAt: performance.now() };
        return !runs && !released;
      }),
    release: async () => {
      if (released) return;
      released = true;
      await locked(async () => {
        rmSync(userFile, { force: true });
        if (folder.livingUsers().length > 0) return;
        await spec.stop(folder.read() ?? held);
        folder.forget();
      });
    },
  };
}

/**
 * Stops the server of a folder if all its users have died. Returns the process ids of the living users. If the list is
 * empty, the folder is not in use.
 */
export async function stopAbandoned(path: string, stop: (record: ServerRecord) => Promise<void>): Promise<number[]> {
  const folder = serverFolder(path);
  return withLock(folder.lockFile, { waitMs: 5_000 }, async () => {
    const living = folder.livingUsers();
    if (living.length > 0) return living;
    const record = folder.read();
    if (record !== null && isRunning(record)) await stop(record);
    folder.forget();
    return [];
  });
}

/** The server that a folder's record names, running or not. Null if there is no record. It changes nothing. */
export function recordedServer(path: string): ServerRecord | null {
  return readJson<ServerRecord>(recordFileOf(path));
}

const recordFileOf = (path: string) => join(path, 'server.json');

function serverFolder(path: string) {
  const recordFile = recordFileOf(path);
  const usersFolder = join(path, 'users');
  mkdirSync(usersFolder, { recursive: true, mode: privateFolder });

  return {
    lockFile: join(path, 'lock'),
    newUserFile: () => join(usersFolder, `${process.pid}-${randomUUID().slice(0, 8)}.json`),
    addUser: (file: string) => {
      mkdirSync(usersFolder, { recursive: true, mode: privateFolder });
      writeWhole(file, identify(process.pid));
    },
    /** The process ids of the living users. It removes the files of all others. */
    livingUsers: (): number[] => {
      const living: number[] = [];
      for (const name of readNames(usersFolder)) {
        const identity = readJson<ProcessIdentity>(join(usersFolder, name));
        if (identity !== null && isRunning(identity)) living.push(identity.pid);
        else rmSync(join(usersFolder, name), { force: true });
      }
      return living;
    },
    read: () => readJson<ServerRecord>(recordFile),
    write: (record: ServerRecord) => writeWhole(recordFile, record),
    forget: () => rmSync(recordFile, { force: true }),
  };
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readJson<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return null;
  }
}

function writeWhole(file: string, content: unknown): void {
  writeFileSync(`${file}.new`, JSON.stringify(content), { mode: privateFile });
  renameSync(`${file}.new`, file);
}
