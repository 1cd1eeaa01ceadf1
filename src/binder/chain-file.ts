import type { Connection } from '../db/rows.ts';
import type { ClosedMonth } from '../ledger/close-of-month.ts';
import { type Close, canonicalClose } from '../ledger/journal/chain.ts';
import { canonicalEntry } from '../ledger/journal/entry-hash.ts';
import { entriesBySeq } from '../ledger/journal/read-entries.ts';

/**
 * The links of the chain that a binder shows, a line each: place, previous hash, hash and hashed text, with tabs
 * between them. These are the entries of the days, and all closes and reopenings up to the close. So the binders of all
 * months have the whole chain.
 */
export async function* chainLines(
  db: Connection,
  { head: { installation, seq }, links }: ClosedMonth,
  days: { from: string; through: string },
): AsyncGenerator<string> {
  const closes = links.values();
  let next = closes.next();
  const before = function* (place: number) {
    for (; !next.done && next.value.seq < place; next = closes.next())
      yield lineOf(next.value, canonicalClose(next.value));
  };
  for await (const entry of entriesBySeq(db, installation, { from: days.from, to: days.through, upToSeq: seq })) {
    yield* before(entry.seq);
    yield lineOf(entry, canonicalEntry(entry));
  }
  yield* before(Number.POSITIVE_INFINITY);
}

function lineOf({ seq, previousHash, hash }: Pick<Close, 'seq' | 'previousHash' | 'hash'>, text: string): string {
  return `${seq}\t${previousHash}\t${hash}\t${text}\n`;
}
