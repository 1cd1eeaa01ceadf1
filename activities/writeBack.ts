import { forEachAtATime } from '../src/domain/concurrency.ts';
import { PracticeError } from '../src/domain/practice-error.ts';
import { parseJson } from '../src/records/json.ts';
import { pullEach } from '../src/sync/parts.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import { pendingWriteBacks, recordWriteBacks, type WriteBackOutcome } from '../src/writeback/store.ts';
import type { ApiUse, WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, alive } from './context.ts';
import { pullContext } from './pull.ts';

const batchSize = 100;

export interface WriteBackReport {
  written: number;
  api: ApiUse;
}

/** Requests under way at a time: enough to hide the latency, few beside what the budget allows. */
const requestsInFlight = 8;

/**
 * Tells the source the entry id of each posted prepayment (`external_info.external_id`), every other key kept. What the
 * source refuses is noted and tried again by the next window; it never fails this one.
 */
export function writeBackActivities(deps: ActivityDeps) {
  return {
    async writeBack(input: WindowInput, window: OpenWindow): Promise<WriteBackReport> {
      return alive(deps, input, window, async (liveness) => {
        const { context, client, use } = await pullContext(deps, input, liveness);
        let written = 0;
        let after = 0;
        for (;;) {
          const batch = { after, limit: batchSize, dialect: context.dialect };
          const listed = await pendingWriteBacks(deps.db, input.installation, batch);
          if (listed.length === 0) return { written, api: use() };
          // Staff may have changed what stands beside our id since it was pulled, hours ago in a first load.
          const ids = listed.map(({ prepaymentId }) => prepaymentId);
          const found = await pullEach(context, 'prepayment', ids);
          after = ids.at(-1)!;
          const pending = await pendingWriteBacks(deps.db, input.installation, batch);
          const outcomes: WriteBackOutcome[] = [];
          try {
            await forEachAtATime(
              requestsInFlight,
              pending.filter(({ prepaymentId }) => found.has(prepaymentId)),
              async (one) => {
                const error = await refusalOf(() =>
                  client.writeExternalId(parseJson(one.raw), one.entryId, context.priority),
                );
                const { prepaymentId, entryId } = one;
                outcomes.push({ prepaymentId, entryId, error: error?.message ?? null });
                if (error === null) written += 1;
                else {
                  const { installation } = input;
                  deps.log.warn({ installation, prepayment: prepaymentId, code: error.code }, error.message);
                }
                liveness.beat({ step: 'writing back', done: written, total: null });
              },
            );
          } finally {
            // Whatever stopped the rest: what stands in the source is not written again.
            await recordWriteBacks(deps.db, input.installation, outcomes);
          }
        }
      });
    },
  };
}

/** Why the source refuses it for good, or null when it is done; throws what trying again later may mend. */
async function refusalOf(write: () => Promise<unknown>): Promise<PracticeError | null> {
  try {
    await write();
    return null;
  } catch (error) {
    if (!(error instanceof PracticeError) || error.retryable || error.code === 'unauthorized') throw error;
    return error;
  }
}
