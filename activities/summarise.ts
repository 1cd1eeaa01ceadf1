import { businessDate } from '../src/domain/dates.ts';
import { summariseDays } from '../src/ledger/summaries/append.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, installationOf } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';

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
      return withHeartbeat(deps, input, window, async ({ signal, beat }) => {
        const { id, timezone } = installationOf(deps, input.installation);
        const now = deps.clock().toISOString();
        const before = businessDate(now, timezone);
        if (before === null) throw new Error(`the clock's ${now} is no instant`);
        const summaries = await summariseDays(deps.db, id, { before, windowId: window.id }, (done) => {
          signal.throwIfAborted();
          beat({ step: 'summing up days', done, total: null });
        });
        return { summaries };
      });
    },
  };
}
