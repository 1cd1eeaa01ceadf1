import { z } from 'zod';
import { integer, nullable, type RowOf, storedJson } from '../db/columns.ts';
import { type Binding, type Connection, execute, rows } from '../db/rows.ts';
import { markKnown } from '../documents/mark.ts';
import type { Place } from '../records/unusable.ts';
import type { RecordKind } from '../terms.ts';
import { mirrorTexts } from '../texts/findings/mirror.ts';
import type { UnusableInPage } from './types.ts';

/**
 * Records from which no document can be made, because they have no usable id or belong to another installation
 * (ACCOUNTING E6 `put_aside`). Each is a row of the table `put_aside` under a negative number. The row is deleted when
 * its place in the list, or the whole list, was read again without it.
 */

/** SQL condition on `put_aside`: a record from which no document can be made. */
export const isUnusable = `record like '-%'`;

/**
 * Puts a page's unusable records aside, or stores that they are still there. `seenAt` is the time of the answer. A row
 * holds the invoice that it names.
 */
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
  const where = page === '' ? mirrorTexts.firstPage : mirrorTexts.page({ query: page });
  return mirrorTexts.recordOfPage({ position, page: where, list: kind, reason: why });
}

/** The columns of `put_aside` that describe the place of a record. */
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

/** The places of unusable records without a known invoice. Those that were seen longest ago come first. */
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
 * Deletes unusable records that answers no longer showed; these answers were requested at `askedAt` or later. They
 * cover a whole list or one place in it. For whole row sets, every row that was put aside is deleted. The invoices of
 * rows are judged again.
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
