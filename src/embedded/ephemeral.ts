import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquireEmbeddedPostgres, type PostgresHandle, postgresFolder, stopPostgres } from './postgres.ts';
import { identify } from './processes.ts';
import { stopAbandoned } from './shared-server.ts';
import { acquireEmbeddedTemporal, stopTemporal, type TemporalHandle, temporalFolder } from './temporal.ts';

const prefix = 'vetledger-ephemeral-';

/** A PostgreSQL with an empty database in a temporary folder, without waits for the disk; gone with its release. */
export function startEphemeralPostgres(progress: (line: string) => void = () => {}): Promise<PostgresHandle> {
  return inTemporaryFolder((dataDir) =>
    acquireEmbeddedPostgres({ dataDir, progress, env: process.env }, { durable: false }),
  );
}

/** A Temporal development server in memory, without its web UI; gone with its release. */
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
  // Started by root, PostgreSQL runs as another user, who has to pass through.
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

/** Ends what processes that were killed have left: their servers and their folders. */
async function removeAbandoned(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    if (identify(Number(name.slice(prefix.length).split('-')[0])) !== null) continue;
    const dataDir = join(tmpdir(), name);
    try {
      const postgresUnused = await stopAbandoned(postgresFolder(dataDir), stopPostgres);
      const temporalUnused = await stopAbandoned(temporalFolder(dataDir), stopTemporal);
      if (postgresUnused && temporalUnused) removeData(dataDir);
    } catch {
      // Another user's, or another process is at it: tidying up must not keep anybody from starting.
    }
  }
}

function removeData(dataDir: string): void {
  const note = join(dataDir, 'postgres.location');
  if (existsSync(note)) rmSync(readFileSync(note, 'utf8').trim(), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}
