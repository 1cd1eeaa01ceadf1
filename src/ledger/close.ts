import type { Knex } from 'knex';
import { type Db, query } from '../db/pool.ts';
import type { CalendarDate } from '../terms.ts';

/** The last day closed by `vetledger ledger close`, or null. */
export async function closedThrough(db: Db | Knex.Transaction, installation: number): Promise<CalendarDate | null> {
  const [newest] = await query<{ through: CalendarDate }>(
    db,
    `select through from ledger_close where installation = ? order by closed_at desc limit 1`,
    [installation],
  );
  return newest?.through ?? null;
}
