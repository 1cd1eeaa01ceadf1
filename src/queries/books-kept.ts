import { integer, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { rows } from '../db/rows.ts';

/** The books in a database: per installation, the number of entries and the practice API (scheme, host and port). */
export function booksKept(db: Db) {
  return rows(
    db,
    { installation: integer, source: text, entries: integer },
    `select b.installation, b.source, (select count(*)::int from entry e where e.installation = b.installation) as entries
     from book_identity b order by b.installation`,
  );
}
