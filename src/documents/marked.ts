import { bool, integer } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { DocumentKind } from '../terms.ts';

/**
 * The next documents of a kind that are marked to be judged, by id. With `neverJudged`, only those that were never
 * judged.
 */
export async function markedIds(
  db: Connection,
  installation: number,
  kind: DocumentKind,
  { after, limit, neverJudged = false }: { after: number; limit: number; neverJudged?: boolean },
): Promise<number[]> {
  const found = await rows(
    db,
    { id: integer },
    `select id from document where installation = ? and kind = ? and dirty and id > ? and (judged_at is null or not ?)
     order by id limit ?`,
    [installation, kind, after, neverJudged, limit],
  );
  return found.map(({ id }) => id);
}

/** The marked payments of these invoices, by id. Payments of an invoice that is marked, too, are left out. */
export async function markedPaymentsOf(
  db: Connection,
  installation: number,
  invoices: readonly number[],
): Promise<number[]> {
  if (invoices.length === 0) return [];
  const found = await rows(
    db,
    { id: integer },
    // Lateral joins: without statistics, a plain join compares each payment with each document.
    `select m.id from mirror_record m
     cross join lateral (
       select from document d where d.installation = m.installation and d.kind = 'payment' and d.id = m.id and d.dirty limit 1) own
     cross join lateral (
       select from document d
       where d.installation = m.installation and d.kind = 'invoice' and d.id = m.parent_id and not d.dirty limit 1) invoice
     where m.installation = ? and m.kind = 'payment' and m.parent_id = any(?) order by m.id`,
    [installation, invoices],
  );
  return found.map(({ id }) => id);
}

/** The documents among these that were ever posted. */
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
