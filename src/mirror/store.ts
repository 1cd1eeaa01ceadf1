import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import { type Db, query } from '../db/pool.ts';
import { instantOf, isToldTwice } from '../domain/dates.ts';
import type { Dialect } from '../records/dialect.ts';
import { canonicalJson, parseJson } from '../records/json.ts';
import { parseRecord, recordOf } from '../records/schema.ts';
import type { SourceRecord } from '../records/types.ts';
import type { DocumentKind, RecordKind } from '../terms.ts';

/** Status 3 Finalized: the only one that posts (practice-api: Invoice status). */
const finalStatus = 3;
const hourMs = 3_600_000;

export interface MirrorScope {
  installation: number;
  timezone: string;
  dialect: Dialect;
}

/** One answer's records, as received. */
export interface IncomingPage {
  results: { id: number; raw: string; value: unknown; record?: SourceRecord | undefined }[];
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
  /** Of the text: a server that writes the same otherwise is told by its content, once. */
  hash: string;
  parentId: number | null;
  modified: Date | null;
  /** `modified` carries no offset and may mean an hour later. */
  mayBeLater: boolean;
  needsRows: boolean;
  record: SourceRecord;
}

/** A prepayment's version and the one it replaces, as JSON text. */
export interface NewVersion {
  id: number;
  previousRaw: string;
  raw: string;
}

/** The ids of those that differ only by what we wrote back ourselves (src/writeback). */
export type FindOwnEchoes = (versions: NewVersion[]) => Promise<Set<number>>;

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
  findOwnEchoes: FindOwnEchoes = async () => new Set(),
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
  const differing: Incoming[] = [];
  const unchanged: Incoming[] = [];
  for (const id of ids) {
    const next = incoming.get(id)!;
    const previous = held.get(id);
    if (!previous) inserts.push(next);
    else if (previous.content_hash === next.hash && previous.gone_at === null) unchanged.push(next);
    else if (isLater(page.sourceTime, next, previous)) differing.push(next);
  }

  const updates: Incoming[] = [];
  const parents = new Set<number>();
  const raws = await rawRecords(trx, scope.installation, kind, idsOf(differing));
  for (const next of differing) {
    const previous = held.get(next.id)!;
    const raw = raws.get(next.id)!;
    if (previous.gone_at === null && isSameContent(raw, next)) {
      unchanged.push(next);
      continue;
    }
    updates.push(next);
    if (previous.parent_id !== null && previous.parent_id !== next.parentId) parents.add(previous.parent_id);
  }
  const echoes =
    kind === 'prepayment' && updates.length > 0
      ? await findOwnEchoes(updates.map(({ id, raw }) => ({ id, raw, previousRaw: raws.get(id)! })))
      : new Set<number>();
  await keepReplaced(trx, scope.installation, kind, idsOf(updates));
  await upsert(trx, scope.installation, kind, [...inserts, ...updates], page);
  await confirm(trx, scope.installation, kind, unchanged, page.sourceTime);

  const changed = [...inserts, ...updates].filter((next) => !echoes.has(next.id));
  for (const next of changed) if (next.parentId !== null) parents.add(next.parentId);
  result.pulled = changed.length;
  result.changedIds = changed.map((next) => next.id);
  result.changedParents = [...parents];
  if (kind === 'row') await doubtRowSets(trx, scope.installation, result.changedParents);
  await markTouched(trx, scope.installation, kind, result);
  return result;
}

function describe(scope: MirrorScope, kind: RecordKind, item: IncomingPage['results'][number]): Incoming {
  const record = recordOf(kind, item, scope.dialect);
  // A payment has no `modified` of its own: its `date_added` stands in, it is never changed (practice-api: Invoice payment).
  const stamp = record.kind === 'payment' ? (record.modified ?? record.dateAdded) : record.modified;
  const modified = stamp === null ? null : instantOf(stamp, scope.timezone);
  return {
    id: item.id,
    raw: item.raw,
    hash: hash('sha256', item.raw),
    parentId: record.kind === 'row' || record.kind === 'payment' ? record.invoiceId : null,
    modified,
    mayBeLater: modified !== null && !/(Z|[+-]\d{2}:?\d{2})$/i.test(stamp!) && isToldTwice(modified, scope.timezone),
    needsRows: record.kind === 'invoice' && record.status === finalStatus,
    record,
  };
}

/** Whether it says the same in other words: keys in another order, 1.50 for 1.5. */
function isSameContent(previousRaw: string, next: Incoming): boolean {
  return canonicalJson(parseJson(previousRaw)) === canonicalJson(parseJson(next.raw));
}

function idsOf(records: Incoming[]): number[] {
  return records.map(({ id }) => id);
}

function isLater(sourceTime: Date, next: Incoming, previous: Held): boolean {
  // What a later answer no longer held comes back by a still later one only.
  if (previous.gone_at !== null) return sourceTime > previous.source_time;
  // Answers carry whole seconds: within one, the record's own clock decides, but for an hour that it tells twice.
  if (next.modified && previous.modified && next.modified.getTime() !== previous.modified.getTime()) {
    const apart = Math.abs(next.modified.getTime() - previous.modified.getTime());
    if (!next.mayBeLater || apart > hourMs) return next.modified > previous.modified;
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
  if (ids.length === 0) return new Map<number, string>();
  const found = await db.raw<{ rows: { id: number; raw: string }[] }>(
    `select id, raw from mirror_record where installation = ? and kind = ? and id = any(?)`,
    [installation, kind, ids],
  );
  return new Map(found.rows.map((row) => [row.id, row.raw]));
}

/** Notes that the records still stood as they were at `sourceTime`. */
async function confirm(
  trx: Knex.Transaction,
  installation: number,
  kind: RecordKind,
  records: Incoming[],
  sourceTime: Date,
): Promise<void> {
  if (records.length === 0) return;
  await trx.raw(
    `update mirror_record m set source_time = ?, content_hash = t.hash
     from unnest(?::bigint[], ?::text[]) as t(id, hash)
     where m.installation = ? and m.kind = ? and m.id = t.id and m.source_time < ?`,
    [sourceTime, idsOf(records), records.map((record) => record.hash), installation, kind, sourceTime],
  );
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
     select ?, ?, t.id, t.parent_id, 1, t.modified, ?, ?, t.hash, t.raw, t.needs_rows,
       case when t.needs_rows then least(date_trunc('second', coalesce(t.modified, ?)) + interval '1 second', ?) end
     from rows from (unnest(?::bigint[]), unnest(?::bigint[]), unnest(?::timestamptz[]), unnest(?::text[]),
       json_array_elements(?::json), unnest(?::boolean[])) as t(id, parent_id, modified, hash, raw, needs_rows)
     on conflict (installation, kind, id) do update set
       parent_id = excluded.parent_id, version = mirror_record.version + 1, modified = excluded.modified,
       source_time = excluded.source_time, content_hash = excluded.content_hash, raw = excluded.raw,
       needs_rows = excluded.needs_rows, rows_fresh_from = excluded.rows_fresh_from, rows_source_time = null,
       gone_at = null`,
    [
      installation,
      kind,
      page.sourceTime,
      page.answeredAt,
      page.answeredAt,
      new Date(Math.ceil(page.answeredAt.getTime() / 1000) * 1000),
      records.map((record) => record.id),
      records.map((record) => record.parentId),
      records.map((record) => record.modified),
      records.map((record) => record.hash),
      // One JSON text rather than an array of texts: nothing to escape, and its elements keep their own text.
      `[${records.map((record) => record.raw).join(',')}]`,
      records.map((record) => record.needsRows),
    ],
  );
}

/** A set in which a row has changed is whole again only when it is next fetched as a whole (`settleRowSets`). */
async function doubtRowSets(trx: Knex.Transaction, installation: number, invoices: number[]) {
  if (invoices.length === 0) return;
  await query(
    trx,
    `update mirror_record set rows_source_time = null where installation = ? and kind = 'invoice' and id = any(?)
       and rows_source_time is not null`,
    [installation, invoices],
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

/**
 * Marks documents to be judged again, making their rows where they are new. Ids in order, so that markers do not deadlock. One
 * that is marked already stays as it is: the lock on its row, taken before its mark is looked at, waits for a poster who is
 * judging it, and keeps the next one out until what we saved can be seen.
 */
export async function markDirty(db: Db | Knex.Transaction, installation: number, kind: DocumentKind, ids: number[]) {
  if (ids.length === 0) return;
  await db.raw(
    `insert into document (installation, kind, id)
     select ?, ?, id from unnest(?::bigint[]) as t(id) order by id
     on conflict (installation, kind, id) do update set dirty = true, dirty_mark = document.dirty_mark + 1
     where not document.dirty`,
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
    `update document set dirty = true, dirty_mark = dirty_mark + 1
     where installation = ? and kind = ? and id = any(?) and not dirty`,
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
    `update mirror_record set gone_at = ?, source_time = ? where installation = ? and kind = 'row' and parent_id = any(?)
       and gone_at is null and source_time < ? returning parent_id`,
    [sourceTime, sourceTime, installation, invoices, sourceTime],
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
