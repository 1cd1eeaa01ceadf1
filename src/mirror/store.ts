import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { type Db, query } from '../db/pool.ts';
import { instantOf } from '../domain/dates.ts';
import type { SourceRecord } from '../domain/records.ts';
import type { Dialect } from '../practice/dialect.ts';
import { canonicalJson, parseJson } from '../practice/json.ts';
import { parseRecord } from '../practice/schema.ts';
import type { DocumentKind, RecordKind } from '../terms.ts';

/** Status 3 Finalized: the only one that posts (practice-api: Invoice status). */
const finalStatus = 3;

export interface MirrorScope {
  installation: number;
  timezone: string;
  dialect: Dialect;
}

/** One answer's records, as received. */
export interface IncomingPage {
  results: { id: number; raw: string; value: unknown }[];
  /** Lower bound of the snapshot (DESIGN "Source time"). */
  sourceTime: Date;
  /** Upper bound of it, by the same clock. */
  answeredAt: Date;
}

export interface SaveResult {
  received: number;
  /** New or changed versions, our own write-back's echo aside. */
  pulled: number;
  /** Ids received. */
  ids: number[];
  /** Records whose version is new or changed, by id. */
  changedIds: number[];
  /** Invoices that the changed records belong to (rows and payments). */
  changedParents: number[];
}

interface Held {
  id: number;
  content_hash: string;
  source_time: Date;
  modified: Date | null;
  version: number;
  gone_at: Date | null;
  parent_id: number | null;
}

interface Incoming {
  id: number;
  raw: string;
  hash: string;
  parentId: number | null;
  modified: Date | null;
  needsRows: boolean;
  record: SourceRecord;
}

/** Whether a new version differs only by what we wrote back ourselves (src/writeback). */
export type IsOwnEcho = (previousRaw: string, newRaw: string, prepaymentId: number) => boolean;

/**
 * Saves one page into the mirror, in the caller's transaction: new versions replace older ones only when their answer is
 * later (source time, or the record's own `modified`), the replaced version is kept, and every document that the change
 * touches is marked to be judged again. A constant number of statements whatever the page's size.
 */
export async function savePage(
  trx: Knex.Transaction,
  scope: MirrorScope,
  kind: RecordKind,
  page: IncomingPage,
  isOwnEcho: IsOwnEcho = () => false,
): Promise<SaveResult> {
  const incoming = new Map<number, Incoming>();
  for (const item of page.results) incoming.set(item.id, describe(scope, kind, item));
  const result: SaveResult = {
    received: page.results.length,
    pulled: 0,
    ids: [...incoming.keys()],
    changedIds: [],
    changedParents: [],
  };
  if (incoming.size === 0) return result;
  const ids = [...incoming.keys()].sort((a, b) => a - b);
  const held = await heldRecords(trx, scope.installation, kind, ids);

  const inserts: Incoming[] = [];
  const updates: Incoming[] = [];
  const unchanged: number[] = [];
  const parents = new Set<number>();
  for (const id of ids) {
    const next = incoming.get(id)!;
    const previous = held.get(id);
    if (!previous) inserts.push(next);
    else if (previous.content_hash === next.hash && previous.gone_at === null) unchanged.push(id);
    else if (isLater(page.sourceTime, next, previous)) updates.push(next);
    else continue;
    if (previous?.parent_id != null && previous.parent_id !== next.parentId) parents.add(previous.parent_id);
  }

  const echoes = new Set<number>();
  if (kind === 'prepayment' && updates.length > 0) {
    const raws = await rawRecords(
      trx,
      scope.installation,
      kind,
      updates.map((next) => next.id),
    );
    for (const next of updates) if (isOwnEcho(raws.get(next.id) ?? '', next.raw, next.id)) echoes.add(next.id);
  }
  await keepReplaced(
    trx,
    scope.installation,
    kind,
    updates.map((next) => next.id),
  );
  await upsert(trx, scope.installation, kind, [...inserts, ...updates], page);
  if (unchanged.length > 0) {
    await trx.raw(
      `update mirror_record set source_time = ? where installation = ? and kind = ? and id = any(?) and source_time < ?`,
      [page.sourceTime, scope.installation, kind, unchanged, page.sourceTime],
    );
  }

  const changed = [...inserts, ...updates].filter((next) => !echoes.has(next.id));
  for (const next of changed) if (next.parentId !== null) parents.add(next.parentId);
  result.pulled = changed.length;
  result.changedIds = changed.map((next) => next.id);
  result.changedParents = [...parents];
  await markTouched(trx, scope.installation, kind, result);
  return result;
}

function describe(scope: MirrorScope, kind: RecordKind, item: { id: number; raw: string; value: unknown }): Incoming {
  const record = parseRecord(kind, item.value, scope.dialect);
  // A payment has no `modified` of its own: its `date_added` stands in, it is never changed (practice-api: Invoice payment).
  const stamp = record.kind === 'payment' ? (record.modified ?? record.dateAdded) : record.modified;
  return {
    id: item.id,
    raw: item.raw,
    hash: createHash('sha256').update(canonicalJson(item.value)).digest('hex'),
    parentId: record.kind === 'row' || record.kind === 'payment' ? record.invoiceId : null,
    modified: stamp === null ? null : instantOf(stamp, scope.timezone),
    needsRows: record.kind === 'invoice' && record.status === finalStatus,
    record,
  };
}

function isLater(sourceTime: Date, next: Incoming, previous: Held): boolean {
  // Answers carry whole seconds: within one, the record's own clock decides.
  if (next.modified && previous.modified && next.modified.getTime() !== previous.modified.getTime()) {
    return next.modified > previous.modified;
  }
  return sourceTime > previous.source_time;
}

async function heldRecords(trx: Knex.Transaction, installation: number, kind: RecordKind, ids: number[]) {
  const found = await trx.raw<{ rows: Held[] }>(
    `select id, content_hash, source_time, modified, version, gone_at, parent_id from mirror_record
     where installation = ? and kind = ? and id = any(?) order by id for update`,
    [installation, kind, ids],
  );
  return new Map(found.rows.map((row) => [row.id, row]));
}

/** The newest raw text of records, by id. */
export async function rawRecords(db: Db | Knex.Transaction, installation: number, kind: RecordKind, ids: number[]) {
  const found = await db.raw<{ rows: { id: number; raw: string }[] }>(
    `select id, raw from mirror_record where installation = ? and kind = ? and id = any(?)`,
    [installation, kind, ids],
  );
  return new Map(found.rows.map((row) => [row.id, row.raw]));
}

async function keepReplaced(trx: Knex.Transaction, installation: number, kind: RecordKind, ids: number[]) {
  if (ids.length === 0) return;
  await trx.raw(
    `insert into mirror_version (installation, kind, id, version, modified, source_time, content_hash, raw)
     select installation, kind, id, version, modified, source_time, content_hash, raw from mirror_record
     where installation = ? and kind = ? and id = any(?)`,
    [installation, kind, ids],
  );
}

async function upsert(
  trx: Knex.Transaction,
  installation: number,
  kind: RecordKind,
  records: Incoming[],
  page: IncomingPage,
) {
  if (records.length === 0) return;
  await query(
    trx,
    `insert into mirror_record (installation, kind, id, parent_id, version, modified, source_time, first_seen_at,
       content_hash, raw, needs_rows, rows_fresh_from)
     select ?, ?, t.id, t.parent_id, 1, t.modified, ?, ?, t.hash, t.raw::json, t.needs_rows,
       case when t.needs_rows then least(
         date_trunc('second', coalesce(t.modified, ?)) + case
           when coalesce(t.modified, ?) = date_trunc('second', coalesce(t.modified, ?)) then interval '0' else interval '1 second' end,
         ?) end
     from unnest(?::bigint[], ?::bigint[], ?::timestamptz[], ?::text[], ?::text[], ?::boolean[])
       as t(id, parent_id, modified, hash, raw, needs_rows)
     on conflict (installation, kind, id) do update set
       parent_id = excluded.parent_id, version = mirror_record.version + 1, modified = excluded.modified,
       source_time = excluded.source_time, content_hash = excluded.content_hash, raw = excluded.raw,
       needs_rows = excluded.needs_rows, rows_fresh_from = excluded.rows_fresh_from, gone_at = null`,
    [
      installation,
      kind,
      page.sourceTime,
      page.sourceTime,
      page.answeredAt,
      page.answeredAt,
      page.answeredAt,
      new Date(Math.ceil(page.answeredAt.getTime() / 1000) * 1000),
      records.map((record) => record.id),
      records.map((record) => record.parentId),
      records.map((record) => record.modified),
      records.map((record) => record.hash),
      records.map((record) => record.raw),
      records.map((record) => record.needsRows),
    ],
  );
}

/**
 * Which documents a change touches: an invoice also its payments (they take their party from it), a row its invoice, a
 * payment also its invoice (proof P3).
 */
async function markTouched(trx: Knex.Transaction, installation: number, kind: RecordKind, result: SaveResult) {
  if (kind !== 'row') await markDirty(trx, installation, kind, result.changedIds);
  if (kind === 'invoice' && result.changedIds.length > 0) await markPaymentsOf(trx, installation, result.changedIds);
  if ((kind === 'row' || kind === 'payment') && result.changedParents.length > 0) {
    await markKnown(trx, installation, 'invoice', result.changedParents);
  }
}

/** Marks documents to be judged again, making their rows where they are new. Ids in order, so that markers do not deadlock. */
export async function markDirty(db: Db | Knex.Transaction, installation: number, kind: DocumentKind, ids: number[]) {
  if (ids.length === 0) return;
  await db.raw(
    `insert into document (installation, kind, id)
     select ?, ?, id from unnest(?::bigint[]) as t(id) order by id
     on conflict (installation, kind, id) do update set dirty = true, dirty_mark = document.dirty_mark + 1`,
    [installation, kind, ids],
  );
}

async function markPaymentsOf(trx: Knex.Transaction, installation: number, invoices: number[]) {
  // Two statements: joined, a fresh database without statistics plans this badly enough to run into its time-out.
  const payments = await query<{ id: number }>(
    trx,
    `select id from mirror_record where installation = ? and kind = 'payment' and parent_id = any(?)`,
    [installation, invoices],
  );
  await markKnown(
    trx,
    installation,
    'payment',
    payments.map((row) => row.id),
  );
}

/** Marks those of the documents that are known already. Ids in order, so that markers do not deadlock. */
async function markKnown(trx: Knex.Transaction, installation: number, kind: DocumentKind, ids: number[]) {
  if (ids.length === 0) return;
  await query(trx, `select from document where installation = ? and kind = ? and id = any(?) order by id for update`, [
    installation,
    kind,
    ids,
  ]);
  await query(
    trx,
    `update document set dirty = true, dirty_mark = dirty_mark + 1 where installation = ? and kind = ? and id = any(?)`,
    [installation, kind, ids],
  );
}

/**
 * Notes that the row sets of `invoices` were fetched whole at `sourceTime`: rows that the answer no longer held are gone,
 * and the invoices are judged again.
 */
export async function settleRowSets(
  trx: Knex.Transaction,
  installation: number,
  invoices: number[],
  sourceTime: Date,
): Promise<void> {
  if (invoices.length === 0) return;
  const gone = await trx.raw<{ rows: { parent_id: number }[] }>(
    `update mirror_record set gone_at = ? where installation = ? and kind = 'row' and parent_id = any(?)
       and gone_at is null and source_time < ? returning parent_id`,
    [sourceTime, installation, invoices, sourceTime],
  );
  const settled = await trx.raw<{ rows: { id: number }[] }>(
    `update mirror_record set rows_source_time = ? where installation = ? and kind = 'invoice' and id = any(?)
       and (rows_source_time is null or rows_source_time < ?) returning id`,
    [sourceTime, installation, invoices, sourceTime],
  );
  const touched = new Set([...gone.rows.map((row) => row.parent_id), ...settled.rows.map((row) => row.id)]);
  await markKnown(trx, installation, 'invoice', [...touched]);
}

/** Parses the raw text of a mirrored record back into its facts. */
export function readRecord(kind: RecordKind, raw: string, dialect: Dialect): SourceRecord {
  return parseRecord(kind, parseJson(raw), dialect);
}
