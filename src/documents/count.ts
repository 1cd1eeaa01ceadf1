import { bool, integer } from '../db/columns.ts';
import { type Connection, row } from '../db/rows.ts';

/**
 * How many documents have a problem, as `vetledger problems` lists them: held ones, and posted ones whose change is held; and how
 * many wait for their parts to be fetched again; and whether one is marked to be judged.
 */
export function countWaiting(
  db: Connection,
  installation: number,
): Promise<{ held: number; wanted: number; isMarked: boolean }> {
  return row(
    db,
    { held: integer, wanted: integer, isMarked: bool },
    // `order by` makes PostgreSQL use the index: without it, PostgreSQL reads the table where it expects many marked rows.
    `select (select count(*) from document where installation = ? and problem_code is not null) as held,
       (select count(*) from document where installation = ? and refetch = 'wanted') as wanted,
       (select true from document where installation = ? and dirty order by kind, id limit 1) is not null as "isMarked"`,
    [installation, installation, installation],
  );
}
