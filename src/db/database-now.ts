import { instant } from './columns.ts';
import { type Connection, row } from './rows.ts';

/** The database's clock, which processes on several machines share. */
export async function databaseNow(db: Connection): Promise<Date> {
  return (await row(db, { now: instant }, 'select clock_timestamp() as now')).now;
}
