import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { Config } from '../config/load-config.ts';
import type { Connection as Database } from '../db/rows.ts';
import { recordedTemporal } from '../embedded/index.ts';
import { replacedTemporal } from '../runtime/binding/bind.ts';
import { temporalGoneSince } from '../runtime/presence.ts';
import { serviceErrors } from '../texts/errors/services.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { probeTemporal } from './probes.ts';

/** Limit of the time that `status` waits for Temporal, and for PostgreSQL to accept a write. */
export const answerWithinMs = 3_000;

/** Whether Temporal answers, with the namespace that the database is bound to. `status --json` prints it. */
export interface TemporalStatus {
  ok: boolean;
  /** host:port of the configured server, or of the embedded one. */
  address: string;
  embedded: boolean;
  /** Since when the daemon cannot reach it; null if it can, or if no daemon has noticed. */
  since: Date | null;
  error: PlainError | null;
}

/**
 * Checks whether the configured Temporal server, or the embedded one of this `data_dir`, answers with the data that the
 * database is bound to. Starts no server. Null if no embedded server should be running. Takes a few seconds at most.
 */
export async function temporalStatus(
  { dataDir, temporal }: Pick<Config, 'dataDir' | 'temporal'>,
  db: Database,
  timeoutMs = answerWithinMs,
): Promise<TemporalStatus | null> {
  const embedded = temporal.address === null ? recordedTemporal(dataDir) : null;
  const address = temporal.address ?? embedded?.address;
  if (address === undefined) return null;
  const error =
    embedded?.isRunning === false
      ? serviceErrors.embeddedTemporalDied({ pid: embedded.pid })
      : await asked({ address, temporal, dataDir, db, timeoutMs });
  const since = error === null ? null : await temporalGoneSince(db);
  return { ok: error === null, address, embedded: embedded !== null, since, error };
}

interface Question extends Pick<Config, 'dataDir' | 'temporal'> {
  address: string;
  db: Database;
  timeoutMs: number;
}

async function asked({ address, temporal, dataDir, db, timeoutMs }: Question): Promise<PlainError | null> {
  const connection = Connection.lazy({ ...temporal.security, address });
  try {
    const client = new Client({ connection, namespace: temporal.namespace });
    const error = (await probeTemporal(client, timeoutMs)) ?? (await replacedTemporal(db, temporal, client));
    if (error?.code !== 'temporal_unreachable') return error;
    const { code } = error;
    if (temporal.address !== null) return serviceErrors.temporalAtDown({ code, address });
    return serviceErrors.embeddedTemporalHangs({ code, address, logFile: join(dataDir, 'logs', 'temporal.log') });
  } finally {
    await connection.close();
  }
}
