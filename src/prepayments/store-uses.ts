import { rowsAsArrays } from '../db/bulk.ts';
import { type Connection, execute } from '../db/rows.ts';
import { markKnown } from '../documents/mark.ts';
import type { InstallationId } from '../terms.ts';
import type { TakenFrom } from './own-client.ts';
import { cancellationsOf } from './track-uses.ts';

/** Stores the amounts that payments took from prepayments: one row per payment and prepayment. */
export async function storeTaken(
  trx: Connection,
  installation: InstallationId,
  taken: readonly TakenFrom[],
): Promise<void> {
  const { from, bindings } = rowsAsArrays(
    'taken',
    { payment_id: 'bigint', prepayment_id: 'bigint', amount: 'numeric' },
    taken.map(({ paymentId, prepaymentId, amount }) => ({
      ...{ payment_id: paymentId, prepayment_id: prepaymentId },
      amount: amount.toFixed(),
    })),
  );
  await execute(
    trx,
    `insert into prepayment_match (installation, payment_id, prepayment_id, amount)
     select ?, payment_id, prepayment_id, amount from ${from}`,
    [installation, ...bindings],
  );
}

/**
 * Stores new matches, copies them to the cancellations of their payments, and marks all these payments to be judged
 * again.
 */
export async function storeFound(
  trx: Connection,
  installation: InstallationId,
  taken: readonly TakenFrom[],
): Promise<void> {
  if (taken.length === 0) return;
  const payments = [...new Set(taken.map(({ paymentId }) => paymentId))];
  await storeTaken(trx, installation, taken);
  await execute(trx, `update prepayment_use set state = 'matched' where installation = ? and payment_id = any(?)`, [
    ...[installation, payments],
  ]);
  const cancellations = await cancellationsOf(trx, installation, payments);
  await markKnown(
    trx,
    installation,
    'payment',
    [...payments, ...cancellations].sort((a, b) => a - b),
  );
}
