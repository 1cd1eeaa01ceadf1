import { integer, numeric, oneOf } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money } from '../domain/money.ts';
import type { DocumentRef, InstallationId } from '../terms.ts';

/** The amounts that a document takes from prepayments, by prepayment id. Negative amounts return money. */
export type Taken = ReadonlyMap<number, Money>;

/**
 * The prepayments that payments of type 8 used, with the amounts, by payment. Payments without a match are left out.
 */
export async function takenByUses(
  db: Connection,
  installation: InstallationId,
  payments: readonly number[],
): Promise<Map<number, Taken>> {
  if (payments.length === 0) return new Map();
  const found = await rows(
    db,
    { payment: integer, prepayment: integer, amount: numeric },
    `select payment_id as payment, prepayment_id as prepayment, amount from prepayment_match
     where installation = ? and payment_id = any(?::bigint[]) order by payment_id, prepayment_id`,
    [installation, payments],
  );
  const byPayment = Map.groupBy(found, ({ payment }) => payment);
  return new Map(
    [...byPayment].map(([payment, its]) => [
      payment,
      new Map(its.map(({ prepayment, amount }) => [prepayment, new Money(amount)])),
    ]),
  );
}

/** A document that takes from a prepayment. `amount` is negative if it returns money. */
export interface Taker {
  prepaymentId: number;
  document: DocumentRef;
  amount: Money;
}

/**
 * The documents that take from these prepayments: payments of type 8 that are matched with them, and refunds that name
 * them.
 */
export async function takersOf(
  db: Connection,
  installation: InstallationId,
  prepayments: readonly number[],
): Promise<Taker[]> {
  if (prepayments.length === 0) return [];
  const found = await rows(
    db,
    { prepayment: integer, kind: oneOf(['payment', 'prepayment']), id: integer, amount: numeric },
    `select prepayment_id as prepayment, 'payment' as kind, payment_id as id, amount from prepayment_match
     where installation = ? and prepayment_id = any(?::bigint[])
     union all
     select original_id, 'prepayment', refund_id, amount from prepayment_refund
     where installation = ? and original_id = any(?::bigint[])
     order by kind, id`,
    [installation, prepayments, installation, prepayments],
  );
  return found.map(({ prepayment, amount, ...document }) => ({
    ...{ prepaymentId: prepayment, document, amount: new Money(amount) },
  }));
}
