import { bool, integer } from '../db/columns.ts';
import { type Connection, row } from '../db/rows.ts';
import { hasOpenProblem } from './document.ts';

/**
 * Counts the documents with a problem, as `vetledger problems` lists them, and those that wait for their parts.
 * `isMarked`: at least one document is marked to be judged.
 */
export function countWaiting(
  db: Connection,
  installation: number,
): Promise<{ held: number; wanted: number; isMarked: boolean }> {
  return row(
    db,
    { held: integer, wanted: integer, isMarked: bool },
    // `order by` makes PostgreSQL use the index. Otherwise it reads the whole table if it expects many marked rows.
    `select (select count(*) from document where installation = ? and ${hasOpenProblem}) as held,
       (select count(*) from document where installation = ? and refetch = 'wanted') as wanted,
       (select true from document where installation = ? and dirty order by kind, id limit 1) is not null as "isMarked"`,
    [installation, installation, installation],
  );
}
