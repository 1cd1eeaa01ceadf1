import { chmodSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeData, usersOfData } from './data-folder.ts';
import { acquireEmbeddedPostgres, type PostgresHandle } from './postgres.ts';
import { identify } from './processes.ts';
import { acquireEmbeddedTemporal, type TemporalHandle } from './temporal.ts';

const prefix = 'vetledger-ephemeral-';

/**
 * Starts a PostgreSQL with an empty database in a temporary folder, without waits for the disk. `release` stops it and
 * deletes the folder.
 */
export function startEphemeralPostgres(progress: (line: string) => void = () => {}): Promise<PostgresHandle> {
  return inTemporaryFolder((dataDir) =>
    acquireEmbeddedPostgres({ dataDir, progress, env: process.env }, { durable: false }),
  );
}

/** Starts a Temporal development server in memory, without its web UI. `release` stops it. */
export function startEphemeralTemporal(progress: (line: string) => void = () => {}): Promise<TemporalHandle> {
  return inTemporaryFolder((dataDir) =>
    acquireEmbeddedTemporal({ dataDir, progress, env: process.env }, { durable: false }),
  );
}

async function inTemporaryFolder<T extends { release(): Promise<void> }>(
  start: (dataDir: string) => Promise<T>,
): Promise<T> {
  await removeAbandoned();
  const dataDir = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
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
async function removeAbandoned(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    if (identify(Number(name.slice(prefix.length).split('-')[0])) !== null) continue;
    const dataDir = join(tmpdir(), name);
    try {
      if ((await usersOfData(dataDir)).length === 0) removeData(dataDir);
    } catch {
      // The folder belongs to another user, or another process is removing it. Neither should prevent the start.
    }
  }
}
