import { integer, oneOf } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { creditLessDebit } from '../ledger/journal/signed.ts';
import { recordsNotFollowed } from '../prepayments/unused.ts';
import type { CalendarDate } from '../terms.ts';
import { ofInstallation } from './report-sections.ts';
import type { VatInput } from './vat.ts';

/** Ids of documents that are only about settled prepayments. */
export interface SettledDocuments {
  /** Settled prepayments and their refunds. */
  prepayments: Set<number>;
  /** Payments of type 8 that used nothing else. */
  payments: Set<number>;
}

/**
 * The prepayments that are settled at the end of a day: what was used and refunded is what was received, each document is in the books
 * with its whole amount, and the stored uses and refunds are those of the present records. A prepayment among `open` is not settled. Most
 * prepayments of a clinic are settled, so a report that leaves them out need not read their records.
 */
export async function settledPrepayments(
  db: Connection,
  input: VatInput,
  through: CalendarDate,
  open: ReadonlySet<number>,
): Promise<SettledDocuments> {
  const { id: installation, timezone } = input;
  // A refund that was not followed may name a prepayment that seems to be settled.
  const refunded = (await recordsNotFollowed(db, input)).flatMap(({ refundsId }) => refundsId ?? []);
  const found = await rows(
    db,
    { kind: oneOf(['payment', 'prepayment']), id: integer },
    `with booked as materialized (
       select e.kind, e.document_id as id, ${creditLessDebit()} as amount
       from entry e join entry_line l on l.entry_id = e.id
       where e.installation = ? and e.entry_date <= ?::date and l.role = 'prepayment_liability' and ${ofInstallation}
       group by e.kind, e.document_id
     ), part as materialized (
       select b.prepayment_id as prepayment, 'prepayment' as kind, b.prepayment_id as id, b.paid as amount,
         (coalesce(d.document_date, (b.created_at at time zone ?)::date) <= ?::date and k.amount = b.paid and m.id is not null) is true as is_booked
       from prepayment_balance b
         left join mirror_record m on m.installation = b.installation and m.kind = 'prepayment' and m.id = b.prepayment_id
           and m.version = b.version and m.gone_at is null
         left join document d on d.installation = b.installation and d.kind = 'prepayment' and d.id = b.prepayment_id
         left join booked k on k.kind = 'prepayment' and k.id = b.prepayment_id
       where b.installation = ?
       union all
       select r.original_id, 'prepayment', r.refund_id, -r.amount, (d.document_date <= ?::date and k.amount = -r.amount) is true
       from prepayment_refund r
         left join document d on d.installation = r.installation and d.kind = 'prepayment' and d.id = r.refund_id
         left join booked k on k.kind = 'prepayment' and k.id = r.refund_id
       where r.installation = ?
       union all
       select m.prepayment_id, 'payment', m.payment_id, -m.amount,
         (coalesce(d.document_date, (u.recorded_at at time zone ?)::date) <= ?::date and m.matched = u.amount and k.amount = -u.amount) is true
       from (select *, sum(amount) over (partition by payment_id) as matched from prepayment_match where installation = ?) m
         left join prepayment_use u on u.installation = m.installation and u.payment_id = m.payment_id
         left join document d on d.installation = m.installation and d.kind = 'payment' and d.id = m.payment_id
         left join booked k on k.kind = 'payment' and k.id = m.payment_id
     ), open as (
       select prepayment from part group by prepayment having not bool_and(is_booked) or sum(amount) <> 0
       union all select unnest(?::bigint[])
     )
     select kind, id from part group by kind, id having bool_and(prepayment not in (select prepayment from open))`,
    [
      ...[installation, through, String(installation)],
      ...[timezone, through, installation],
      ...[through, installation],
      ...[timezone, through, installation],
      [...open, ...refunded],
    ],
  );
  const idsOf = (kind: 'payment' | 'prepayment') =>
    new Set(found.flatMap((each) => (each.kind === kind ? each.id : [])));
  return { prepayments: idsOf('prepayment'), payments: idsOf('payment') };
}
