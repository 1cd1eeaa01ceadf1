import { z } from 'zod';
import { integer, nullable, type RowOf, storedJson } from '../db/columns.ts';
import { type Binding, type Connection, execute, rows } from '../db/rows.ts';
import { markKnown } from '../documents/mark.ts';
import type { Place } from '../records/unusable.ts';
import type { RecordKind } from '../terms.ts';
import type { UnusableInPage } from './types.ts';

/**
 * Records put aside that no document can be made of: without an id that serves, or of another tenant (ACCOUNTING E6 `put_aside`).
 * Each is a row of the table `put_aside` under a negative number. It ends when the place where it stood, or the whole list, was read
 * again and does not show it.
 */

/** Condition on `put_aside`: a record that no document can be made of. */
export const isUnusable = `record like '-%'`;

/** Puts a page's unusable records aside, or notes that they still show: `seenAt`, when the page was answered. Of a row, the invoice is held that it names. */
export async function putUnusableAside(
  trx: Connection,
  installation: number,
  kind: RecordKind,
  unusable: readonly UnusableInPage[],
  seenAt: Date,
): Promise<void> {
  for (const record of unusable.toSorted((a, b) => a.key - b.key)) {
    const { key, code, parentId, place } = record;
    await execute(
      trx,
      `insert into put_aside (installation, kind, record, parent_id, code, message, above, below, filters, seen_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?)
       on conflict (installation, kind, record) do update set parent_id = excluded.parent_id, code = excluded.code,
         message = excluded.message, above = excluded.above, below = excluded.below, filters = excluded.filters, seen_at = excluded.seen_at`,
      [installation, kind, String(key), parentId, code, messageOf(kind, record), ...bindingsOf(place), seenAt],
    );
    if (kind === 'row' && parentId !== null) await markKnown(trx, installation, 'invoice', [parentId]);
  }
}

function messageOf(kind: RecordKind, { page, position, why }: UnusableInPage): string {
  const where = page === '' ? 'the first page' : `the page ?${page}`;
  return `record ${position} of ${where} of the ${kind} list: ${why}`;
}

/** The columns of `put_aside` that tell a place, and the place of such a row. */
export const placeColumns = {
  above: nullable(integer),
  below: nullable(integer),
  filters: storedJson('put_aside.filters', z.record(z.string(), z.string())),
};
export function placeOf({ above, below, filters }: RowOf<typeof placeColumns>): Place {
  return { above, below, filters };
}

function bindingsOf({ above, below, filters }: Place): [number | null, number | null, string] {
  return [above, below, JSON.stringify(filters)];
}

/** The places of the unusable records that no invoice is known of, those first that were seen longest ago. */
export async function unusablePlaces(
  db: Connection,
  installation: number,
  kind: RecordKind,
  limit: number,
): Promise<Place[]> {
  const found = await rows(
    db,
    placeColumns,
    `select above, below, filters from put_aside
     where installation = ? and kind = ? and ${isUnusable} and (kind <> 'row' or parent_id is null)
     group by above, below, filters order by min(seen_at) limit ?`,
    [installation, kind, limit],
  );
  return found.map(placeOf);
}

/**
 * Ends the unusable records of a list, or of a place in it, that answers asked for at `askedAt` and later did not show any more; of whole
 * row sets every row that was put aside. The invoices of rows are judged again.
 */
export async function endUnseen(
  trx: Connection,
  installation: number,
  kind: RecordKind,
  askedAt: Date,
  part: { place: Place } | { invoices: readonly number[] } | 'list' = 'list',
): Promise<void> {
  let condition = isUnusable;
  let bindings: Binding[] = [];
  if (part !== 'list' && 'place' in part) {
    condition +=
      ' and above is not distinct from ?::bigint and below is not distinct from ?::bigint and filters = ?::jsonb';
    bindings = bindingsOf(part.place);
  } else if (part !== 'list') {
    condition = 'parent_id = any(?)';
    bindings = [part.invoices];
  }
  const ended = await rows(
    trx,
    { parentId: nullable(integer) },
    `delete from put_aside where installation = ? and kind = ? and seen_at < ? and ${condition}
     returning parent_id as "parentId"`,
    [installation, kind, askedAt, ...bindings],
  );
  const invoices = kind === 'row' ? ended.flatMap(({ parentId }) => parentId ?? []) : [];
  if (invoices.length > 0) await markKnown(trx, installation, 'invoice', invoices);
}
