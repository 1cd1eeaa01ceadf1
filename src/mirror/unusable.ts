import { integer, nullable } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { markKnown } from '../documents/mark.ts';
import type { RecordKind } from '../terms.ts';
import type { UnusableInPage } from './types.ts';

/**
 * Records put aside that no document can be made of: without an id that serves, or of another tenant (ACCOUNTING E6 `put_aside`).
 * Each is a row of the table `put_aside` under a negative number. It ends when the place where it stood, or the whole list, was read
 * again and does not show it.
 */

/** Condition on `put_aside`: a record that no document can be made of. */
export const isUnusable = `record like '-%'`;

/** Puts a page's unusable records aside, or notes that they still show. Of a row, the invoice is held that it names. */
export async function putUnusableAside(
  trx: Connection,
  installation: number,
  kind: RecordKind,
  unusable: readonly UnusableInPage[],
): Promise<void> {
  for (const record of unusable.toSorted((a, b) => a.key - b.key)) {
    const { key, code, parentId, above, below } = record;
    await execute(
      trx,
      `insert into put_aside (installation, kind, record, parent_id, code, message, above, below) values (?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (installation, kind, record) do update set parent_id = excluded.parent_id, code = excluded.code,
         message = excluded.message, above = excluded.above, below = excluded.below, seen_at = clock_timestamp()`,
      [installation, kind, String(key), parentId, code, messageOf(kind, record), above, below],
    );
    if (kind === 'row' && parentId !== null) await markKnown(trx, installation, 'invoice', [parentId]);
  }
}

function messageOf(kind: RecordKind, { page, position, why }: UnusableInPage): string {
  const where = page === '' ? 'the first page' : `the page ?${page}`;
  return `record ${position} of ${where} of the ${kind} list: ${why}`;
}

/** Where a record stood that was put aside: between these ids of its list; null: it was the first or the last. */
export interface Place {
  above: number | null;
  below: number | null;
}

/** The places of the unusable records, those first that were seen longest ago. */
export function unusablePlaces(
  db: Connection,
  installation: number,
  kind: RecordKind,
  limit: number,
): Promise<Place[]> {
  return rows(
    db,
    { above: nullable(integer), below: nullable(integer) },
    `select above, below from put_aside where installation = ? and kind = ? and ${isUnusable}
     group by above, below order by min(seen_at) limit ?`,
    [installation, kind, limit],
  );
}

/**
 * Ends the unusable records of a list, or of a part of it, that answers asked for at `askedAt` and later did not show any more. The
 * invoices of rows are judged again.
 */
export async function endUnseen(
  trx: Connection,
  installation: number,
  kind: RecordKind,
  askedAt: Date,
  part: { place: Place } | { invoices: readonly number[] } | 'list' = 'list',
): Promise<void> {
  let condition = 'true';
  let bindings: (number | null | readonly number[])[] = [];
  if (part !== 'list' && 'place' in part) {
    condition = 'above is not distinct from ?::bigint and below is not distinct from ?::bigint';
    bindings = [part.place.above, part.place.below];
  } else if (part !== 'list') {
    condition = 'parent_id = any(?)';
    bindings = [part.invoices];
  }
  const ended = await rows(
    trx,
    { parentId: nullable(integer) },
    `delete from put_aside where installation = ? and kind = ? and ${isUnusable} and seen_at < ? and ${condition}
     returning parent_id as "parentId"`,
    [installation, kind, askedAt, ...bindings],
  );
  const invoices = kind === 'row' ? ended.flatMap(({ parentId }) => parentId ?? []) : [];
  if (invoices.length > 0) await markKnown(trx, installation, 'invoice', invoices);
}
