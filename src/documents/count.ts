import { integer } from '../db/columns.ts';
import { type Connection, row, rows } from '../db/rows.ts';

/**
 * How many documents have a problem, as `vetledger problems` lists them: held ones, and posted ones whose change is held; and how
 * many wait for their parts to be fetched again.
 */
export function countWaiting(db: Connection, installation: number): Promise<{ held: number; wanted: number }> {
  return row(
    db,
    { held: integer, wanted: integer },
    `select (select count(*) from document where installation = ? and problem_code is not null) as held,
       (select count(*) from document where installation = ? and refetch = 'wanted') as wanted`,
    [installation, installation],
  );
}

/** Whether a document is marked to be judged. */
export async function hasMarked(db: Connection, installation: number): Promise<boolean> {
  // The order is that of the index: PostgreSQL would read the table for any one row where it expects many.
  const sql = 'select from document where installation = ? and dirty order by kind, id limit 1';
  return (await rows(db, {}, sql, [installation])).length > 0;
}
