import type { RecordKind } from '../terms.ts';
import { pullChanged } from './changes.ts';
import type { PullContext, PullCounts, PullResult } from './context.ts';
import { type Cursors, type CursorValue, moveCursor, readCursors } from './cursors.ts';
import { nextPaymentCursor, pullPayments } from './payments.ts';
import { completeScan } from './row-scan.ts';
import { pullRows, type RowPorts } from './rows.ts';
import { forgetWalks, walkOnce } from './saved-walks.ts';
import type { OpenWindow } from './sync-windows.ts';

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
 * by another window in the meantime is not overwritten.
 */
export async function pullStream(
  context: PullContext,
  stream: RecordKind,
  window: Pick<OpenWindow, 'to'>,
  ports: RowPorts,
): Promise<PullCounts> {
  const cursors = await readCursors(context.db, context.installation);
  switch (stream) {
    case 'invoice':
    case 'prepayment': {
      const result = await walkChanged(context, stream, cursors);
      await move(context, cursors, stream, { watermark: watermarkOf(window, result.began) });
      return result;
    }
    case 'payment': {
      const after = cursors.payment.value?.after ?? null;
      const result = await walkOnce(context, 'payment', context.run, () => pullPayments(context, after));
      const next = await nextPaymentCursor(context, result.began);
      await move(context, cursors, 'payment', { after: next === null ? after : Math.max(next, after ?? 0) });
      return result;
    }
    case 'row': {
      // First the interrupted scan: half a scan would make the rest look lighter as sets, which request its rows again. Changed
      // rows are requested after it, since they make sets stale that the scan has settled.
      const scan = await completeScan(context);
      const counts = await pullRows(context, sinceOf(cursors, 'row', context.overlapMs), ports);
      // The next window requests what changes after this window's `to`, or after the beginning of the scan.
      const watermark = watermarkOf(window, scan?.began ?? new Date(window.to));
      await move(context, cursors, 'row', { watermark });
      return { seen: counts.seen + (scan?.seen ?? 0), pulled: counts.pulled + (scan?.pulled ?? 0) };
    }
  }
}

/**
 * Pulls what has changed since the watermark, less the overlap. Once in a workflow run: the window's opening may have read all
 * of it already (opening.ts).
 */
export async function walkChanged(
  context: PullContext,
  stream: 'invoice' | 'prepayment',
  cursors?: Cursors,
): Promise<PullResult> {
  const from = sinceOf(cursors ?? (await readCursors(context.db, context.installation)), stream, context.overlapMs);
  return walkOnce(context, stream, context.run, () => pullChanged(context, stream, from));
}

/** Moves a cursor and forgets the walk that it now covers, in one transaction. */
async function move(context: PullContext, cursors: Cursors, stream: RecordKind, value: CursorValue): Promise<void> {
  const { transact, installation, owner } = context;
  await transact(async (trx) => {
    await moveCursor(trx, installation, stream, value, cursors[stream].revision);
    await forgetWalks(trx, installation, owner, stream);
  });
}

/** The watermark less the overlap, which covers transactions that commit late; null before the first walk. */
function sinceOf(cursors: Cursors, stream: 'invoice' | 'prepayment' | 'row', overlapMs: number): Date | null {
  const watermark = cursors[stream].value?.watermark;
  return watermark ? new Date(new Date(watermark).getTime() - overlapMs) : null;
}

/** The new watermark: this window's `to`, or the beginning of the walk where an earlier window began it. */
function watermarkOf(window: Pick<OpenWindow, 'to'>, began: Date): string {
  return new Date(Math.min(began.getTime(), new Date(window.to).getTime())).toISOString();
}
