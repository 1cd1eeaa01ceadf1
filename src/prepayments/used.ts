import { bool, instant, integer, integers, nullable, numeric } from '../db/columns.ts';
import { pages } from '../db/pages.ts';
import { type Connection, rows } from '../db/rows.ts';
import { dateIn } from '../domain/dates.ts';
import { Money } from '../domain/money.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';

/**
 * The stored client whose prepayment a payment used. Without a match it is the client of the invoice at the first
 * posting.
 */
export interface StoredUse {
  paymentId: number;
  clientId: number | null;
  prepaymentIds: number[];
  /** The payment and its cancellation have no match, so neither is matched any more. */
  isCancelled: boolean;
}

/** SQL that selects, as StoredUse, the uses `u` for which a condition holds. */
function storedUses(condition: string): string {
  return `select u.payment_id as "paymentId", coalesce(min(b.client_id), u.first_client_id) as "clientId",
       coalesce(array_agg(pm.prepayment_id order by pm.prepayment_id) filter (where pm.prepayment_id is not null), '{}')
         as "prepaymentIds",
       u.state = 'cancelled' as "isCancelled"
     from prepayment_use u
     left join prepayment_match pm on pm.installation = u.installation and pm.payment_id = u.payment_id
     left join prepayment_balance b on b.installation = pm.installation and b.prepayment_id = pm.prepayment_id
     where ${condition}
     group by u.installation, u.payment_id`;
}

/**
 * SQL expression: the StoredUse of the mirrored payment with this alias, as JSON. Null if the payment was never stored
 * as a use.
 */
export function storedUseOf(payment: string): string {
  const own = storedUses(`u.installation = ${payment}.installation and u.payment_id = ${payment}.id`);
  return `(select row_to_json(used) from (${own}) used)`;
}

/** The stored uses of these payments, by payment. */
export async function usedPrepayments(
  db: Connection,
  installation: InstallationId,
  payments: readonly number[],
): Promise<Map<number, StoredUse>> {
  if (payments.length === 0) return new Map();
  const found = await rows(
    db,
    { paymentId: integer, clientId: nullable(integer), prepaymentIds: integers, isCancelled: bool },
    storedUses('u.installation = ? and u.payment_id = any(?)'),
    [installation, payments],
  );
  return new Map(found.map((use) => [use.paymentId, use]));
}

/** A payment of type 8 as it was last stored. */
export interface NotedUse {
  paymentId: number;
  /** Signed as in the source: a cancellation is negative. */
  amount: Money;
  /** The client whose prepayment it used. Without a match, the client of its invoice at the first posting. */
  clientId: number | null;
  /** The id of its invoice, if the payment and its cancellation have no match; otherwise null. */
  cancelledOn: number | null;
  /** The day on which the source recorded the payment, in `timezone`. */
  recordedOn: CalendarDate | null;
}

/** All payments of type 8 but those of `except`, by id, read page by page. */
export async function* notedUses(
  db: Connection,
  installation: InstallationId,
  timezone: string,
  pageSize: number,
  except: ReadonlySet<number> = new Set(),
): AsyncGenerator<NotedUse[]> {
  const found = pages(pageSize, (after: { paymentId: number } | null) =>
    rows(
      db,
      { paymentId: integer, amount: numeric, recordedAt: nullable(instant), cancelledOn: nullable(integer) },
      `select payment_id as "paymentId", amount, recorded_at as "recordedAt",
         case state when 'cancelled' then invoice_id end as "cancelledOn" from prepayment_use
       where installation = ? and payment_id > ? and payment_id <> all(?::bigint[]) order by payment_id limit ?`,
      [installation, after?.paymentId ?? 0, [...except], pageSize],
    ),
  );
  for await (const page of found) {
    const used = await usedPrepayments(
      db,
      installation,
      page.map(({ paymentId }) => paymentId),
    );
    yield page.map(({ paymentId, amount, recordedAt, cancelledOn }) => ({
      paymentId,
      cancelledOn,
      amount: new Money(amount),
      clientId: used.get(paymentId)?.clientId ?? null,
      recordedOn: recordedAt === null ? null : dateIn(timezone, recordedAt),
    }));
  }
}
