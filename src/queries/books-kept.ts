import { integer, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { rows } from '../db/rows.ts';

/** The books that a database has: of which installation, how many entries, and the practice API that they are of (scheme, host and port). */
export function booksKept(db: Db) {
  return rows(
    db,
    { installation: integer, source: text, entries: integer },
    `select b.installation, b.source, (select count(*)::int from entry e where e.installation = b.installation) as entries
     from book_identity b order by b.installation`,
  );
}
