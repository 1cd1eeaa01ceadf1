import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeData, usersOfData } from './data-folder.ts';
import { acquireEmbeddedPostgres, type PostgresHandle } from './postgres.ts';
import { identify } from './processes.ts';
import { acquireEmbeddedTemporal, type TemporalHandle } from './temporal.ts';

const prefix = 'vetledger-ephemeral-';

/** The file system in memory that Linux has, and the free bytes that a server with little data may need there. */
const memory = { folder: '/dev/shm', bytes: 2 ** 30 };

/**
 * Starts a PostgreSQL with an empty database, without waits for the disk. Its folder is in memory if there is room, because a copy of a
 * database makes hundreds of files; `large` data is in the folder for temporary files. `release` stops it and deletes the folder.
 */
export function startEphemeralPostgres(
  progress: (line: string) => void = () => {},
  { large = false } = {},
): Promise<PostgresHandle> {
  return inTemporaryFolder(large || !memoryHasRoom() ? tmpdir() : memory.folder, (dataDir) =>
    acquireEmbeddedPostgres({ dataDir, progress, env: process.env }, { durable: false }),
  );
}

function memoryHasRoom(): boolean {
  try {
    accessSync(memory.folder, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(memory.folder);
    return bavail * bsize >= memory.bytes;
  } catch {
    return false;
  }
}

/** Starts a Temporal development server in memory, without its web UI. `release` stops it. */
export function startEphemeralTemporal(progress: (line: string) => void = () => {}): Promise<TemporalHandle> {
  return inTemporaryFolder(tmpdir(), (dataDir) =>
    acquireEmbeddedTemporal({ dataDir, progress, env: process.env }, { durable: false }),
  );
}

async function inTemporaryFolder<T extends { release(): Promise<void> }>(
  parent: string,
  start: (dataDir: string) => Promise<T>,
): Promise<T> {
  await removeAbandoned(parent);
  const dataDir = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  // If this process is root, PostgreSQL runs as another user, who must be able to enter subfolders.
  chmodSync(dataDir, 0o711);
  try {
    const handle = await start(dataDir);
    return {
      ...handle,
      release: async () => {
        await handle.release();
        removeData(dataDir);
      },
    };
  } catch (error) {
    removeData(dataDir);
    throw error;
  }
}

/** Removes servers and folders that killed processes left behind. */
async function removeAbandoned(parent: string): Promise<void> {
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(prefix))) {
    if (identify(Number(name.slice(prefix.length).split('-')[0])) !== null) continue;
    const dataDir = join(parent, name);
    try {
      if ((await usersOfData(dataDir)).length === 0) removeData(dataDir);
    } catch {
      // The folder belongs to another user, or another process is removing it. Neither should prevent the start.
    }
  }
}
