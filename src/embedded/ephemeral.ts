import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquireEmbeddedPostgres, type PostgresHandle, postgresFolder, stopPostgres } from './postgres.ts';
import { identify } from './processes.ts';
import { stopAbandoned } from './shared-server.ts';
import { acquireEmbeddedTemporal, stopTemporal, type TemporalHandle, temporalFolder } from './temporal.ts';

const prefix = 'vetledger-ephemeral-';

/** A PostgreSQL with an empty database in a temporary folder, without waits for the disk. `release` deletes it. */
export function startEphemeralPostgres(progress: (line: string) => void = () => {}): Promise<PostgresHandle> {
  return inTemporaryFolder((dataDir) =>
    acquireEmbeddedPostgres({ dataDir, progress, env: process.env }, { durable: false }),
  );
}

/** A Temporal development server in memory, without its web UI. `release` ends it. */
export function startEphemeralTemporal(progress: (line: string) => void = () => {}): Promise<TemporalHandle> {
  return inTemporaryFolder((dataDir) =>
    acquireEmbeddedTemporal({ dataDir, progress, env: process.env, ui: false }, { durable: false }),
  );
}

async function inTemporaryFolder<T extends { release(): Promise<void> }>(
  start: (dataDir: string) => Promise<T>,
): Promise<T> {
  await removeAbandoned();
  const dataDir = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  // Under root, PostgreSQL runs as another user, who must be able to enter subfolders.
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

/** Removes servers and folders left behind by killed processes. */
async function removeAbandoned(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    if (identify(Number(name.slice(prefix.length).split('-')[0])) !== null) continue;
    const dataDir = join(tmpdir(), name);
    try {
      const postgresUnused = await stopAbandoned(postgresFolder(dataDir), stopPostgres);
      const temporalUnused = await stopAbandoned(temporalFolder(dataDir), stopTemporal);
      if (postgresUnused && temporalUnused) removeData(dataDir);
    } catch {
      // The folder is another user's, or another process is removing it. Neither may keep this process from starting.
    }
  }
}

function removeData(dataDir: string): void {
  const note = join(dataDir, 'postgres.location');
  if (existsSync(note)) rmSync(readFileSync(note, 'utf8').trim(), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}
