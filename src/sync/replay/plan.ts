import { instant, integer, integers, integersOrNulls, nullable } from '../../db/columns.ts';
import { type Connection, maybeRow, row } from '../../db/rows.ts';
import { instantOf } from '../../domain/dates.ts';
import { UserError } from '../../domain/errors.ts';
import { type InstallationId, recordKinds } from '../../terms.ts';
import { leftOutTexts, replayPlanErrors } from '../../texts/errors/replay-plans.ts';
import { uncoveredWindows } from './coverage.ts';
import { selectWindows, spanSql } from './noted-windows.ts';
import { changeStreams, mergeSpans, type Span, spanOf, type Unrepeatable } from './spans.ts';

/** The windows or times of an installation that the operator has chosen for a replay. */
export type ReplayChoice =
  | { by: 'windows'; windows: readonly number[] }
  | { by: 'failed' }
  | { by: 'times'; from: Date; to: Date };

export interface ReplayPlan {
  spans: Span[];
  /** Failed windows that are left out, with the reason. */
  leftOut: Unrepeatable[];
}

/** The most intervals of one replay. Each is a separate workflow. */
const spansAtMost = 50;
/** The most windows that a span names. A span over a year has 100,000. */
const namedAtMost = 50;

/**
 * The intervals that a replay reads. Windows without a gap between them become one interval. Throws UserError if a
 * window does not exist or cannot be replayed.
 */
export async function planReplay(
  db: Connection,
  installation: InstallationId,
  choice: ReplayChoice,
  { overlapMs, now }: { overlapMs: number; now: Date },
): Promise<ReplayPlan> {
  const { spans, leftOut } = await requestedSpans(db, installation, choice, { overlapMs, now });
  const merged = mergeSpans(spans);
  if (merged.length > spansAtMost) {
    throw new UserError(replayPlanErrors.tooScattered({ intervals: merged.length, most: spansAtMost }), 2);
  }
  return { spans: merged.map((span) => ({ ...span, windows: span.windows.slice(0, namedAtMost) })), leftOut };
}

async function requestedSpans(
  db: Connection,
  installation: InstallationId,
  choice: ReplayChoice,
  { overlapMs, now }: { overlapMs: number; now: Date },
): Promise<ReplayPlan> {
  if (choice.by === 'times') {
    const to = choice.to < now ? choice.to : now;
    if (choice.from >= to) throw timesError(choice.from, choice.to);
    return { spans: [await timesSpan(db, installation, choice.from, to, overlapMs)], leftOut: [] };
  }
  const isNamed = choice.by === 'windows';
  const windows = isNamed
    ? await namedWindows(db, installation, choice.windows)
    : await uncoveredWindows(db, installation);
  const spans: Span[] = [];
  const leftOut: Unrepeatable[] = [];
  for (const window of windows) {
    const { id, openedAt, unread } = window;
    const isOpenEnded = unread.includes('payment');
    const span = spanOf(window, isOpenEnded ? await settledAfter(db, installation, openedAt, overlapMs, id) : null);
    if ('reason' in span) leftOut.push(span);
    else spans.push(span);
  }
  const [first] = leftOut;
  if (isNamed && first) throw unrepeatableError(first);
  return { spans, leftOut };
}

async function namedWindows(db: Connection, installation: InstallationId, ids: readonly number[]) {
  const found = await selectWindows(db, 'installation = ? and id = any(?) order by id', [installation, ids]);
  const missing = ids.filter((id) => !found.some((window) => window.id === id));
  if (missing.length > 0) {
    throw new UserError(replayPlanErrors.windowUnknown({ installation, windows: missing.join(', ') }), 1);
  }
  for (const { id, kind, outcome } of found) {
    if (kind === 'backfill') throw new UserError(replayPlanErrors.isBackfill({ window: id }), 2);
    if (outcome === 'open') throw new UserError(replayPlanErrors.isOpen({ window: id }), 2);
  }
  return found;
}

function unrepeatableError({ window, reason }: Unrepeatable): UserError {
  const { isFirstLoad, neverOpened } = replayPlanErrors;
  return new UserError(reason === 'loads everything' ? isFirstLoad({ window }) : neverOpened({ window }), 2);
}

function timesError(from: Date, to: Date): UserError {
  return new UserError(replayPlanErrors.timesEmpty({ from: from.toISOString(), to: to.toISOString() }), 2);
}

/**
 * The span of given times, extended to all windows that overlap them. If no window overlaps, its changes are read by
 * the times. Its payments are read from the cursor before, up to the cursor after they had settled. Before the first
 * window, they are read by the ids that the mirror has for these times.
 */
async function timesSpan(
  db: Connection,
  installation: InstallationId,
  from: Date,
  to: Date,
  overlapMs: number,
): Promise<Span> {
  const asked = [from.getTime(), to.getTime()];
  const { windows, unread_at, ...met } = await row(
    db,
    {
      ...{ windows: nullable(integers), unread_at: nullable(instant) },
      ...{ invoice: integers, prepayment: integers, row: integers, payment: integersOrNulls },
    },
    `with met as (
       select id, opened_at, 'payment' = any (unread_streams) as unread,
         ${recordKinds.map((stream) => `${spanSql(stream)} as ${stream}`).join(', ')}
       from sync_window where installation = ? and kind = 'window' and outcome <> 'open' and payment_span is not null)
     select (array_agg(id order by id))[:${namedAtMost}] as windows, max(opened_at) filter (where unread) as unread_at,
       ${changeStreams.map((stream) => `array[least(?, min(${stream}[1])), greatest(?, max(${stream}[2]))]::bigint[] as ${stream}`).join(', ')},
       array[case when count(*) = count(payment[1]) then min(payment[1]) end,
         max(payment[2]) filter (where not unread)]::bigint[] as payment
     from met where invoice[1] < ? and invoice[2] > ? and prepayment[1] is not null and "row"[1] is not null`,
    [installation, ...asked, ...asked, ...asked, to.getTime(), from.getTime()],
  );
  const past = ([start = 0, end = 0]: readonly number[]) => ({ from: start, to: end });
  const [firstPayment = null, lastPayment = null] = met.payment;
  const changes = { invoice: past(met.invoice), prepayment: past(met.prepayment), row: past(met.row) };
  if (windows !== null) {
    const settled = unread_at && (await settledAfter(db, installation, unread_at, overlapMs));
    const through = unread_at === null ? lastPayment : settled && Math.max(settled, lastPayment ?? settled);
    return { windows, ...changes, payment: { from: firstPayment, to: through } };
  }
  const before = await maybeRow(
    db,
    { after: nullable(integer) },
    `select payment_span[1] as after from sync_window
     where installation = ? and kind = 'window' and payment_span is not null and opened_at <= ? order by id desc limit 1`,
    [installation, from],
  );
  const after = before?.after ?? null;
  const payment =
    after === null
      ? {
          from: await lastPaymentBefore(db, installation, new Date(from.getTime() - overlapMs)),
          to: await lastPaymentBefore(db, installation, new Date(to.getTime() + overlapMs)),
        }
      : { from: after, to: await settledAfter(db, installation, to, overlapMs) };
  return { windows: [], ...changes, payment };
}

/**
 * All payments that existed at an instant have an id up to this one. It is the cursor after a window that began more
 * than the overlap after the first window that had read these payments. Null if there was no such window, so that
 * payments are read up to the present.
 */
async function settledAfter(
  db: Connection,
  installation: InstallationId,
  at: Date,
  overlapMs: number,
  afterWindow = 0,
): Promise<number | null> {
  const found = await maybeRow(
    db,
    { id: nullable(integer) },
    `with reader as (
       select id, opened_at, closed_at, payment_span[2] as through from sync_window
       where installation = ? and kind = 'window' and outcome = 'closed' and payment_span is not null and id > ?)
     select through as id from reader
     where opened_at > (select closed_at + make_interval(secs => ?) from reader where opened_at > ? order by id limit 1)
     order by id limit 1`,
    [installation, afterWindow, overlapMs / 1000, at],
  );
  return found?.id ?? null;
}

/** The highest id of a payment in the mirror that changed before an instant. Null if there is none. */
async function lastPaymentBefore(db: Connection, installation: InstallationId, instant: Date): Promise<number | null> {
  const { id } = await row(
    db,
    { id: nullable(integer) },
    `select max(id) as id from mirror_record where installation = ? and kind = 'payment' and modified < ?`,
    [installation, instant],
  );
  return id;
}

export function leftOutText({ window, reason }: Unrepeatable): string {
  return reason === 'loads everything' ? leftOutTexts.isFirstLoad({ window }) : leftOutTexts.neverOpened({ window });
}

/** A time as an operator writes it. Throws UserError. */
export function replayTime(text: string | undefined, timezone: string): Date {
  const instant = text === undefined ? null : instantOf(text, timezone);
  if (instant !== null) return instant;
  throw new UserError(text === undefined ? replayPlanErrors.timeMissing() : replayPlanErrors.timeInvalid({ text }), 2);
}
