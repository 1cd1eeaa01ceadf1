import { type Connection, execute } from '../../db/rows.ts';
import type { InstallationId } from '../../terms.ts';

/**
 * Gives the entries of the chain from `seq` on, which were just appended, their voucher numbers. The caller holds the chain
 * (`holdChain`), so no number is given twice, and none is left out. `fiscalYearStart`: the first month of a fiscal year, from 1;
 * the year is named by its first day. Journals: S sales (invoices and credit notes), P payments, A advances (prepayments).
 */
export async function numberVouchers(
  trx: Connection,
  installation: InstallationId,
  fiscalYearStart: number,
  seq: number,
): Promise<void> {
  await execute(
    trx,
    `with fresh as (
       select id, seq, case kind when 'invoice' then 'S' when 'payment' then 'P' else 'A' end as journal,
         extract(year from entry_date - make_interval(months => ?::int))::int as year
       from entry where installation = ?::bigint and seq >= ?),
     -- Materialized, since PostgreSQL would otherwise look for the last number again for each entry.
     last as materialized (
       select journal, year, coalesce((
         select v.number from voucher v where v.installation = ?::bigint and v.journal = s.journal and v.fiscal_year = s.year
         order by v.number desc limit 1), 0) as number
       from (select distinct journal, year from fresh) s)
     insert into voucher (entry_id, installation, journal, fiscal_year, number)
     select f.id, ?::bigint, f.journal, f.year, l.number + row_number() over (partition by f.journal, f.year order by f.seq)
     from fresh f join last l on l.journal = f.journal and l.year = f.year`,
    [fiscalYearStart - 1, installation, seq, installation, installation],
  );
}

/** `2026-S-000123`. */
export function voucherText(fiscalYear: number, journal: string, n: number): string {
  return `${fiscalYear}-${journal}-${String(n).padStart(6, '0')}`;
}
