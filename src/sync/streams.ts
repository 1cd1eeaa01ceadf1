import type { Connection } from '../db/rows.ts';
import { type ReadAt, readAtOf } from '../domain/read-at.ts';
import { type RecordKind, recordKinds } from '../terms.ts';
import { pullSteps } from '../texts/steps.ts';
import { pullDueAside } from './aside.ts';
import type { ListTraits } from './capabilities/list-traits.ts';
import type { PullContext, PullCounts, PullResult } from './context.ts';
import { type CursorMove, type Cursors, type CursorValue, moveCursors, readCursors } from './cursors.ts';
import { nextPaymentCursor, pullNewPayments, pullPayments } from './payments.ts';
import { pullChanged } from './pull-changed.ts';
import { pullRows, type RowPorts } from './pull-rows.ts';
import { completeScan } from './row-scan.ts';
import { forgetWalks, type KnownWalks, walkOnce } from './saved-walks.ts';
import type { OpenWindow } from './sync-windows.ts';
import { changedFrom, cursorAfter, wasPutBack } from './watermark.ts';

export const streamNames = {
  invoice: 'invoices',
  row: 'rows',
  payment: 'payments',
  prepayment: 'prepayments',
} as const;

/** The name of a pull's progress step. */
export function pullStep(stream: RecordKind): string {
  return pullSteps[stream];
}

/**
 * State that a single worker of a live window has read since the window opened: the cursors, the saved walks and the
 * server's traits.
 */
export interface KnownState {
  cursors: Cursors;
  walks: KnownWalks;
  /** Absent before the first answer, which may show another server. */
  traits?: Record<RecordKind, ListTraits>;
}

/** The counts of a pull, and the move of its cursor. */
export interface PulledStream {
  counts: PullCounts;
  move: CursorMove;
}

/**
 * Pulls one stream of a live window from its cursor on, and moves the cursor when the walk is complete (DESIGN "Sync").
 * If another window has moved the cursor in the meantime, that move is kept.
 */
export async function pullStream(
  context: PullContext,
  stream: RecordKind,
  window: Pick<OpenWindow, 'opened'>,
  ports: RowPorts,
): Promise<PullCounts> {
  const { counts, move } = await readStream(context, stream, window, ports);
  await context.transact((trx) => moveStreams(trx, context.installation, [move]));
  return counts;
}

/** Does the same as `pullStream`, but the caller moves the cursor. */
export async function readStream(
  context: PullContext,
  stream: RecordKind,
  window: Pick<OpenWindow, 'opened'>,
  ports: RowPorts,
  known?: KnownState,
): Promise<PulledStream> {
  const cursors = known?.cursors ?? (await readCursors(context.db, context.installation));
  const opened = readAtOf(window.opened);
  const movedBy = (value: CursorValue) => ({ stream, value, revision: cursors[stream].revision });
  switch (stream) {
    case 'invoice':
    case 'prepayment': {
      const counts = await walkChanged(context, stream, opened, { ...known, cursors });
      const began = firstOf(opened, counts.began);
      return { counts, move: movedBy(cursorAfter(cursors[stream].value, began, context.overlapMs)) };
    }
    case 'payment': {
      const after = cursors.payment.value?.after ?? null;
      // If an earlier attempt finished the walk, it may have read only a part. The cursor then stays, and moves with
      // the next window.
      let isWhole = false;
      const counts = await walkOnce(
        context,
        'payment',
        context.run,
        async (left) => {
          // Before the first whole walk there is nothing to compare a count with.
          const isFirst = cursors.payment.value === null;
          const newer = isFirst ? null : await pullNewPayments(context, after);
          isWhole = newer === null;
          return newer ?? pullPayments(context, after, { left, ...traitsOf(known, stream) });
        },
        { keepsEmpty: false, known: known?.walks },
      );
      const next = isWhole ? await nextPaymentCursor(context, counts.began) : null;
      return { counts, move: movedBy({ after: next === null ? after : Math.max(next, after ?? 0) }) };
    }
    case 'row': {
      await pullDueAside(context);
      // An interrupted scan is completed first. Otherwise the remaining rows would seem lighter as sets, which would
      // read scanned rows again. Changed rows come after it, because they make sets stale that the scan has accepted.
      const scan = await completeScan(context, known?.walks);
      const counts = await pullRows(context, sinceOf(context, cursors, 'row', opened), ports, traitsOf(known, stream));
      // The next window reads changes after this window's opening, or after the beginning of the scan.
      const began = scan ? firstOf(opened, scan.began) : opened;
      return {
        counts: { seen: counts.seen + (scan?.seen ?? 0), pulled: counts.pulled + (scan?.pulled ?? 0) },
        move: movedBy(cursorAfter(cursors.row.value, began, context.overlapMs)),
      };
    }
  }
}

/**
 * Pulls the changes since the watermark minus the overlap. It starts earlier if the answer that opened the window shows
 * that the source's clock was set back. It runs once per workflow run. The opening of the window (opening.ts), which
 * runs before the source's clock is known, may have read everything already.
 */
export async function walkChanged(
  context: PullContext,
  stream: 'invoice' | 'prepayment',
  opened: ReadAt | null,
  known: Partial<KnownState> = {},
): Promise<PullResult> {
  const { cursors, walks } = known;
  const from = sinceOf(context, cursors ?? (await readCursors(context.db, context.installation)), stream, opened);
  return walkOnce(
    context,
    stream,
    `${context.run} ${from?.toISOString() ?? ''}`,
    (left) => pullChanged(context, stream, from, { left, ...traitsOf(known, stream) }),
    // The pull of the invoices continues the opening's walk, so the walk is saved for activities that do not have it in
    // memory.
    { keepsEmpty: stream === 'invoice' && walks === undefined, known: walks },
  );
}

function traitsOf(known: Partial<KnownState> | undefined, stream: RecordKind): { traits?: ListTraits } {
  return known?.traits === undefined ? {} : { traits: known.traits[stream] };
}

/** Moves the cursors of a live window and deletes the walks that they now cover, in the caller's transaction. */
export async function moveStreams(trx: Connection, installation: number, moves: readonly CursorMove[]): Promise<void> {
  if (moves.length === 0) return;
  const streams = moves.map(({ stream }) => stream);
  await moveCursors(trx, installation, moves);
  await forgetWalks(trx, installation, 'window', streams);
}

/** Whether the answer that opened a window shows that the source's clock was set back since a cursor was moved. */
export function isPutBack(opened: ReadAt, cursors: Cursors): boolean {
  return recordKinds.some((stream) => {
    const { value } = cursors[stream];
    return value !== null && wasPutBack(value, opened);
  });
}

/**
 * Stores with the cursors that the source's clock was set back, as the answer that opened a window shows. If that
 * window fails and the clock is corrected, the next window could not see it. Returns the new cursors.
 */
export async function notePutBack(
  trx: Connection,
  installation: number,
  opened: ReadAt,
  cursors: Cursors,
): Promise<Cursors> {
  const moves: CursorMove[] = [];
  for (const stream of ['invoice', 'prepayment', 'row'] as const) {
    const { value, revision } = cursors[stream];
    const from = value && wasPutBack(value, opened) ? changedFrom(value, opened) : null;
    if (from === null) continue;
    moves.push({ stream, value: { ...value, askFrom: from.toISOString() }, revision });
  }
  if (moves.length === 0) return cursors;
  await moveCursors(trx, installation, moves);
  return readCursors(trx, installation);
}

/**
 * The time from which a stream may have changed since it was last read, minus the overlap. Null before the first walk.
 */
function sinceOf(
  { overlapMs }: Pick<PullContext, 'overlapMs'>,
  cursors: Cursors,
  stream: 'invoice' | 'prepayment' | 'row',
  opened: ReadAt | null,
): Date | null {
  const from = changedFrom(cursors[stream].value, opened);
  return from && new Date(from.getTime() - overlapMs);
}

/** The earlier of two readings, since an earlier window may have begun the walk. */
function firstOf(opened: ReadAt, began: ReadAt): ReadAt {
  return began.askedAt < opened.askedAt ? began : opened;
}
