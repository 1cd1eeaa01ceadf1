import { instant, integer, integers, integersOrNulls, nullable } from '../../db/columns.ts';
import { type Connection, maybeRow, row } from '../../db/rows.ts';
import { instantOf } from '../../domain/dates.ts';
import { UserError } from '../../domain/errors.ts';
import { type InstallationId, recordKinds } from '../../terms.ts';
import { uncoveredWindows } from './coverage.ts';
import { selectWindows, spanSql } from './noted-windows.ts';
import { changeStreams, mergeSpans, type Span, spanOf, type Unrepeatable } from './spans.ts';

/** What somebody wants replayed of an installation. */
export type Wanted =
  | { by: 'windows'; windows: readonly number[] }
  | { by: 'failed' }
  | { by: 'times'; from: Date; to: Date };

export interface ReplayPlan {
  spans: Span[];
  /** Failed windows that are left out, and why. */
  leftOut: Unrepeatable[];
}

/** Intervals of one replay at most: each is a workflow of its own. */
const spansAtMost = 50;
/** Windows that a span names; one over a year has 100,000. */
const namedAtMost = 50;

/**
 * The intervals that a replay asks for; windows that meet are asked as one. Throws UserError where a window does not exist or
 * cannot be repeated.
 */
export async function planReplay(
  db: Connection,
  installation: InstallationId,
  wanted: Wanted,
  { overlapMs, now }: { overlapMs: number; now: Date },
): Promise<ReplayPlan> {
  const { spans, leftOut } = await wantedSpans(db, installation, wanted, { overlapMs, now });
  const merged = mergeSpans(spans);
  if (merged.length > spansAtMost) {
    throw new UserError(
      {
        code: 'replay_too_scattered',
        message: `the windows lie in ${merged.length} intervals apart from each other; one replay takes ${spansAtMost} at most`,
        todo: 'replay them with `--from` and `--to`, which asks for everything between as one interval, or in several commands',
      },
      2,
    );
  }
  return { spans: merged.map((span) => ({ ...span, windows: span.windows.slice(0, namedAtMost) })), leftOut };
}

async function wantedSpans(
  db: Connection,
  installation: InstallationId,
  wanted: Wanted,
  { overlapMs, now }: { overlapMs: number; now: Date },
): Promise<ReplayPlan> {
  if (wanted.by === 'times') {
    const to = wanted.to < now ? wanted.to : now;
    if (wanted.from >= to) throw timesError(wanted.from, wanted.to);
    return { spans: [await timesSpan(db, installation, wanted.from, to, overlapMs)], leftOut: [] };
  }
  const isNamed = wanted.by === 'windows';
  const windows = isNamed
    ? await namedWindows(db, installation, wanted.windows)
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
    throw new UserError(
      {
        code: 'window_unknown',
        message: `installation ${installation} has no window ${missing.join(', ')}`,
        todo: '`vetledger windows --limit 100` lists them',
      },
      1,
    );
  }
  for (const { id, kind, outcome } of found) {
    if (kind === 'backfill') {
      throw new UserError(
        { code: 'replay_of_backfill', message: `window ${id} is a backfill`, todo: 'run `vetledger backfill`' },
        2,
      );
    }
    if (outcome === 'open') {
      throw new UserError(
        { code: 'window_open', message: `window ${id} is still open`, todo: 'wait until it has ended' },
        2,
      );
    }
  }
  return found;
}

function unrepeatableError({ window, reason }: Unrepeatable): UserError {
  return reason === 'loads everything'
    ? new UserError(
        {
          code: 'replay_of_load',
          message: `window ${window} loads everything since the beginning`,
          todo: 'run `vetledger sync`, which goes on where it was, or `vetledger backfill` to load everything again',
        },
        2,
      )
    : new UserError(
        {
          code: 'window_untold',
          message: `window ${window} never opened, and has not noted what it was to read`,
          todo: 'replay its times: `vetledger replay --from … --to …`, with those of `vetledger windows`',
        },
        2,
      );
}

function timesError(from: Date, to: Date): UserError {
  return new UserError(
    {
      code: 'replay_times',
      message: `nothing lies from ${from.toISOString()} to ${to.toISOString()}`,
      todo: 'give times that are over, the earlier one first',
    },
    2,
  );
}

/**
 * Times that were given, widened to the whole windows that they meet. What lies outside every window is asked for by its times: its
 * payments from where the cursor stood before, up to where it stood once they had settled; before the first window the ids that the
 * mirror has of those times.
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
 * A payment id below which every payment lies that was there at an instant: where the cursor stood after a window that began more
 * than the overlap after the first one that had read them. Null: no such window has run, and payments are asked for up to the present.
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

/** The highest id of a payment in the mirror that changed before an instant; null without one. */
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
  return reason === 'loads everything'
    ? `window ${window} loads everything since the beginning: \`vetledger sync\` goes on where it was`
    : `window ${window} never opened, and has not noted what it was to read: replay its times`;
}

/** A time as an operator writes it. Throws UserError. */
export function replayTime(text: string | undefined, timezone: string): Date {
  const instant = text === undefined ? null : instantOf(text, timezone);
  if (instant !== null) return instant;
  throw new UserError(
    {
      code: 'replay_times',
      message: text === undefined ? 'from and to are given together' : `“${text}” is no time`,
      todo: 'write times like 2026-03-01T08:00:00Z, or 2026-03-01 for the beginning of a day at the practice',
    },
    2,
  );
}
