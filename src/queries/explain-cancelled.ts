import { json } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { readRecord } from '../mirror/read.ts';
import type { Dialect } from '../records/dialect.ts';
import type { RecordOf } from '../records/schema.ts';
import type { InstallationId } from '../terms.ts';

type Payment = Pick<RecordOf<'payment'>, 'id' | 'paid' | 'paymentType'>;

/** How a payment probably belongs to another one. The source names no original, so this is inferred. */
export interface LikelyPair {
  /** The payment that this one cancels or refunds. */
  cancels: number | null;
  /** The payment that cancels or refunds this one. */
  cancelledBy: number | null;
}

export const noPair: LikelyPair = { cancels: null, cancelledBy: null };

/**
 * Finds the probable original of a negative payment among the payments of its invoice, or the probable cancellation of
 * a positive one. The original has the same type and amount, and is the latest earlier one without another cancellation
 * (as R7 pairs them).
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
