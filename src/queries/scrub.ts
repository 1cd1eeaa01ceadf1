import type { Connection } from '../db/rows.ts';
import type { Dialect } from '../records/dialect.ts';
import { invoicesPerRequest } from '../sync/by-invoice.ts';
import { newestPasses, type ScrubPass } from '../sync/scrub/passes.ts';
import { scrubPage } from '../sync/scrub/scrub.ts';
import { forecastOf, passCost, type ScrubCost } from '../sync/scrub/scrub-pace.ts';
import { streamNames } from '../sync/streams.ts';
import type { InstallationId, RecordKind } from '../terms.ts';

/** The progress of a pass with each list, and its findings. */
export type ScrubbedLists = Record<
  (typeof streamNames)[RecordKind],
  { records: number; of: number; differing: number; missing: number }
>;

/** The scrub of one installation, as `status --json` prints it. */
export interface ScrubStatus {
  days: number;
  state: 'off' | 'not begun' | 'reading' | 'done';
  began_at: Date | null;
  finished_at: Date | null;
  /** Expected end of the pass, from its rate so far; null if nothing was read yet. */
  forecast_at: Date | null;
  /** Whether the pass will take longer than its days. */
  late: boolean;
  /** The newest pass; null before the first. */
  lists: ScrubbedLists | null;
  /** The newest finished pass, if another pass has begun since. */
  last_pass: { began_at: Date; finished_at: Date; lists: ScrubbedLists } | null;
}

export async function scrubStatus(
  db: Connection,
  installation: InstallationId,
  days: number,
  now: Date,
): Promise<ScrubStatus> {
  return (await scrubStatuses(db, [installation], now))(installation, days);
}

/** Reads the scrubs of these installations at once. The returned function gives the status of one of them. */
export async function scrubStatuses(
  db: Connection,
  installations: readonly InstallationId[],
  now: Date,
): Promise<(installation: InstallationId, days: number) => ScrubStatus> {
  const newest = await newestPasses(db, installations);
  const finished = await newestPasses(db, installations, { finished: true });
  return (installation, days) =>
    statusOf(newest.get(installation) ?? null, finished.get(installation) ?? null, days, now);
}

function statusOf(pass: ScrubPass | null, finished: ScrubPass | null, days: number, now: Date): ScrubStatus {
  const forecast = pass === null || days === 0 ? null : forecastOf(pass, days, now);
  return {
    days,
    state: days === 0 ? 'off' : pass === null ? 'not begun' : pass.finishedAt === null ? 'reading' : 'done',
    began_at: pass?.beganAt ?? null,
    finished_at: pass?.finishedAt ?? null,
    forecast_at: forecast?.endsAt ?? null,
    late: forecast?.isLate ?? false,
    lists: pass && listsOf(pass),
    last_pass:
      finished?.finishedAt && finished.pass !== pass?.pass
        ? { began_at: finished.beganAt, finished_at: finished.finishedAt, lists: listsOf(finished) }
        : null,
  };
}

function listsOf({ lists }: ScrubPass): ScrubbedLists {
  const none = { records: 0, of: 0, differing: 0, missing: 0 };
  const found: ScrubbedLists = { invoices: none, rows: none, payments: none, prepayments: none };
  for (const { list, records, expected, differing, missing } of lists) {
    found[streamNames[list]] = { records, of: expected, differing, missing };
  }
  return found;
}

/** The daily cost of a scrub of lists with these numbers of records, rounded up. */
export function scrubCostPerDay(
  counts: Record<RecordKind, number>,
  dialect: Dialect,
  days: number,
  minShare: number,
  pageSizes: Record<RecordKind, number>,
): ScrubCost {
  const batches = Math.ceil(counts.invoice / invoicesPerRequest);
  const { requests, weight } = passCost(counts, (list) => scrubPage(dialect, list, minShare, pageSizes[list]), batches);
  return { requests: Math.ceil(requests / days), weight: Math.ceil(weight / days) };
}
