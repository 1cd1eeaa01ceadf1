import { businessDate } from '../src/domain/dates.ts';
import { summariseDays } from '../src/ledger/summaries/append.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, alive, installationOf } from './context.ts';

export interface SummariseReport {
  /** Daily summaries made, supplementary ones included. */
  summaries: number;
}

/**
 * Sums up the days that are over in the installation's zone, for posting mode `daily_summary`. Asked in either mode: entries
 * keep the mode they were appended under, and theirs may wait from before a change of the setting.
 */
export function summariseActivities(deps: ActivityDeps) {
  return {
    async summarise(input: WindowInput, window: OpenWindow): Promise<SummariseReport> {
      return alive(deps, input, window, async (liveness) => {
        const { id, timezone } = installationOf(deps, input.installation);
        const before = businessDate(deps.clock().toISOString(), timezone)!;
        const summaries = await summariseDays(deps.db, id, { before, windowId: window.id }, (done) => {
          liveness.signal.throwIfAborted();
          liveness.beat({ step: 'summing up days', done, total: null });
        });
        return { summaries };
      });
    },
  };
}
