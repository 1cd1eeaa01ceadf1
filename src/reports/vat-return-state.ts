import { date, integer, nullable, numeric, text } from '../db/columns.ts';
import { type Connection, row, rows } from '../db/rows.ts';
import { deliveryOfEntry, isLateForVat } from '../erp/outbox/entry-delivery.ts';
import { creditLessDebit } from '../ledger/journal/signed.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import { lateEntries } from './vat-lines.ts';

/** The lines that an installation's filed returns lack, or contain wrongly. */
export interface ReturnState {
  /** The last day of the latest filed return; null if none is filed. */
  filedThrough: CalendarDate | null;
  /** Filed periods from which entries were withdrawn since. `report vat` also shows changed kinds of the mapping. */
  changed: { period: string; entries: number; tax: string }[];
  /** Late entries that no return has taken, and how many of them the latest return could have taken. */
  late: { entries: number; missed: number; tax: string };
}

/** Reads only late entries, because nothing else changes a closed period. */
export async function returnState(db: Connection, installation: InstallationId): Promise<ReturnState> {
  const { through } = await row(
    db,
    { through: nullable(date) },
    'select max(through) as through from vat_return where installation = ?',
    [installation],
  );
  if (through === null) return { filedThrough: null, changed: [], late: { entries: 0, missed: 0, tax: '0' } };
  const ids = [installation, installation, installation];
  const changed = await rows(
    db,
    { period: text, entries: integer, tax: numeric },
    `with late as (${lateEntries}), declared as (
       select l.period, l.entry_id, l.is_late, sum(l.tax) as tax
       from late join vat_return_line l on l.entry_id = late.id group by l.period, l.entry_id, l.is_late
       having sum(l.base) <> 0 or sum(l.tax) <> 0
     )
     select c.period, count(distinct c.entry_id)::int as entries, -sum(c.tax) as tax
     from declared c join entry e on e.id = c.entry_id ${deliveryOfEntry}
     where case when c.is_late then coalesce(d.is_settled, false) else ${isLateForVat} or coalesce(d.is_settled, false) end
     group by c.period order by c.period`,
    ids,
  );
  const late = await row(
    db,
    { entries: integer, missed: integer, tax: numeric },
    `with late as (${lateEntries})
     select count(distinct e.id)::int as entries, count(distinct e.id) filter (where e.entry_date <= ?::date)::int as missed,
       coalesce(${creditLessDebit()} filter (where l.role = 'vat'), 0) as tax
     from late join entry e on e.id = late.id join entry_line l on l.entry_id = e.id ${deliveryOfEntry}
     where (l.vat_base is not null or l.role = 'vat') and not coalesce(d.is_settled, false)
       and not exists (select from vat_return_line v where v.entry_id = e.id and v.is_late and not v.is_change)`,
    [...ids, through],
  );
  return { filedThrough: through, changed, late };
}
