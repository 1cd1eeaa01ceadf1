import { integer, nullable } from '../../db/columns.ts';
import { type Connection, row } from '../../db/rows.ts';
import { instantOf } from '../../domain/dates.ts';
import { UserError } from '../../domain/errors.ts';
import type { InstallationId } from '../../terms.ts';
import { uncoveredWindows } from './coverage-of.ts';
import { mergeSpans, type Span, spanOf, spanOfTimes, type Unrepeatable } from './targets.ts';
import { type NotedWindow, selectWindows } from './window-streams.ts';

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
/** Windows after one that are looked at for where its payments end. */
const laterAtMost = 100;

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
      'replay_too_scattered',
      `the windows lie in ${merged.length} intervals apart from each other; one replay takes ${spansAtMost} at most`,
      'replay them with `--from` and `--to`, which asks for everything between as one interval, or in several commands',
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
    const span = spanOf(window, await neighboursOf(db, installation, window), overlapMs);
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
      'window_unknown',
      `installation ${installation} has no window ${missing.join(', ')}`,
      '`vetledger windows --limit 100` lists them',
      1,
    );
  }
  for (const { id, kind, outcome } of found) {
    if (kind === 'backfill') {
      throw new UserError('replay_of_backfill', `window ${id} is a backfill`, 'run `vetledger backfill`', 2);
    }
    if (outcome === 'open') {
      throw new UserError('window_open', `window ${id} is still open`, 'wait until it has ended', 2);
    }
  }
  return found;
}

function unrepeatableError({ window, reason }: Unrepeatable): UserError {
  return reason === 'loads everything'
    ? new UserError(
        'replay_of_load',
        `window ${window} loads everything since the beginning`,
        'run `vetledger sync`, which goes on where it was, or `vetledger backfill` to load everything again',
        2,
      )
    : new UserError(
        'window_untold',
        `window ${window} never opened, and no window before it tells what it was to read`,
        'replay its times: `vetledger replay --from … --to …`, with those of `vetledger windows`',
        2,
      );
}

function timesError(from: Date, to: Date): UserError {
  return new UserError(
    'replay_times',
    `nothing lies from ${from.toISOString()} to ${to.toISOString()}`,
    'give times that are over, the earlier one first',
    2,
  );
}

/** The window that opened before one, and the live windows that closed after it. */
async function neighboursOf(db: Connection, installation: InstallationId, { id }: NotedWindow): Promise<NotedWindow[]> {
  const before = await selectWindows(
    db,
    `installation = ? and id < ? and kind = 'window' and streams is not null order by id desc limit 1`,
    [installation, id],
  );
  const after = await selectWindows(
    db,
    `installation = ? and id > ? and kind = 'window' and outcome = 'closed' order by id limit ?`,
    [installation, id, laterAtMost],
  );
  return [...before, ...after];
}

async function timesSpan(
  db: Connection,
  installation: InstallationId,
  from: Date,
  to: Date,
  overlapMs: number,
): Promise<Span> {
  const met = await selectWindows(
    db,
    `installation = ? and kind = 'window' and outcome <> 'open'
       and coalesce(to_time, opened_at) > ? and (from_time is null or from_time < ?) order by id`,
    [installation, from, to],
  );
  const [first] = met.length > 0 ? met : await firstAfter(db, installation, to);
  const last = met.at(-1) ?? first;
  const around = last ? await neighboursOf(db, installation, last) : [];
  const before = first
    ? await selectWindows(
        db,
        `installation = ? and id < ? and kind = 'window' and streams is not null order by id desc limit 1`,
        [installation, first.id],
      )
    : await selectWindows(db, `installation = ? and kind = 'window' and streams is not null order by id desc limit 1`, [
        installation,
      ]);
  const known = new Map([...before, ...met, ...(first ? [first] : []), ...around].map((window) => [window.id, window]));
  const windows = [...known.values()].toSorted((a, b) => a.id - b.id);
  const mirrored = {
    from: await lastPaymentBefore(db, installation, new Date(from.getTime() - overlapMs)),
    to: await lastPaymentBefore(db, installation, new Date(to.getTime() + overlapMs)),
  };
  return spanOfTimes(from, to, windows, overlapMs, mirrored);
}

function firstAfter(db: Connection, installation: InstallationId, instant: Date): Promise<NotedWindow[]> {
  return selectWindows(
    db,
    `installation = ? and kind = 'window' and outcome <> 'open' and opened_at >= ? order by id limit 1`,
    [installation, instant],
  );
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
    : `window ${window} never opened, and no window before it tells what it was to read: replay its times`;
}

/** A time as an operator writes it. Throws UserError. */
export function replayTime(text: string | undefined, timezone: string): Date {
  const instant = text === undefined ? null : instantOf(text, timezone);
  if (instant !== null) return instant;
  throw new UserError(
    'replay_times',
    text === undefined ? 'from and to are given together' : `“${text}” is no time`,
    'write times like 2026-03-01T08:00:00Z, or 2026-03-01 for the beginning of a day at the practice',
    2,
  );
}
