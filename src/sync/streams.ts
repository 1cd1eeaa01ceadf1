import type { RecordKind } from '../terms.ts';
import { type Cursors, moveCursor, readCursors } from './cursors.ts';
import { forgetWalks, walkOnce } from './finished.ts';
import { nextPaymentCursor, type PullContext, type PullResult, pullChanged, pullPayments } from './pull.ts';
import { completeScan, pullRows, type RowPorts } from './rows.ts';
import type { OpenWindow } from './sync-windows.ts';

export const streamNames = {
  invoice: 'invoices',
  row: 'rows',
  payment: 'payments',
  prepayment: 'prepayments',
} as const;

/** What a pull is called while it goes on. */
export function pullStep(stream: RecordKind): string {
  return `pulling ${streamNames[stream]}`;
}

/**
 * One stream of a live window: asked from where its closed walks have reached, the cursor moved when the walk has closed
 * (DESIGN "Sync"). Another window's move is never overwritten.
 */
export async function pullStream(
  context: PullContext,
  stream: RecordKind,
  window: Pick<OpenWindow, 'to'>,
  ports: RowPorts,
): Promise<PullResult> {
  const cursors = await readCursors(context.db, context.installation);
  switch (stream) {
    case 'invoice':
    case 'prepayment': {
      const result = await walkChanged(context, stream, cursors);
      await move(context, cursors, stream, { watermark: watermark(window, result.began) });
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
      // Half a scan makes the rest look cheaper as sets, which would ask for everything again; and the notice comes after it,
      // since it doubts sets that changed after the scan.
      const scan = await completeScan(context);
      const result = await pullRows(context, since(cursors, 'row', context.overlapMs), ports);
      // Whatever changed after the window's `to`, or after a scan's beginning, is noticed by the next window.
      const reached = watermark(window, scan?.began ?? new Date(window.to));
      await move(context, cursors, 'row', { watermark: reached });
      return { ...result, seen: result.seen + (scan?.seen ?? 0), pulled: result.pulled + (scan?.pulled ?? 0) };
    }
  }
}

/**
 * What changed since the watermark, less the overlap. Asked once in a run: its opening may have brought all of it already
 * (src/sync/opening.ts).
 */
export async function walkChanged(
  context: PullContext,
  stream: 'invoice' | 'prepayment',
  cursors?: Cursors,
): Promise<PullResult> {
  const from = since(cursors ?? (await readCursors(context.db, context.installation)), stream, context.overlapMs);
  return walkOnce(context, stream, context.run, () => pullChanged(context, stream, from));
}

/** Moves a cursor, and forgets the walk that it stood for. */
async function move(
  context: PullContext,
  cursors: Cursors,
  stream: RecordKind,
  value: { watermark?: string; after?: number | null },
): Promise<void> {
  const { db, installation, owner } = context;
  await db.transaction(async (trx) => {
    await moveCursor(trx, installation, stream, value, cursors[stream].revision);
    await forgetWalks(trx, installation, owner, stream);
  });
}

/** What a stream is asked since: its watermark less the overlap, which covers transactions that commit late. */
function since(cursors: Cursors, stream: 'invoice' | 'prepayment' | 'row', overlapMs: number): Date | null {
  const watermark = cursors[stream].value?.watermark;
  return watermark ? new Date(new Date(watermark).getTime() - overlapMs) : null;
}

/** The new watermark: this window's `to`, or the walk's own beginning where it was taken up from an earlier window. */
function watermark(window: Pick<OpenWindow, 'to'>, began: Date): string {
  return new Date(Math.min(began.getTime(), new Date(window.to).getTime())).toISOString();
}
