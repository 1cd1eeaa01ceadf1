import type { InstallationConfig } from '../config/load-config.ts';
import { integer } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { markDirty } from '../documents/mark.ts';
import { daysBetween, daysFrom } from '../domain/dates.ts';
import { readLatestDaysThrough, storeLatestDaysThrough } from '../mirror/installation-state.ts';
import { latestDay } from '../posting/vat-due-policy.ts';
import type { CalendarDate } from '../terms.ts';

/**
 * Marks invoices on the latest day for their VAT: when that day is over, all VAT of the invoice becomes due without a payment
 * (ACCOUNTING R13). An invoice that is posted later is marked when it is posted.
 */
export async function markLatestDays(
  trx: Connection,
  installation: InstallationConfig,
  today: CalendarDate,
): Promise<void> {
  const { id } = installation;
  const policy = installation.mapping.policies.vat_due;
  if (policy === null) return;
  const isOver = (invoiceDate: CalendarDate) => {
    const latest = latestDay(policy, invoiceDate);
    return latest !== null && latest < today;
  };
  const through = lastDate(policy.from, today, isOver);
  const before = await readLatestDaysThrough(trx, id);
  if (through === null || (before !== null && through <= before)) return;
  const found = await rows(
    trx,
    { id: integer },
    `select d.id from document d
     where d.installation = ? and d.kind = 'invoice' and d.document_date between ?::date and ?::date
       and (d.state = 'before_start'
         or exists (select from entry_line l where l.entry_id = d.entry_id and l.role = 'vat_not_due')) order by d.id`,
    [id, before === null ? policy.from : daysFrom(before, 1), through],
  );
  await markDirty(
    trx,
    id,
    'vat_due',
    found.map((each) => each.id),
  );
  await storeLatestDaysThrough(trx, id, through);
}

/** The last invoice date whose latest day is over, from `first` on. Later dates have later days. Null if there is none. */
function lastDate(
  first: CalendarDate,
  today: CalendarDate,
  isOver: (day: CalendarDate) => boolean,
): CalendarDate | null {
  if (first > today || !isOver(first)) return null;
  let [low, high] = [0, daysBetween(first, today)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isOver(daysFrom(first, middle))) low = middle;
    else high = middle - 1;
  }
  return daysFrom(first, low);
}
