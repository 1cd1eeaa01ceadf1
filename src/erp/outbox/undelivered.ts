import { integer, text } from '../../db/columns.ts';
import { type Connection, rows } from '../../db/rows.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';

/** States in which the ERP does not have a unit, or may not have it. */
const openStates = ['pending', 'sending', 'uncertain', 'drafted', 'refused'];

/**
 * Number of units up to a date that are not in the ERP, by state. `not_enqueued`: entries and daily summaries that are
 * not in the outbox yet. `from`: units before this date are not delivered.
 */
export async function undeliveredThrough(
  db: Connection,
  installation: InstallationId,
  through: CalendarDate,
  from: CalendarDate | null,
): Promise<Record<string, number>> {
  const found = await rows(
    db,
    { state: text, n: integer },
    `select state, count(*)::int as n from erp_unit
     where installation = ? and state = any(?) and unit_date <= ?::date group by state
     union all
     select 'not_enqueued', count(*)::int from (
       select from entry e where e.installation = ? and e.posting_mode = 'document' and e.entry_date <= ?::date
         and e.entry_date >= coalesce(?::date, '-infinity')
         and e.seq > coalesce((select entry_seq from erp_cursor where installation = ?), 0)
       union all
       select from summary_entry s where s.installation = ? and s.summary_date <= ?::date
         and s.summary_date >= coalesce(?::date, '-infinity')
         and s.seq > coalesce((select summary_seq from erp_cursor where installation = ?), 0)
     ) waiting having count(*) > 0
     order by state`,
    [
      ...[installation, openStates, through],
      ...[installation, through, from, installation],
      ...[installation, through, from, installation],
    ],
  );
  return Object.fromEntries(found.map(({ state, n }) => [state, n]));
}
