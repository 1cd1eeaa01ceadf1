// Windows as rows of a real database, opened and ended like in the activities, each from the end of the one before.
import type { Db } from '../../../src/db/pool.ts';
import { execute } from '../../../src/db/rows.ts';
import { endWindowRow, insertFailedWindow, openWindowRow, type WindowKind } from '../../../src/sync/sync-windows.ts';
import { type RecordKind, recordKinds } from '../../../src/terms.ts';
import { noCounts } from '../../../workflows/messages.ts';

/** The interval of a stream that a window should read, times in ms and ids, and whether it has read it. */
export interface Reading {
  from: number | null;
  to: number | null;
  isRead: boolean;
}

export type Readings = Record<RecordKind, Reading>;

export interface Played {
  kind: WindowKind;
  outcome: 'open' | 'closed' | 'failed';
  /** What the window reads of each list. Null if the window sends no request to the source. */
  streams: Readings | null;
  /** The interval of the window is that of its invoices. */
  from?: number | null;
  to?: number;
}

export const read = (from: number | null, to: number | null): Reading => ({ from, to, isRead: true });
export const unread = (from: number | null, to: number | null): Reading => ({ from, to, isRead: false });
export const all = (changes: Reading, payment = changes): Readings => ({
  ...{ invoice: changes, prepayment: changes, row: changes, payment },
});

const error = { code: 'server_error', message: '500', todo: 'wait' };
let runs = 0;
const run = () => {
  runs += 1;
  return { workflowId: 'played', runId: `run ${runs}` };
};
const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

/** Sets the installation's cursors; null means before the first walk. */
export async function setCursors(db: Db, installation: number, at: Record<RecordKind, number | null>): Promise<void> {
  await execute(db, 'delete from sync_cursor where installation = ?', [installation]);
  for (const stream of recordKinds) {
    const position = at[stream];
    if (position === null) continue;
    await execute(db, 'insert into sync_cursor (installation, stream, value) values (?, ?, ?::json)', [
      ...[installation, stream],
      JSON.stringify(stream === 'payment' ? { after: position } : { watermark: iso(position) }),
    ]);
  }
}

/** Opens and ends a window. Returns its id. A live window sets the cursors to the ends of its readings. */
export async function play(db: Db, installation: number, window: Played): Promise<number> {
  const { kind, outcome, streams } = window;
  const { from = streams?.invoice.from ?? null, to = streams?.invoice.to ?? 0 } = window;
  const own = run();
  const interval = { from: iso(from), to: new Date(to).toISOString() };
  const opened = { installation, kind, trigger: 'test', ...interval, spans: streams, ...own };
  const row = await db.transaction((trx) => openWindowRow(trx, opened));
  if (row === null) throw new Error('it has ended already');
  if (streams !== null && kind === 'window') {
    const ended = ({ from: start, to: end, isRead }: Reading) => (isRead ? end : start);
    const { invoice, prepayment, payment, row: rows } = streams;
    await setCursors(db, installation, {
      ...{ invoice: ended(invoice), prepayment: ended(prepayment), payment: ended(payment), row: ended(rows) },
    });
  }
  if (outcome !== 'open')
    await db.transaction((trx) =>
      endWindowRow(
        trx,
        { id: row.id, ...own },
        { outcome, counts: noCounts, error: outcome === 'failed' ? error : null },
      ),
    );
  return row.id;
}

/** Records an attempt that opened no window. Returns its id. */
export function playUnopened(db: Db, installation: number, kind: WindowKind, beganAt: Date): Promise<number> {
  const attempt = { installation, kind, trigger: 'test', counts: noCounts, error, ...run(), beganAt };
  return db.transaction((trx) => insertFailedWindow(trx, attempt));
}
