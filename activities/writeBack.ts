import { PracticeError } from '../src/practice/errors.ts';
import { parseJson } from '../src/practice/json.ts';
import { pullEach } from '../src/sync/parts.ts';
import type { OpenWindow } from '../src/sync/window.ts';
import { pendingWriteBacks, recordWriteBack } from '../src/writeback/store.ts';
import type { ApiUse, WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, alive } from './context.ts';
import { pullContext } from './pull.ts';

const batchSize = 100;

export interface WriteBackReport {
  written: number;
  api: ApiUse;
}

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
          for (const one of pending) {
            if (!found.has(one.prepaymentId)) continue;
            liveness.beat({ step: 'writing back', done: written, total: null });
            try {
              await client.writeExternalId(parseJson(one.raw), one.entryId, context.priority);
              await recordWriteBack(deps.db, input.installation, one, { state: 'done' });
              written += 1;
            } catch (error) {
              if (!(error instanceof PracticeError) || error.retryable || error.code === 'unauthorized') throw error;
              await recordWriteBack(deps.db, input.installation, one, { state: 'failed', error: error.message });
              deps.log.warn(
                { installation: input.installation, prepayment: one.prepaymentId, code: error.code },
                error.message,
              );
            }
          }
        }
      });
    },
  };
}
