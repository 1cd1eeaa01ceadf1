import type { Connection } from '../db/rows.ts';
import { forEachAtATime } from '../domain/concurrency.ts';
import { PracticeError } from '../domain/practice-error.ts';
import type { Dialect } from '../records/dialect.ts';
import { type JsonValue, parseJson } from '../records/json.ts';
import type { InstallationId } from '../terms.ts';
import { pendingWriteBacks, recordWriteBacks, type WriteBackOutcome } from './store.ts';

const batchSize = 100;
/** Requests under way at a time: enough to hide the latency, few beside what the budget allows. */
const requestsInFlight = 8;

export interface WriteBackPorts {
  /** Fetches prepayments into the mirror again; gives the ids of those that the source still has. */
  refresh(ids: number[]): Promise<Set<number>>;
  /** Sends a prepayment its entry id, keeping every other key. Throws PracticeError where the source refuses it. */
  send(prepayment: JsonValue, entryId: string): Promise<unknown>;
  /** Called after each request with the number of prepayments written so far. */
  onProgress(written: number): void;
  onRefused(prepaymentId: number, error: PracticeError): void;
}

/**
 * Tells the source the entry id of each posted prepayment (`external_info.external_id`); returns how many were written. What
 * the source refuses is recorded and tried again by the next window.
 */
export async function writeBackAll(
  db: Connection,
  installation: InstallationId,
  dialect: Dialect,
  ports: WriteBackPorts,
): Promise<number> {
  let written = 0;
  for (let after = 0; ; ) {
    const batch = { after, limit: batchSize, dialect };
    const ids = (await pendingWriteBacks(db, installation, batch)).map(({ prepaymentId }) => prepaymentId);
    const last = ids.at(-1);
    if (last === undefined) return written;
    // In a first load the mirror may be hours old, and staff may have changed what is beside our id since.
    const found = await ports.refresh(ids);
    const pending = await pendingWriteBacks(db, installation, batch);
    const outcomes: WriteBackOutcome[] = [];
    try {
      const existing = pending.filter(({ prepaymentId }) => found.has(prepaymentId));
      await forEachAtATime(requestsInFlight, existing, async ({ prepaymentId, entryId, raw }) => {
        const refusal = await refusalOf(() => ports.send(parseJson(raw), entryId));
        outcomes.push({ prepaymentId, entryId, error: refusal?.message ?? null });
        if (refusal === null) written += 1;
        else ports.onRefused(prepaymentId, refusal);
        ports.onProgress(written);
      });
    } finally {
      // Whatever ended the batch early: what was written is not written again.
      await recordWriteBacks(db, installation, outcomes);
    }
    after = last;
  }
}

/** Why the source refuses for good, or null when it is done; throws what a later attempt may resolve. */
async function refusalOf(send: () => Promise<unknown>): Promise<PracticeError | null> {
  try {
    await send();
    return null;
  } catch (error) {
    if (!(error instanceof PracticeError) || error.retryable || error.code === 'unauthorized') throw error;
    return error;
  }
}
