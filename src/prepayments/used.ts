import { integer, integers, nullable } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';

/** Whose prepayment a payment used, as stored: without a match the client of its invoice when first posted. */
export interface StoredUse {
  paymentId: number;
  clientId: number | null;
  prepaymentIds: number[];
}

/** What is known of these payments' uses, by payment. */
export async function usedPrepayments(
  db: Connection,
  installation: InstallationId,
  payments: readonly number[],
): Promise<Map<number, StoredUse>> {
  if (payments.length === 0) return new Map();
  const found = await rows(
    db,
    { paymentId: integer, clientId: nullable(integer), prepaymentIds: integers },
    `select u.payment_id as "paymentId", coalesce(min(b.client_id), u.first_client_id) as "clientId",
       coalesce(array_agg(m.prepayment_id order by m.prepayment_id) filter (where m.prepayment_id is not null), '{}')
         as "prepaymentIds"
     from prepayment_use u
     left join prepayment_match m on m.installation = u.installation and m.payment_id = u.payment_id
     left join prepayment_balance b on b.installation = m.installation and b.prepayment_id = m.prepayment_id
     where u.installation = ? and u.payment_id = any(?)
     group by u.installation, u.payment_id`,
    [installation, payments],
  );
  return new Map(found.map((use) => [use.paymentId, use]));
}
