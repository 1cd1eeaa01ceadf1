import type { Connection } from '../db/rows.ts';
import { type RecordKind, recordKinds } from '../terms.ts';
import type { PullOwner } from './context.ts';
import { readCursors } from './cursors.ts';
import { savedProgress } from './saved-walks.ts';

/**
 * How many records of each list an interrupted load still has to read; null where only the source can tell. The whole result is
 * null for live windows after the first load. `from` is the backfill's first invoice date.
 */
export async function recordsLeft(
  db: Connection,
  installation: number,
  owner: PullOwner,
  from: string | null,
): Promise<Record<RecordKind, number | null> | null> {
  const left: Record<RecordKind, number | null> = { invoice: null, row: null, payment: null, prepayment: null };
  if (owner === 'window') {
    const cursors = await readCursors(db, installation);
    for (const stream of recordKinds) if (cursors[stream].value !== null) left[stream] = 0;
    if (recordKinds.every((stream) => left[stream] === 0)) return null;
  }
  for (const walk of await savedProgress(db, installation, owner)) {
    const { stream, finishedQuestion, invoicedFrom } = walk;
    if (finishedQuestion === (stream === 'invoice' ? (from ?? '') : '')) left[stream] = 0;
    else if (stream !== 'invoice' || invoicedFrom === from) left[stream] ??= walk.recordsLeft;
  }
  return left;
}
