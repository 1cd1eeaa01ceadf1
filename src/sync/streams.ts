import type { RecordKind } from '../terms.ts';
import { nextPaymentCursor, type PullContext, type PullResult, pullChanged, pullPayments } from './pull.ts';
import { pullRows, type RowPorts, scanRows } from './rows.ts';
import { moveCursor, type OpenWindow, readCursors, type StreamCursors } from './window.ts';

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
      const result = await pullChanged(context, stream, since(cursors, stream, context.overlapMs));
      await move(context, cursors, stream, { watermark: watermark(window, result.began) });
      return result;
    }
    case 'payment': {
      const after = cursors.payment.value?.after ?? null;
      const result = await pullPayments(context, after);
      const next = await nextPaymentCursor(context, result.began);
      await move(context, cursors, 'payment', { after: next === null ? after : Math.max(next, after ?? 0) });
      return result;
    }
    case 'row': {
      // Half a scan makes the rest look cheaper as sets, which would ask for everything again.
      const resumed = (await isScanUnfinished(context)) ? await scanRows(context) : null;
      const result = await pullRows(context, since(cursors, 'row', context.overlapMs), ports);
      result.seen += resumed?.seen ?? 0;
      result.pulled += resumed?.pulled ?? 0;
      // Whatever changed after the window's `to` is noticed by the next one.
      await move(context, cursors, 'row', { watermark: window.to });
      return result;
    }
  }
}

async function move(
  context: PullContext,
  cursors: StreamCursors,
  stream: RecordKind,
  value: { watermark?: string; after?: number | null },
): Promise<void> {
  await moveCursor(context.db, context.installation, stream, value, cursors[stream].revision);
}

/** What a stream is asked since: its watermark less the overlap, which covers transactions that commit late. */
function since(cursors: StreamCursors, stream: 'invoice' | 'prepayment' | 'row', overlapMs: number): Date | null {
  const watermark = cursors[stream].value?.watermark;
  return watermark ? new Date(new Date(watermark).getTime() - overlapMs) : null;
}

/** The new watermark: this window's `to`, or the walk's own beginning where it was taken up from an earlier window. */
function watermark(window: Pick<OpenWindow, 'to'>, began: Date): string {
  return new Date(Math.min(began.getTime(), new Date(window.to).getTime())).toISOString();
}

/** Whether a scan of all rows was interrupted, by whatever ended its activity. */
async function isScanUnfinished({ db, installation, owner }: PullContext): Promise<boolean> {
  const found = await db.raw<{ rows: unknown[] }>(
    `select from sync_walk where installation = ? and stream = 'row' and owner = ?`,
    [installation, owner],
  );
  return found.rows.length > 0;
}
