import { date, integer, json, nullable, numeric, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { businessDate } from '../domain/dates.ts';
import { Money, zero } from '../domain/money.ts';
import { readRecord } from '../mirror/read.ts';
import { isNoMoney } from '../records/source-codes.ts';
import type { CalendarDate } from '../terms.ts';
import type { Followed } from './seen-uses.ts';

/** The unused amount of a prepayment, or of a document whose prepayment is unknown: then it is negative. */
export interface Unused {
  /** Null if it is unknown. */
  prepayment: number | null;
  amount: Money;
}

/** SQL: whether document `d` of the kind belongs to the days through the given one. Its day is the other one before it is judged. */
const isDue = (own = 'null::date') => `coalesce(d.document_date, ${own}, '-infinity') <= ?::date`;

/**
 * What is unused at the end of a day, without zeros. The stored balances, refunds and uses have it for all but a few
 * records: reading all records takes seconds for a large clinic.
 */
export async function unusedPrepayments(
  db: Connection,
  { id: installation, dialect, timezone }: Followed,
  through: CalendarDate,
): Promise<Unused[]> {
  const stored = await rows(
    db,
    { line: text, prepayment: nullable(integer), amount: numeric },
    `with balance as (
       select b.* from prepayment_balance b join mirror_record m
         on m.installation = b.installation and m.kind = 'prepayment' and m.id = b.prepayment_id and m.version = b.version
       where b.installation = ?
     ), part as (
       select b.prepayment_id as prepayment, null as other, b.paid as amount
       from balance b left join document d on d.installation = b.installation and d.kind = 'prepayment' and d.id = b.prepayment_id
       where ${isDue('(b.created_at at time zone ?)::date')}
       union all
       select known.prepayment_id, case when known.prepayment_id is null then 'prepayment ' || r.refund_id end, -r.amount
       from prepayment_refund r
       left join prepayment_balance known on known.installation = r.installation and known.prepayment_id = r.original_id
       left join document d on d.installation = r.installation and d.kind = 'prepayment' and d.id = r.refund_id
       where r.installation = ? and ${isDue()}
       union all
       select taken.prepayment_id, case when taken.prepayment_id is null then
           case u.state when 'cancelled' then 'invoice ' || u.invoice_id else 'payment ' || u.payment_id end end, -taken.amount
       from prepayment_use u
       left join document d on d.installation = u.installation and d.kind = 'payment' and d.id = u.payment_id
       cross join lateral (
         select prepayment_id, amount from prepayment_match m where m.installation = u.installation and m.payment_id = u.payment_id
         union all
         select null, u.amount - coalesce((
           select sum(amount) from prepayment_match m where m.installation = u.installation and m.payment_id = u.payment_id), 0)
       ) taken
       where u.installation = ? and ${isDue('(u.recorded_at at time zone ?)::date')}
     )
     select coalesce(other, '') as line, prepayment, sum(amount) as amount from part group by other, prepayment`,
    [installation, timezone, through, installation, through, installation, timezone, through],
  );
  const found = new Map(
    stored.map(({ line, prepayment, amount }) => [line || `${prepayment}`, { prepayment, amount: new Money(amount) }]),
  );
  for (const [line, one] of await notFollowed(db, { id: installation, dialect, timezone }, through))
    found.set(line, { ...one, amount: one.amount.plus(found.get(line)?.amount ?? zero) });
  return [...found.values()].filter(({ amount }) => !amount.isZero());
}

interface NotFollowed {
  id: number;
  paid: Money | null;
  refundsId: number | null;
  isMoney: boolean;
  day: CalendarDate | null;
}

/** Prepayments and refunds that were not followed yet, or that changed since, and refunds that name no prepayment. */
export async function recordsNotFollowed(
  db: Connection,
  { id: installation, dialect, timezone }: Followed,
): Promise<NotFollowed[]> {
  const found = await rows(
    db,
    { id: integer, raw: json, day: nullable(date) },
    `select m.id, m.raw, d.document_date as day from mirror_record m
     left join document d on d.installation = m.installation and d.kind = m.kind and d.id = m.id
     where m.installation = ? and m.kind = 'prepayment' and m.gone_at is null
       and not exists (select from prepayment_balance b
         where b.installation = m.installation and b.prepayment_id = m.id and b.version = m.version)
       and not exists (select from prepayment_refund r where r.installation = m.installation and r.refund_id = m.id)`,
    [installation],
  );
  return found.map(({ id, raw, day }) => {
    const { paid, refundsId, status, created } = readRecord('prepayment', raw, dialect);
    const own = day ?? (created === null ? null : businessDate(created, timezone));
    return { id, paid, refundsId, isMoney: !isNoMoney(status), day: own };
  });
}

/** The amounts of the records that were not followed. */
async function notFollowed(db: Connection, input: Followed, through: CalendarDate): Promise<[line: string, Unused][]> {
  const read = (await recordsNotFollowed(db, input)).flatMap(({ id, paid, refundsId, isMoney, day }) =>
    paid !== null && isMoney && (day === null || day <= through) ? [{ id, paid, refundsId }] : [],
  );
  const known = await rows(
    db,
    { id: integer },
    `select id from mirror_record where installation = ? and kind = 'prepayment' and id = any(?::bigint[])`,
    [input.id, read.flatMap(({ refundsId }) => refundsId ?? [])],
  );
  const originals = new Set(known.map((one) => one.id));
  return read.map(({ id, paid, refundsId }) => {
    if (!paid.isNegative()) return [`${id}`, { prepayment: id, amount: paid }];
    const isRefund = refundsId !== null && originals.has(refundsId);
    return isRefund
      ? [`${refundsId}`, { prepayment: refundsId, amount: paid }]
      : [`prepayment ${id}`, { prepayment: null, amount: paid }];
  });
}
