import { rowsAsArrays } from '../db/bulk.ts';
import { instant, integer, nullable, oneOf } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { markDirty } from '../documents/mark.ts';
import { countPosted, inForceOf, reportMissing } from '../documents/missing-documents.ts';
import { absenceCode, absenceMessage, hasShrunk, type LookUpAnswer, lookUpAnswers } from '../domain/absence.ts';
import type { ReadSpan } from '../domain/read-at.ts';
import type { DocumentKind } from '../terms.ts';

/** A record that a completely read list did not show, and the answer to a request for its id. */
export interface NotShown {
  id: number;
  answer: LookUpAnswer;
}

/**
 * Stores that the answers `read` did not show some records (ACCOUNTING "Absence"). A record with an entry in force
 * becomes missing: its last version still counts, and its document gets a problem. Any other record becomes gone if a
 * request for its id did not find it either. Only an answer to a later request brings it back.
 */
export async function markNotShown(
  trx: Connection,
  installation: number,
  kind: DocumentKind,
  notShown: readonly NotShown[],
  read: ReadSpan,
): Promise<{ gone: number[]; missing: number[] }> {
  const all = notShown.map(({ id }) => id);
  // Records are locked before documents, in the same order as when a page is saved.
  await lockRecords(trx, installation, kind, all);
  const posted = await inForceOf(trx, installation, kind, all, { lock: true });
  const gone = notShown.flatMap(({ id, answer }) => (!posted.has(id) && answer === 'no_record' ? [id] : []));
  const missing = notShown.filter(({ id }) => posted.has(id));
  if (gone.length > 0) await markGone(trx, installation, kind, gone, read);
  if (missing.length > 0) await markMissing(trx, installation, kind, missing, read);
  return { gone, missing: missing.map(({ id }) => id) };
}

async function lockRecords(
  trx: Connection,
  installation: number,
  kind: DocumentKind,
  ids: readonly number[],
): Promise<void> {
  await rows(
    trx,
    {},
    'select from mirror_record where installation = ? and kind = ? and id = any(?) order by id for update',
    [installation, kind, ids],
  );
}

async function markGone(
  trx: Connection,
  installation: number,
  kind: DocumentKind,
  ids: readonly number[],
  { sourceTime, askedAt, answeredAt }: ReadSpan,
): Promise<void> {
  await execute(
    trx,
    `update mirror_record set gone_at = clock_timestamp(), missing_at = null, source_time = ?,
       asked_at = greatest(asked_at, ?), answered_at = greatest(answered_at, ?)
     where installation = ? and kind = ? and id = any(?)`,
    [sourceTime, askedAt, answeredAt, installation, kind, ids],
  );
  await markDirty(trx, installation, kind, ids);
}

async function markMissing(
  trx: Connection,
  installation: number,
  kind: DocumentKind,
  missing: readonly NotShown[],
  { askedAt }: ReadSpan,
): Promise<void> {
  const { from, bindings } = rowsAsArrays(
    'missing',
    { id: 'bigint', answer: 'text' },
    missing.map(({ id, answer }) => ({ id, answer: answer === 'not_asked' ? null : answer })),
  );
  await execute(
    trx,
    `update mirror_record m set missing_at = ?, missing_answer = missing.answer from ${from}
     where m.installation = ? and m.kind = ? and m.id = missing.id and m.missing_at is null`,
    [askedAt, ...bindings, installation, kind],
  );
}

/**
 * Gives each missing document of a list its problem. If very many documents are missing, all of them get one common
 * problem. Must be called at the end of a census, which has marked all records that the list does not show.
 */
export async function reportAllMissing(trx: Connection, installation: number, kind: DocumentKind): Promise<number> {
  const missing = await rows(
    trx,
    { id: integer, since: instant, answer: nullable(oneOf(lookUpAnswers)) },
    `select id, missing_at as since, missing_answer as answer from mirror_record
     where installation = ? and kind = ? and missing_at is not null order by id for update`,
    [installation, kind],
  );
  if (missing.length === 0) return 0;
  const isOfMany = hasShrunk(missing.length, await countPosted(trx, installation, kind));
  await execute(
    trx,
    'update mirror_record set missing_many = ? where installation = ? and kind = ? and missing_at is not null',
    [isOfMany, installation, kind],
  );
  const code = absenceCode({ isOfMany });
  await reportMissing(
    trx,
    installation,
    kind,
    missing.map(({ id, since, answer }) => ({
      id,
      code,
      message: absenceMessage({ kind, id }, { since, answer: answer ?? 'not_asked', isOfMany }),
    })),
  );
  return missing.length;
}

/**
 * Marks missing records, and missing rows of invoices, as gone after a person has confirmed it. Returns the documents
 * concerned; the caller marks them.
 */
export async function confirmAbsence(
  trx: Connection,
  installation: number,
  kind: DocumentKind,
  ids: readonly number[],
): Promise<Set<number>> {
  const accepted = await rows(
    trx,
    { id: integer },
    // An answer that was already on its way does not bring the record back.
    `update mirror_record set gone_at = clock_timestamp(), missing_at = null, missing_answer = null, missing_many = false,
       asked_at = greatest(asked_at, clock_timestamp()), answered_at = greatest(answered_at, clock_timestamp())
     where installation = ? and missing_at is not null
       and (kind = ? and id = any(?) or ? = 'invoice' and kind = 'row' and parent_id = any(?))
     returning case when kind = 'row' then parent_id else id end as id`,
    [installation, kind, ids, kind, ids],
  );
  return new Set(accepted.map(({ id }) => id));
}

/** Invoices with missing rows. Their row sets are fetched again. */
export async function invoicesWithMissingRows(db: Connection, installation: number, limit: number): Promise<number[]> {
  const found = await rows(
    db,
    { id: integer },
    `select distinct parent_id as id from mirror_record
     where installation = ? and kind = 'row' and missing_at is not null and parent_id is not null order by 1 limit ?`,
    [installation, limit],
  );
  return found.map(({ id }) => id);
}

/** Lists with missing records. */
export async function listsWithMissing(db: Connection, installation: number): Promise<Set<string>> {
  const found = await rows(
    db,
    { kind: oneOf(['invoice', 'row', 'payment', 'prepayment'] as const) },
    'select distinct kind from mirror_record where installation = ? and missing_at is not null',
    [installation],
  );
  return new Set(found.map(({ kind }) => kind));
}
