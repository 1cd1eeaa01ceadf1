import { integer, numeric } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money } from '../domain/money.ts';
import type { InstallationId } from '../terms.ts';

/** What a document takes from prepayments, by their ids; negative where it gives back. */
export type Taken = ReadonlyMap<number, Money>;

/** What payments of type 8 took from which prepayments, by payment; those without a match are left out. */
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
