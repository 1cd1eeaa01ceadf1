import { refreshStatistics, refreshStatisticsFromRows } from '../src/db/statistics.ts';
import { businessDate } from '../src/domain/dates.ts';
import { summariseDays } from '../src/ledger/summaries/summarise.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { CalendarDate } from '../src/terms.ts';
import { stepTexts } from '../src/texts/steps.ts';
import type { WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, installationOf } from './deps.ts';
import { withLease } from './heartbeat.ts';

export interface SummariseReport {
  /** Daily summaries made, including correction summaries. */
  summaries: number;
}

/**
 * Summarises the days that are over in the installation's time zone, for posting mode `daily_summary`. It runs in
 * either mode: an entry keeps the mode in which it was appended, so old entries may wait after a change of the setting.
 */
export function summariseActivities(deps: ActivityDeps) {
  return {
    async summarise(input: WindowInput, window: OpenWindow): Promise<SummariseReport> {
      return withLease(deps, input, window, async ({ beat }, { transact }) => {
        const { id, timezone, fiscalYearStart } = installationOf(deps, input.installation);
        const before = presentDay(deps.clock(), timezone);
        const summaries = await summariseDays(transact, id, { before, windowId: window.id, fiscalYearStart }, (done) =>
          beat({ step: stepTexts.summarising, done, total: null }),
        );
        if (summaries >= refreshStatisticsFromRows) await refreshStatistics(deps.db, 'summarise');
        return { summaries };
      });
    },
  };
}

/** The current day in a time zone. */
export function presentDay(now: Date, timezone: string): CalendarDate {
  const day = businessDate(now.toISOString(), timezone);
  if (day === null) throw new Error(`${now.toISOString()} is not an instant`);
  return day;
}
