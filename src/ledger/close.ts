import { date } from '../db/columns.ts';
import { type Connection, maybeRow } from '../db/rows.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';

/** The last day closed by `vetledger ledger close`, or null. */
export async function closedThrough(db: Connection, installation: InstallationId): Promise<CalendarDate | null> {
  const newest = await maybeRow(
    db,
    { through: date },
    'select through from ledger_close where installation = ? order by closed_at desc limit 1',
    [installation],
  );
  return newest?.through ?? null;
}
