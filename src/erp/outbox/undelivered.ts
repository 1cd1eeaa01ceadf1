import { integer, text } from '../../db/columns.ts';
import { type Connection, maybeRow, rows } from '../../db/rows.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';

/** Units that the ERP does not have, or may not have. Each part has its index, so that delivered units are not read. */
const isOpen = `(state = 'pending' and needs_approval or state = 'pending' and not needs_approval
  or state in ('sending', 'uncertain') or state = 'drafted' or state = 'refused')`;

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
  const { entrySeq, summarySeq } = (await maybeRow(
    db,
    { entrySeq: integer, summarySeq: integer },
    'select entry_seq as "entrySeq", summary_seq as "summarySeq" from erp_cursor where installation = ?',
    [installation],
  )) ?? { entrySeq: 0, summarySeq: 0 };
  // The cursors are bindings, so that PostgreSQL knows how few entries come after them.
  const found = await rows(
    db,
    { state: text, n: integer },
    `select state, count(*)::int as n from erp_unit
     where installation = ? and ${isOpen} and unit_date <= ?::date group by state
     union all
     select 'not_enqueued', count(*)::int from (
       select from entry e where e.installation = ? and e.posting_mode = 'document' and e.entry_date <= ?::date
         and e.entry_date >= coalesce(?::date, '-infinity') and e.seq > ?
       union all
       select from summary_entry s where s.installation = ? and s.summary_date <= ?::date
         and s.summary_date >= coalesce(?::date, '-infinity') and s.seq > ?
     ) waiting having count(*) > 0
     order by state`,
    [
      ...[installation, through],
      ...[installation, through, from, entrySeq],
      ...[installation, through, from, summarySeq],
    ],
  );
  return Object.fromEntries(found.map(({ state, n }) => [state, n]));
}
