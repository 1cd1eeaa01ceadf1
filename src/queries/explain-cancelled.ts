import { json } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { readRecord } from '../mirror/read.ts';
import type { Dialect } from '../records/dialect.ts';
import type { RecordOf } from '../records/schema.ts';
import type { InstallationId } from '../terms.ts';

type Payment = Pick<RecordOf<'payment'>, 'id' | 'paid' | 'paymentType'>;

/**
 * The payment that a payment probably cancels, or that probably cancels it. The source does not name the cancelled
 * payment, so the pair is inferred.
 */
export interface LikelyPair {
  /** The payment that this payment cancels or refunds. */
  cancels: number | null;
  /** The payment that cancels or refunds this payment. */
  cancelledBy: number | null;
}

export const noPair: LikelyPair = { cancels: null, cancelledBy: null };

/**
 * For a negative payment, finds the payment of the same invoice that it probably cancels; for a positive payment, its
 * probable cancellation. The cancelled payment has the same type and amount. It is the latest earlier payment without
 * another cancellation (R7 pairs payments in the same way).
 */
export function likelyPair(payments: readonly Payment[], id: number): LikelyPair {
  const standing = new Map<string, number[]>();
  for (const each of payments.toSorted((a, b) => a.id - b.id)) {
    if (each.paid === null || each.paid.isZero()) continue;
    const key = `${each.paymentType} ${each.paid.abs().toFixed()}`;
    const before = standing.get(key) ?? [];
    if (!each.paid.isNegative()) {
      standing.set(key, [...before, each.id]);
      continue;
    }
    const original = before.at(-1);
    standing.set(key, before.slice(0, -1));
    if (each.id === id) return { cancels: original ?? null, cancelledBy: null };
    if (original === id) return { cancels: null, cancelledBy: each.id };
  }
  return noPair;
}

/** The probable pair of a payment, among the payments of its invoice in the mirror. */
export async function likelyPairOf(
  db: Connection,
  installation: InstallationId,
  dialect: Dialect,
  { id, invoiceId }: Pick<RecordOf<'payment'>, 'id' | 'invoiceId'>,
): Promise<LikelyPair> {
  if (invoiceId === null) return noPair;
  const found = await rows(
    db,
    { raw: json },
    `select raw from mirror_record
     where installation = ? and kind = 'payment' and parent_id = ? and gone_at is null order by id`,
    [installation, invoiceId],
  );
  return likelyPair(
    found.map(({ raw }) => readRecord('payment', raw, dialect)),
    id,
  );
}
