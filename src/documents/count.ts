import { integer } from '../db/columns.ts';
import { type Connection, row } from '../db/rows.ts';

/** How many documents are held, and how many wait for their parts to be fetched again. */
export function countWaiting(db: Connection, installation: number): Promise<{ held: number; wanted: number }> {
  return row(
    db,
    { held: integer, wanted: integer },
    `select (select count(*) from document where installation = ? and problem_code is not null and state = 'held') as held,
       (select count(*) from document where installation = ? and refetch = 'wanted') as wanted`,
    [installation, installation],
  );
}
