// The information for posting about prepayments that a payment of type 8 or a refund takes from. src/bookkeeping reads
// it from the database; this file reads it from the books in memory.
import { type Line, signed } from '../../src/domain/entry.ts';
import { Money, sum, zero } from '../../src/domain/money.ts';
import type { DocumentFacts, PrepaymentShare } from '../../src/posting/types.ts';
import type { DocumentRef } from '../../src/terms.ts';
import { type Books, type DocumentBook, inForce, keyOf } from './books.ts';
import type { Mirror } from './mirror.ts';

/** The prepayment that a document takes from, with the amount; null if no such prepayment was seen. */
export function takenBy({ kind, id }: DocumentRef, mirror: Mirror): { prepaymentId: number; amount: Money } | null {
  if (kind === 'invoice' || kind === 'vat_due') return null;
  const { prepayment, paid } =
    kind === 'payment' ? mirror.payments.get(id)!.source : refundOf(mirror.prepayments.get(id)!.source);
  // A payment's prepayment is unknown until it was seen; a refund names it.
  if (prepayment === null || (kind === 'payment' && !mirror.prepayments.has(prepayment))) return null;
  const amount = new Money(paid);
  return { prepaymentId: prepayment, amount: kind === 'payment' ? amount : amount.negated() };
}

function refundOf({ refunds, paid }: { refunds: number | null; paid: string }) {
  return { prepayment: new Money(paid).isNegative() ? refunds : null, paid };
}

/** The facts of a document with its share. */
export function withShares(facts: DocumentFacts, book: DocumentBook, books: Books, mirror: Mirror): DocumentFacts {
  const taken = takenBy(book, mirror);
  if (taken === null || facts.kind === 'invoice' || facts.kind === 'vat_due') return facts;
  const { prepaymentId, amount } = taken;
  const before = usersOf(prepaymentId, books, mirror).filter(
    (other) => keyOf(other) !== keyOf(book) && (book.place === null || other.place! < book.place),
  );
  const original = books.documents.get(keyOf({ kind: 'prepayment', id: prepaymentId }));
  const share: PrepaymentShare = {
    ...{ prepaymentId, amount },
    usedBefore: sum(before.map((other) => takenBy(other, mirror)!.amount)),
    vat: vatOf((original && inForce(original)[0]?.lines) ?? []),
  };
  return { ...facts, shares: [share] };
}

/** Other documents that took from the same prepayments as the document's old and new entries. */
export function concernedBy(document: DocumentBook, books: Books, mirror: Mirror): DocumentBook[] {
  const own = document.kind === 'prepayment' ? [document.id] : [];
  const given = document.entries.flatMap(({ shares = [] }) => shares.map(({ prepaymentId }) => prepaymentId));
  const prepayments = new Set([...own, ...given, ...[takenBy(document, mirror)?.prepaymentId ?? []].flat()]);
  return [...prepayments]
    .flatMap((prepayment) => usersOf(prepayment, books, mirror))
    .filter((user) => keyOf(user) !== keyOf(document));
}

/** Documents that took from a prepayment and have an entry in force. */
function usersOf(prepayment: number, books: Books, mirror: Mirror): DocumentBook[] {
  return [...books.documents.values()].filter(
    (book) => inForce(book).length > 0 && takenBy(book, mirror)?.prepaymentId === prepayment,
  );
}

function vatOf(lines: readonly Line[]): PrepaymentShare['vat'] {
  const suspended = lines.find(({ role, side }) => role === 'prepayment_vat' && side === 'debit');
  const owed = lines.find(({ role }) => role === 'vat');
  if (suspended === undefined || owed === undefined) return null;
  const liability = lines.filter(({ role }) => role === 'prepayment_liability');
  return {
    account: owed.account,
    suspendedAccount: suspended.account,
    group: owed.vat?.group ?? null,
    rate: owed.vat?.rate ?? null,
    amount: suspended.amount,
    paid: zero.minus(sum(liability.map(signed))),
  };
}
