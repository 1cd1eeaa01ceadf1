import { refreshStatistics, refreshStatisticsFromRows } from '../src/db/statistics.ts';
import { businessDate } from '../src/domain/dates.ts';
import { summariseDays } from '../src/ledger/summaries/summarise.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { CalendarDate } from '../src/terms.ts';
import type { WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, installationOf } from './deps.ts';
import { withLease } from './heartbeat.ts';

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
      return withLease(deps, input, window, async ({ beat }, { transact }) => {
        const { id, timezone } = installationOf(deps, input.installation);
        const before = presentDay(deps.clock(), timezone);
        const summaries = await summariseDays(transact, id, { before, windowId: window.id }, (done) =>
          beat({ step: 'summing up days', done, total: null }),
        );
        if (summaries >= refreshStatisticsFromRows) await refreshStatistics(deps.db, 'summarise');
        return { summaries };
      });
    },
  };
}

/** The day in a zone that is not over yet. */
export function presentDay(now: Date, timezone: string): CalendarDate {
  const day = businessDate(now.toISOString(), timezone);
  if (day === null) throw new Error(`the clock's ${now.toISOString()} is no instant`);
  return day;
}
