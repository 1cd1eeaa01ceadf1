import { integer } from '../../db/columns.ts';
import type { Transact } from '../../db/lease.ts';
import { type Connection, row } from '../../db/rows.ts';
import type { InstallationId } from '../../terms.ts';
import { holdChain } from './chain.ts';

/** Entries of before that get their numbers along with new ones, in one transaction. */
const olderAtATime = 1_000;
/** Transactions of `numberOlder` in one window; the next window goes on. */
const batchesAWindow = 20;

/**
 * Gives the next entries of the chain their voucher numbers, at most `limit` and those of `olderAtATime` before them. Whoever calls
 * holds the chain (`holdChain`), so numbers are given one after the other: without a gap, and never twice. Returns how many.
 * `fiscalYearStart`: the month that a fiscal year begins with, from 1; the year is named by its first day. Journals: S sales
 * (invoices and credit notes), P payments, A advances (prepayments).
 */
export async function numberVouchers(
  trx: Connection,
  installation: InstallationId,
  fiscalYearStart: number,
  limit: number,
): Promise<number> {
  const { numbered } = await row(
    trx,
    { numbered: integer },
    `with next as (
       select id, seq, case kind when 'invoice' then 'S' when 'payment' then 'P' else 'A' end as journal,
         extract(year from entry_date - make_interval(months => ?::int))::int as year
       from entry
       where installation = ?::bigint and seq > coalesce((select seq from voucher_cursor where installation = ?::bigint), 0)
       order by seq limit ?),
     last as (
       select journal, year, coalesce((
         select v.number from voucher v where v.installation = ?::bigint and v.journal = s.journal and v.fiscal_year = s.year
         order by v.number desc limit 1), 0) as number
       from (select distinct journal, year from next) s),
     given as (
       insert into voucher (entry_id, installation, journal, fiscal_year, number)
       select n.id, ?::bigint, n.journal, n.year,
         l.number + row_number() over (partition by n.journal, n.year order by n.seq)
       from next n join last l on l.journal = n.journal and l.year = n.year),
     moved as (
       insert into voucher_cursor as c (installation, seq) select ?::bigint, max(seq) from next having count(*) > 0
       on conflict (installation) do update set seq = excluded.seq)
     select count(*)::int as numbered from next`,
    [
      ...[fiscalYearStart - 1, installation, installation, limit + olderAtATime],
      ...[installation, installation, installation],
    ],
  );
  return numbered;
}

/** Numbers entries that have none yet: those of before there were numbers, and those that an older program appended. */
export async function numberOlder(
  transact: Transact,
  installation: InstallationId,
  fiscalYearStart: number,
): Promise<void> {
  for (let batch = 0; batch < batchesAWindow; batch += 1) {
    const numbered = await transact(async (trx) => {
      await holdChain(trx, installation);
      return numberVouchers(trx, installation, fiscalYearStart, olderAtATime);
    });
    if (numbered < 2 * olderAtATime) return;
  }
}

/** `2026-S-000123`. */
export function voucherText(fiscalYear: number, journal: string, n: number): string {
  return `${fiscalYear}-${journal}-${String(n).padStart(6, '0')}`;
}
