import type { Connection } from '../db/rows.ts';
import { type RecordKind, recordKinds } from '../terms.ts';
import type { PullOwner } from './context.ts';
import { readCursors } from './cursors.ts';
import { savedProgress } from './saved-walks.ts';

/** The progress of a load in one list. */
export interface ListLeft {
  /** Records left to read. Null if only the source knows. */
  left: number | null;
  /** Records that were received. */
  received: number;
}

/**
 * The records of each list that an interrupted or running load still has to read. The result is null for live windows
 * after the first load. `from` is the backfill's first invoice date.
 */
export async function recordsLeft(
  db: Connection,
  installation: number,
  owner: PullOwner,
  from: string | null,
): Promise<Record<RecordKind, ListLeft> | null> {
  const unknown = (): ListLeft => ({ left: null, received: 0 });
  const lists = { invoice: unknown(), row: unknown(), payment: unknown(), prepayment: unknown() };
  if (owner === 'window') {
    const cursors = await readCursors(db, installation);
    for (const stream of recordKinds) if (cursors[stream].value !== null) lists[stream].left = 0;
    if (recordKinds.every((stream) => lists[stream].left === 0)) return null;
  }
  for (const walk of await savedProgress(db, installation, owner)) {
    const { stream, finishedQuestion, invoicedFrom, received } = walk;
    const list = lists[stream];
    if (finishedQuestion === (stream === 'invoice' ? (from ?? '') : '')) list.left = 0;
    else if (stream !== 'invoice' || invoicedFrom === from) list.left ??= walk.recordsLeft;
    list.received = received;
  }
  return lists;
}
