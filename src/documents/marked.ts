import { bool, integer } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { DocumentKind } from '../terms.ts';

/** The next documents of a kind that are marked to be judged, by id. */
export async function markedIds(
  db: Connection,
  installation: number,
  kind: DocumentKind,
  { after, limit }: { after: number; limit: number },
): Promise<number[]> {
  const found = await rows(
    db,
    { id: integer },
    'select id from document where installation = ? and kind = ? and dirty and id > ? order by id limit ?',
    [installation, kind, after, limit],
  );
  return found.map(({ id }) => id);
}

/** Of these documents those that were ever posted. */
export async function everPosted(
  db: Connection,
  installation: number,
  kind: DocumentKind,
  ids: readonly number[],
): Promise<Set<number>> {
  const found = await rows(
    db,
    { id: integer, posted: bool },
    'select id, entry_count > 0 as posted from document where installation = ? and kind = ? and id = any(?)',
    [installation, kind, ids],
  );
  return new Set(found.filter(({ posted }) => posted).map(({ id }) => id));
}
