// What the mirror must hold, told by the source's own state; nothing of the code under test decides here.

import type { Db } from '../../src/db/pool.ts';
import { type DocumentKind, documentKinds } from '../../src/terms.ts';
import { query } from '../support/sql.ts';
import { isUnusable, rowsText, type Source } from './source.ts';

const finalStatus = 3;
/** Enough to see what is wrong. */
const mostTold = 5;

interface Mirrored {
  id: number;
  raw: string;
}

/**
 * Sets of rows that are accepted, being fresh (P2) and adding up to their invoice's total (P1), and were never, since their
 * invoice's version, what the source had committed. At any time, whatever is under way.
 */
export async function falselyFresh(db: Db, installation: number, source: Source): Promise<string[]> {
  const invoices = await query<Mirrored>(
    db,
    `select id, raw::text from mirror_record i where installation = ? and kind = 'invoice' and needs_rows and gone_at is null
       and rows_source_time >= rows_fresh_from and (raw::json->>'total_with_vat')::numeric = (
         select sum((r.raw::json->>'sum_total')::numeric) from mirror_record r where r.installation = i.installation
           and r.kind = 'row' and r.parent_id = i.id and r.gone_at is null)
       -- With rows that are not shown any more it is in doubt, and named.
       and not exists (select from mirror_record r where r.installation = i.installation and r.kind = 'row'
         and r.parent_id = i.id and r.missing_at is not null)`,
    [installation],
  );
  const rows = await rowsByInvoice(db, installation);
  const wrong: string[] = [];
  for (const { id, raw } of invoices) {
    const states = source.history.get(id) ?? [];
    const first = states.findIndex((state) => state.raw === raw);
    const have = rowsText(rows.get(id) ?? []);
    if (first >= 0 && states.slice(first).some((state) => state.rows === have)) continue;
    const what = first < 0 ? 'a version that the source never had' : 'rows that it never had together';
    wrong.push(`invoice ${id} is taken as fresh with ${what}`);
  }
  return wrong.slice(0, mostTold);
}

/** Documents in the books that were taken for gone, which a person has not confirmed; and missing ones that are not named. */
export async function takenForGone(db: Db, installation: number): Promise<string[]> {
  const wrong = await query<{ message: string }>(
    db,
    `select d.kind || ' ' || d.id || ' is posted, and was taken for gone' as message
     from document d join mirror_record m using (installation, kind, id)
     where d.installation = ? and d.entry_id is not null and m.gone_at is not null
     union all
     select d.kind || ' ' || d.id || ' is not shown any more, and not named'
     from document d join mirror_record m using (installation, kind, id)
     where d.installation = ? and m.missing_at is not null and (d.entry_id is null or d.problem_code is null) limit ?`,
    [installation, installation, mostTold],
  );
  return wrong.map(({ message }) => message);
}

/** Everything missing or wrong once the source is quiet and all of it was to be known. */
export async function differences(db: Db, installation: number, source: Source, unusable: number): Promise<string[]> {
  const wrong: string[] = [];
  for (const kind of documentKinds)
    wrong.push(...(await documentDifferences(db, installation, source, kind, unusable)));
  const rows = await rowsByInvoice(db, installation);
  const fresh = await query<{ id: number }>(
    db,
    `select id from mirror_record where installation = ? and kind = 'invoice' and needs_rows and gone_at is null
       and missing_at is null and rows_source_time >= rows_fresh_from`,
    [installation],
  );
  const freshIds = new Set(fresh.map(({ id }) => id));
  for (const invoice of source.tables.invoice.values()) {
    if (invoice.status !== finalStatus || isUnusable(unusable, 'invoice', invoice.id)) continue;
    const expected = source.rowsOf(invoice.id);
    const have = rows.get(invoice.id) ?? [];
    if (!freshIds.has(invoice.id)) wrong.push(`invoice ${invoice.id}: its rows are not accepted as fresh`);
    if (rowsText(expected) === rowsText(have)) continue;
    const known = new Map(have.map(({ id, raw }) => [id, raw]));
    const missing = expected.filter(({ id }) => !known.has(id)).length;
    const stale = expected.filter(({ id, raw }) => known.has(id) && known.get(id) !== raw).length;
    const tooMany = have.filter(({ id }) => !expected.some((row) => row.id === id)).length;
    wrong.push(`invoice ${invoice.id}: of its rows ${missing} missing, ${stale} stale, ${tooMany} too many`);
  }
  return wrong;
}

async function documentDifferences(
  db: Db,
  installation: number,
  source: Source,
  kind: DocumentKind,
  unusable: number,
): Promise<string[]> {
  const alive = await query<Mirrored>(
    db,
    `select id, raw::text from mirror_record where installation = ? and kind = ? and gone_at is null and missing_at is null`,
    [installation, kind],
  );
  const table = new Map([...source.tables[kind]].filter(([id]) => !isUnusable(unusable, kind, id)));
  const without = source.tables[kind].size - table.size;
  const known = new Map(alive.map(({ id, raw }) => [id, raw]));
  const wrong: string[] = [];
  if (unusable > 0) {
    const aside = await query<{ n: number }>(
      db,
      `select count(*)::int as n from put_aside where installation = ? and kind = ? and record like '-%'`,
      [installation, kind],
    );
    const n = aside[0]?.n ?? 0;
    if (n < without) wrong.push(`${without} ${kind}s have no usable id, and ${n} are put aside`);
  }
  for (const { id, raw } of table.values()) {
    if (!known.has(id)) wrong.push(`${kind} ${id} is missing`);
    else if (known.get(id) !== raw) wrong.push(`${kind} ${id} is stale`);
  }
  for (const id of known.keys()) if (!table.has(id)) wrong.push(`${kind} ${id} is no longer there, but held as alive`);
  return wrong;
}

async function rowsByInvoice(db: Db, installation: number): Promise<Map<number, Mirrored[]>> {
  const all = await query<Mirrored & { parent_id: number }>(
    db,
    `select id, parent_id, raw::text from mirror_record where installation = ? and kind = 'row' and gone_at is null and missing_at is null`,
    [installation],
  );
  return Map.groupBy(all, (row) => row.parent_id);
}
