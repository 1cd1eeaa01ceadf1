import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { Config } from '../config/load-config.ts';
import type { Connection as Database } from '../db/rows.ts';
import { recordedTemporal } from '../embedded/index.ts';
import { replacedTemporal } from '../runtime/binding/bind.ts';
import { temporalGoneSince } from '../runtime/presence.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { probeTemporal } from './probes.ts';

/** How long `status` waits for Temporal, and for PostgreSQL to let it write. */
export const answerWithinMs = 3_000;

/** Whether Temporal answers, from the namespace that the database is bound to, as `status --json` prints it. */
export interface TemporalStatus {
  ok: boolean;
  /** host:port of the configured server, or of the embedded one. */
  address: string;
  embedded: boolean;
  /** Since when the daemon has not reached it; null where it is reached, or no daemon has noticed. */
  since: Date | null;
  error: PlainError | null;
}

/**
 * Asks the configured Temporal server, or the embedded one that a process of this `data_dir` has started, whether it answers with the
 * data that the database knows; it starts none. Null where no embedded server should be running now. Takes a few seconds at most.
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
    embedded?.isRunning === false ? died(embedded.pid) : await asked({ address, temporal, dataDir, db, timeoutMs });
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
    const todo =
      temporal.address === null
        ? `See ${join(dataDir, 'logs', 'temporal.log')}, end that server, and see that \`vetledger run\` is up, which starts it again.`
        : `Start the server at ${address}, or correct temporal.address (TEMPORAL_ADDRESS). What was under way goes on by itself, and the next windows cover what was missed.`;
    return { code: error.code, message: `Temporal at ${address} does not answer, so no window opens`, todo };
  } finally {
    await connection.close();
  }
}

function died(pid: number): PlainError {
  return {
    code: 'temporal_unreachable',
    message: `the embedded Temporal server (process ${pid}) has died, so no window opens`,
    todo: 'See that `vetledger run` is up: it starts the server again within seconds, and the next windows cover what was missed.',
  };
}
