import type { Connection } from '../db/rows.ts';
import { type ReadAt, readAtOf } from '../domain/read-at.ts';
import type { RecordKind } from '../terms.ts';
import { pullChanged } from './changes.ts';
import type { PullContext, PullCounts, PullResult } from './context.ts';
import { type Cursors, type CursorValue, moveCursor, readCursors } from './cursors.ts';
import { nextPaymentCursor, pullPayments } from './payments.ts';
import { completeScan } from './row-scan.ts';
import { pullRows, type RowPorts } from './rows.ts';
import { forgetWalks, walkOnce } from './saved-walks.ts';
import type { OpenWindow } from './sync-windows.ts';
import { changedFrom, movedTo, wasPutBack } from './watermark.ts';

export const streamNames = {
  invoice: 'invoices',
  row: 'rows',
  payment: 'payments',
  prepayment: 'prepayments',
} as const;

/** The name of a pull's progress step. */
export function pullStep(stream: RecordKind): string {
  return `pulling ${streamNames[stream]}`;
}

/**
 * Pulls one stream of a live window from its cursor on, and moves the cursor when the walk is complete (DESIGN "Sync"). A move
 * by another window in the meantime is not overwritten. `known` are the cursors, where the caller has read them since the window opened.
 */
export async function pullStream(
  context: PullContext,
  stream: RecordKind,
  window: Pick<OpenWindow, 'to' | 'opened'>,
  ports: RowPorts,
  known?: Cursors,
): Promise<PullCounts> {
  const cursors = known ?? (await readCursors(context.db, context.installation));
  switch (stream) {
    case 'invoice':
    case 'prepayment': {
      const result = await walkChanged(context, stream, openedOf(window), cursors);
      await move(
        context,
        cursors,
        stream,
        movedTo(cursors[stream].value, firstOf(openedOf(window), result.began), context.overlapMs),
      );
      return result;
    }
    case 'payment': {
      const after = cursors.payment.value?.after ?? null;
      const pull = () => pullPayments(context, after);
      const result = await walkOnce(context, 'payment', context.run, pull, { keepsEmpty: false });
      const next = await nextPaymentCursor(context, result.began);
      await move(context, cursors, 'payment', { after: next === null ? after : Math.max(next, after ?? 0) });
      return result;
    }
    case 'row': {
      // First the interrupted scan: half a scan would make the rest look lighter as sets, which request its rows again. Changed
      // rows are requested after it, since they make sets stale that the scan has settled.
      const scan = await completeScan(context);
      const opened = openedOf(window);
      const counts = await pullRows(context, sinceOf(context, cursors, 'row', opened), ports);
      // The next window requests what changes after this window's opening, or after the beginning of the scan.
      const began = scan ? firstOf(opened, scan.began) : opened;
      await move(context, cursors, 'row', movedTo(cursors.row.value, began, context.overlapMs));
      return { seen: counts.seen + (scan?.seen ?? 0), pulled: counts.pulled + (scan?.pulled ?? 0) };
    }
  }
}

/**
 * Pulls what has changed since the watermark, less the overlap; from earlier on where the answer that opened the window shows
 * that the source's clock was put back. Once in a workflow run: the window's opening may have read all of it already
 * (opening.ts); it asks before the source's clock is known.
 */
export async function walkChanged(
  context: PullContext,
  stream: 'invoice' | 'prepayment',
  opened: ReadAt | null,
  cursors?: Cursors,
): Promise<PullResult> {
  const from = sinceOf(context, cursors ?? (await readCursors(context.db, context.installation)), stream, opened);
  const pull = () => pullChanged(context, stream, from);
  // The opening's walk of the invoices is what their pull begins with.
  const keepsEmpty = stream === 'invoice';
  return walkOnce(context, stream, `${context.run} ${from?.toISOString() ?? ''}`, pull, { keepsEmpty });
}

/** Moves a cursor and forgets the walk that it now covers, in one transaction. */
async function move(context: PullContext, cursors: Cursors, stream: RecordKind, value: CursorValue): Promise<void> {
  const { transact, installation, owner } = context;
  await transact(async (trx) => {
    await moveCursor(trx, installation, stream, value, cursors[stream].revision);
    await forgetWalks(trx, installation, owner, stream);
  });
}

/**
 * Notes with the cursors that the source's clock was put back, as far as the answer that opened a window shows: should that
 * window fail and the clock be put right, the next one would see nothing of it.
 */
export async function notePutBack(trx: Connection, installation: number, opened: ReadAt): Promise<void> {
  const cursors = await readCursors(trx, installation);
  for (const stream of ['invoice', 'prepayment', 'row'] as const) {
    const { value, revision } = cursors[stream];
    const from = value && wasPutBack(value, opened) ? changedFrom(value, opened) : null;
    if (from === null) continue;
    await moveCursor(trx, installation, stream, { ...value, askFrom: from.toISOString() }, revision);
  }
}

/** From when a stream may have changed since it was last read, the overlap taken off; null before the first walk. */
function sinceOf(
  { overlapMs }: Pick<PullContext, 'overlapMs'>,
  cursors: Cursors,
  stream: 'invoice' | 'prepayment' | 'row',
  opened: ReadAt | null,
): Date | null {
  const from = changedFrom(cursors[stream].value, opened);
  return from && new Date(from.getTime() - overlapMs);
}

/** When the answer that opened the window was read. A window opened by an earlier version noted one clock only. */
function openedOf({ to, opened }: Pick<OpenWindow, 'to' | 'opened'>): ReadAt {
  return opened ? readAtOf(opened) : { sourceTime: new Date(to), askedAt: new Date(to) };
}

/** The reading that was asked for first: an earlier window may have begun the walk. */
function firstOf(opened: ReadAt, began: ReadAt): ReadAt {
  return began.askedAt < opened.askedAt ? began : opened;
}
