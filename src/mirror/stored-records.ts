import { instant, integer, json, nullable, type RowOf, text } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import type { ReadSpan } from '../domain/read-at.ts';
import type { RecordKind } from '../terms.ts';
import type { IncomingPage, IncomingRecord } from './types.ts';

const storedShape = {
  id: integer,
  contentHash: text,
  fieldMap: text,
  sourceTime: instant,
  askedAt: instant,
  answeredAt: instant,
  modified: nullable(instant),
  goneAt: nullable(instant),
  missingAt: nullable(instant),
  parentId: nullable(integer),
};

/** A stored record without its text. */
export type StoredRecord = RowOf<typeof storedShape>;

/** The stored versions of these records by id, locked for this transaction in the order of their ids. */
export async function lockStored(
  trx: Connection,
  installation: number,
  kind: RecordKind,
  ids: readonly number[],
): Promise<Map<number, StoredRecord>> {
  const stored = await rows(
    trx,
    storedShape,
    `select id, content_hash as "contentHash", field_map as "fieldMap", source_time as "sourceTime", asked_at as "askedAt",
       answered_at as "answeredAt", modified, gone_at as "goneAt",
       missing_at as "missingAt", parent_id as "parentId"
     from mirror_record where installation = ? and kind = ? and id = any(?) order by id for update`,
    [installation, kind, ids],
  );
  return new Map(stored.map((record) => [record.id, record]));
}

/** Whether the mirror has any record of the installation. */
export async function hasRecords(db: Connection, installation: number): Promise<boolean> {
  const sql = 'select id from mirror_record where installation = ? limit 1';
  return (await rows(db, { id: integer }, sql, [installation])).length > 0;
}

/** The newest raw text of records, by id. */
export async function rawRecords(
  db: Connection,
  installation: number,
  kind: RecordKind,
  ids: readonly number[],
): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map();
  const found = await rows(
    db,
    { id: integer, raw: json },
    `select id, raw from mirror_record where installation = ? and kind = ? and id = any(?)`,
    [installation, kind, ids],
  );
  return new Map(found.map(({ id, raw }) => [id, raw]));
}

/** Stores that the records had the same content in the answers `read`. */
export async function confirmUnchanged(
  trx: Connection,
  installation: number,
  kind: RecordKind,
  ids: readonly number[],
  { sourceTime, askedAt, answeredAt }: ReadSpan,
): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    trx,
    `update mirror_record set source_time = ?, asked_at = ?, answered_at = ?
     where installation = ? and kind = ? and id = any(?) and asked_at < ?`,
    [sourceTime, askedAt, answeredAt, installation, kind, ids, askedAt],
  );
}

/** Stores that missing records were shown again. */
export async function markShown(
  trx: Connection,
  installation: number,
  kind: RecordKind,
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    trx,
    `update mirror_record set missing_at = null, missing_answer = null, missing_many = false
     where installation = ? and kind = ? and id = any(?)`,
    [installation, kind, ids],
  );
}

/**
 * Reduces the stored texts of records to the fields that this list of kept fields keeps. Their version numbers stay.
 */
export async function keepByMap(
  trx: Connection,
  installation: number,
  kind: RecordKind,
  fieldMap: string,
  records: readonly Pick<IncomingRecord, 'id' | 'raw' | 'hash' | 'numberKey' | 'idNeedsLook'>[],
): Promise<void> {
  if (records.length === 0) return;
  await execute(
    trx,
    `update mirror_record m set raw = t.raw, content_hash = t.hash, field_map = ?, number_key = t.number_key,
       id_needs_look = t.id_needs_look
     from rows from (unnest(?::bigint[]), unnest(?::text[]), json_array_elements(?::json), unnest(?::text[]), unnest(?::boolean[]))
       as t(id, hash, raw, number_key, id_needs_look)
     where m.installation = ? and m.kind = ? and m.id = t.id`,
    [
      fieldMap,
      records.map(({ id }) => id),
      records.map(({ hash }) => hash),
      `[${records.map(({ raw }) => raw).join(',')}]`,
      records.map(({ numberKey }) => numberKey),
      records.map(({ idNeedsLook }) => idNeedsLook),
      installation,
      kind,
    ],
  );
}

/** Copies the stored versions of records into the history, before newer ones replace them. */
export async function keepReplaced(
  trx: Connection,
  installation: number,
  kind: RecordKind,
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    trx,
    `insert into mirror_version (installation, kind, id, version, modified, source_time, content_hash, raw)
     select installation, kind, id, version, modified, source_time, content_hash, raw from mirror_record
     where installation = ? and kind = ? and id = any(?)`,
    [installation, kind, ids],
  );
}

/** Inserts new records and replaces stored ones. The row set of a replaced invoice counts as never fetched. */
export async function upsert(
  trx: Connection,
  installation: number,
  kind: RecordKind,
  fieldMap: string,
  records: readonly IncomingRecord[],
  page: Pick<IncomingPage, 'sourceTime' | 'sourceTimeAtMost' | 'askedAt' | 'answeredAt'>,
): Promise<void> {
  if (records.length === 0) return;
  await execute(
    trx,
    `insert into mirror_record (installation, kind, id, parent_id, version, modified, source_time, asked_at,
       answered_at, first_seen_at, field_map, content_hash, raw, needs_rows, rows_fresh_from, number_key, id_needs_look)
     select ?, ?, t.id, t.parent_id, 1, t.modified, ?, ?, ?, ?, ?, t.hash, t.raw, t.needs_rows,
       case when t.needs_rows then least(date_trunc('second', coalesce(t.modified, ?)) + interval '1 second', ?) end,
       t.number_key, t.id_needs_look
     from rows from (unnest(?::bigint[]), unnest(?::bigint[]), unnest(?::timestamptz[]), unnest(?::text[]),
       json_array_elements(?::json), unnest(?::boolean[]), unnest(?::text[]), unnest(?::boolean[]))
       as t(id, parent_id, modified, hash, raw, needs_rows, number_key, id_needs_look)
     on conflict (installation, kind, id) do update set
       parent_id = excluded.parent_id, version = mirror_record.version + 1, modified = excluded.modified,
       source_time = excluded.source_time, asked_at = excluded.asked_at, answered_at = excluded.answered_at,
       field_map = excluded.field_map, content_hash = excluded.content_hash, raw = excluded.raw,
       needs_rows = excluded.needs_rows, rows_fresh_from = excluded.rows_fresh_from, rows_source_time = null,
       gone_at = null, number_key = excluded.number_key, id_needs_look = excluded.id_needs_look`,
    [
      installation,
      kind,
      page.sourceTime,
      page.askedAt,
      page.answeredAt,
      page.answeredAt,
      fieldMap,
      page.sourceTimeAtMost,
      new Date(Math.ceil(page.sourceTimeAtMost.getTime() / 1000) * 1000),
      records.map((record) => record.id),
      records.map((record) => record.parentId),
      records.map((record) => record.modified),
      records.map((record) => record.hash),
      // The records are sent as one JSON text, whose elements keep their text unchanged. An array of texts would need
      // escapes.
      `[${records.map((record) => record.raw).join(',')}]`,
      records.map((record) => record.needsRows),
      records.map((record) => record.numberKey),
      records.map((record) => record.idNeedsLook),
    ],
  );
}

/**
 * Replaces records by versions that differ only by the values that we wrote back. Their rows and parents have not
 * changed, so a row set that was fresh before stays fresh (proof P2).
 */
export async function replaceByEchoes(
  trx: Connection,
  installation: number,
  kind: RecordKind,
  records: readonly IncomingRecord[],
  { sourceTime, askedAt, answeredAt }: ReadSpan,
): Promise<void> {
  if (records.length === 0) return;
  await execute(
    trx,
    `update mirror_record m set version = m.version + 1, modified = t.modified, source_time = ?, asked_at = ?,
       answered_at = ?, content_hash = t.hash, raw = t.raw, gone_at = null, id_needs_look = t.id_needs_look
     from rows from (unnest(?::bigint[]), unnest(?::timestamptz[]), unnest(?::text[]), json_array_elements(?::json), unnest(?::boolean[]))
       as t(id, modified, hash, raw, id_needs_look)
     where m.installation = ? and m.kind = ? and m.id = t.id`,
    [
      sourceTime,
      askedAt,
      answeredAt,
      records.map(({ id }) => id),
      records.map(({ modified }) => modified),
      records.map(({ hash }) => hash),
      `[${records.map(({ raw }) => raw).join(',')}]`,
      records.map(({ idNeedsLook }) => idNeedsLook),
      installation,
      kind,
    ],
  );
}

/** Stores a record, or a version of one, after personal data were erased from it. Its content hash stays. */
export async function storeErased(
  trx: Connection,
  table: 'mirror_record' | 'mirror_version',
  { installation, kind, id, version }: { installation: number; kind: RecordKind; id: number; version: number },
  raw: string,
): Promise<void> {
  await execute(
    trx,
    `update ${table} set raw = ?::json where installation = ? and kind = ? and id = ? and version = ?`,
    [raw, installation, kind, id, version],
  );
}
