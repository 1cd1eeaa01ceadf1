import { bool, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { type Line, signed } from '../domain/entry.ts';
import { Money, sum } from '../domain/money.ts';
import type { DocumentFacts, PrepaymentShare } from '../posting/types.ts';
import { type Taken, type Taker, takenByUses, takersOf } from '../prepayments/taken.ts';
import { prepaymentUse } from '../records/source-codes.ts';
import { type DocumentRef, documentKinds, type InstallationId, lineRoles, sides } from '../terms.ts';

export type OriginalVat = NonNullable<PrepaymentShare['vat']>;

/**
 * The amounts that payments of type 8 and linked refunds take from prepayments. Facts of other documents are left out.
 */
export async function takenBy(
  db: Connection,
  installation: InstallationId,
  facts: readonly DocumentFacts[],
): Promise<Map<DocumentFacts, Taken>> {
  const taken = new Map<DocumentFacts, Taken>();
  const uses: { facts: DocumentFacts; id: number }[] = [];
  for (const one of facts) {
    if (one.kind === 'payment' && one.payment.paymentType === prepaymentUse)
      uses.push({ facts: one, id: one.payment.id });
    if (one.kind !== 'prepayment') continue;
    const { refundsId, paid } = one.prepayment;
    if (refundsId !== null && paid?.isNegative()) taken.set(one, new Map([[refundsId, paid.negated()]]));
  }
  const matches = await takenByUses(
    db,
    installation,
    uses.map(({ id }) => id),
  );
  for (const { facts: one, id } of uses) {
    const own = matches.get(id);
    if (own !== undefined) taken.set(one, own);
  }
  return taken;
}

/**
 * A posted document that takes from a prepayment. Without an entry in force it takes nothing, but keeps its place in
 * the order.
 */
export interface PlacedTaker extends Taker {
  isInForce: boolean;
}

/**
 * The documents that take from these prepayments, by prepayment, in the order of their first posting, which a
 * correction does not change (ACCOUNTING R5). Documents that were never posted are left out.
 */
export async function takersInOrder(
  db: Connection,
  installation: InstallationId,
  prepayments: readonly number[],
): Promise<Map<number, PlacedTaker[]>> {
  const takers = await takersOf(db, installation, prepayments);
  if (takers.length === 0) return new Map();
  const found = await rows(
    db,
    { kind: oneOf(documentKinds), id: integer, place: integer, isInForce: bool },
    `select d.kind, d.id, e.seq as place, d.entry_id is not null as "isInForce" from document d
     join entry e on e.installation = d.installation and e.kind = d.kind and e.document_id = d.id and e.n = 1
     where d.installation = ? and (d.kind, d.id) in (select * from unnest(?::text[], ?::bigint[]))`,
    [installation, takers.map(({ document }) => document.kind), takers.map(({ document }) => document.id)],
  );
  const posted = new Map(found.map((each) => [keyOf(each), each]));
  const placed = takers.flatMap((taker) => {
    const own = posted.get(keyOf(taker.document));
    return own === undefined ? [] : [{ place: own.place, taker: { ...taker, isInForce: own.isInForce } }];
  });
  const ordered = placed.sort((a, b) => a.place - b.place).map(({ taker }) => taker);
  return Map.groupBy(ordered, ({ prepaymentId }) => prepaymentId);
}

export const keyOf = ({ kind, id }: DocumentRef): string => `${kind}/${id}`;

/** The VAT in the prepayments' entries in force. Prepayments without VAT are left out. */
export async function originalVats(
  db: Connection,
  installation: InstallationId,
  prepayments: readonly number[],
): Promise<Map<number, OriginalVat>> {
  if (prepayments.length === 0) return new Map();
  const found = await rows(
    db,
    {
      ...{ id: integer, account: text, role: oneOf(lineRoles), side: oneOf(sides), amount: numeric },
      ...{ vat_group: nullable(text), vat_rate: nullable(numeric) },
    },
    `select d.id, l.account, l.role, l.side, l.amount, l.vat_group, l.vat_rate
     from document d join entry_line l on l.entry_id = d.entry_id
     where d.installation = ? and d.kind = 'prepayment' and d.id = any(?::bigint[])`,
    [installation, prepayments],
  );
  const vats = new Map<number, OriginalVat>();
  for (const [id, its] of Map.groupBy(found, (line) => line.id)) {
    const lines = its.map(({ amount, vat_group: group, vat_rate: rate, ...line }) => ({
      ...line,
      amount: new Money(amount),
      vat: { group, rate: rate === null ? null : new Money(rate), base: null },
    }));
    const vat = vatOf(lines);
    if (vat !== null) vats.set(id, vat);
  }
  return vats;
}

/** The VAT of a prepayment's own entry. Null if it has none, and for a refund. */
export function vatOf(
  lines: readonly Pick<Line, 'account' | 'role' | 'side' | 'amount' | 'vat'>[],
): OriginalVat | null {
  const suspended = lines.find(({ role }) => role === 'prepayment_vat');
  const owed = lines.find(({ role }) => role === 'vat');
  if (suspended === undefined || owed === undefined || suspended.side !== 'debit') return null;
  const liability = lines.filter(({ role }) => role === 'prepayment_liability');
  return {
    account: owed.account,
    suspendedAccount: suspended.account,
    group: owed.vat?.group ?? null,
    rate: owed.vat?.rate ?? null,
    amount: suspended.amount,
    paid: sum(liability.map(signed)).negated(),
  };
}
