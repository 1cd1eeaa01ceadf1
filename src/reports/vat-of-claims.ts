import { numeric } from '../db/columns.ts';
import { type Connection, row } from '../db/rows.ts';
import { Money } from '../domain/money.ts';
import { creditLessDebit } from '../ledger/journal/signed.ts';
import { claimPayments } from '../records/source-codes.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';

/**
 * The VAT that became due with payments which are claims on others, by entries dated from `from` through `through`. It is due before the
 * money comes, so the report names it (ACCOUNTING R13).
 */
export async function vatOfClaims(
  db: Connection,
  installation: InstallationId,
  { from, through }: { from: CalendarDate; through: CalendarDate },
): Promise<Money> {
  const { vat } = await row(
    db,
    { vat: numeric },
    `select coalesce(${creditLessDebit()}, 0) as vat from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.entry_date between ?::date and ?::date and e.kind = 'payment' and l.role = 'vat'
       and exists (select from entry_line c where c.entry_id = e.id and c.payment_type = any(?::int[]))`,
    [installation, from, through, [...claimPayments]],
  );
  return new Money(vat);
}
