import { rowsAsArrays } from '../db/bulk.ts';
import { integer, nullable, oneOf, text } from '../db/columns.ts';
import { isCausedByData, kindOfError, retryingTransaction } from '../db/database-errors.ts';
import type { Transact } from '../db/lease.ts';
import { type Connection, execute, row, rows } from '../db/rows.ts';
import { markDirty, markKnown } from '../documents/mark.ts';
import { divideFailed } from '../domain/divide-failed.ts';
import type { Problem } from '../domain/problems.ts';
import type { Place } from '../records/unusable.ts';
import { type DocumentKind, type DocumentRef, type RecordKind, recordKinds } from '../terms.ts';
import { mirrorTexts } from '../texts/findings/mirror.ts';
import { isUnusable, placeColumns, placeOf } from './put-unusable-aside.ts';
import { parentOf, type Reason, refusedIn } from './refused-records.ts';
import { savePage } from './save-page.ts';
import type { FindOwnEchoes, IncomingPage, MirrorScope, SaveResult } from './types.ts';

/**
 * Records that could not be stored, or that contradict themselves (table `put_aside`). Each holds its document, even if
 * the mirror has an earlier version, until an answer contains the record in a valid form. Windows and the census
 * request it again (src/sync/aside.ts). put-unusable-aside.ts has the records from which no document can be made.
 */

/** The problem codes of records put aside. */
const asideCodes = [
  'internal_error',
  'contradiction',
  'foreign_reference',
  'record_unusable',
  'foreign_record',
] as const;

/**
 * Saves a page in a transaction, together with the work of `inTransaction`. If the page's content makes that fail, the
 * records are saved in smaller and smaller parts. Records that fail alone are put aside, and the page is saved without
 * them.
 */
export async function savePageOrAside<T>(
  transact: Transact,
  scope: MirrorScope,
  kind: RecordKind,
  page: IncomingPage,
  findOwnEchoes: FindOwnEchoes,
  inTransaction: (trx: Connection, saved: SaveResult) => Promise<T>,
): Promise<T> {
  let pulled = 0;
  const refused = refusedIn(scope, kind, page.results);
  const save = (failed: ReadonlySet<number>) =>
    retryingTransaction(transact, async (trx) => {
      for (const [id, reason] of [...refused].toSorted(([a], [b]) => a - b)) {
        await putAside(trx, scope.installation, kind, id, reason, page.answeredAt);
      }
      const aside = new Set([...failed, ...refused.keys()]);
      const saved = await savePage(trx, scope, kind, { ...page, aside }, findOwnEchoes);
      return inTransaction(trx, { ...saved, pulled: saved.pulled + pulled });
    });
  try {
    return await save(new Set());
  } catch (error) {
    const aside = new Set<number>();
    const results = page.results.filter(({ id }) => !refused.has(id));
    await divideFailed(results, error, {
      work: async (some) => {
        const part = { ...page, results: [...some], unusable: [] };
        const saved = await retryingTransaction(transact, (trx) => savePage(trx, scope, kind, part, findOwnEchoes));
        pulled += saved.pulled;
      },
      isTheirs: isCausedByData,
      culprit: async (item, failure) => {
        aside.add(item.id);
        const reason = kindOfError(failure);
        const message = mirrorTexts.failedUnexpectedly({ kind, id: item.id, step: mirrorTexts.storing, reason });
        const found: Reason = { code: 'internal_error', message, parentId: parentOf(scope, kind, item) };
        await transact((trx) => putAside(trx, scope.installation, kind, item.id, found, page.answeredAt));
      },
    });
    return await save(aside);
  }
}

/**
 * Puts a record aside and marks its document. For a row, this is the invoice in the mirror, or else the one that the
 * row names. `seenAt` is the time of the answer.
 */
async function putAside(
  trx: Connection,
  installation: number,
  kind: RecordKind,
  id: number,
  { code, message, parentId }: Reason,
  seenAt: Date,
): Promise<void> {
  const { parent } = await row(
    trx,
    { parent: nullable(integer) },
    `insert into put_aside as a (installation, kind, record, parent_id, code, message, seen_at) values (?, ?, ?, coalesce((
       select parent_id from mirror_record where installation = ? and kind = ? and id = ?), ?::bigint), ?, ?, ?)
     on conflict (installation, kind, record) do update set parent_id = excluded.parent_id, code = excluded.code,
       message = excluded.message, seen_at = excluded.seen_at returning parent_id as parent`,
    [installation, kind, String(id), installation, kind, id, parentId, code, message, seenAt],
  );
  if (kind !== 'row') await markDirty(trx, installation, kind, [id]);
  else if (parent !== null) await markKnown(trx, installation, 'invoice', [parent]);
}

/** The problems of documents that were put aside, or of which a row was; by `<kind>/<id>`. */
export async function asideProblems(
  db: Connection,
  installation: number,
  documents: readonly DocumentRef[],
): Promise<Map<string, Problem>> {
  const found = await rows(
    db,
    { kind: oneOf(recordKinds), record: text, parentId: nullable(integer), code: oneOf(asideCodes), message: text },
    `select kind, record, parent_id as "parentId", code, message from put_aside
     where installation = ? and (record = any(?) or kind = 'row' and parent_id = any(?))`,
    [installation, documents.map(({ id }) => String(id)), documents.map(({ id }) => id)],
  );
  const problems = new Map<string, Problem>();
  for (const { kind, record, parentId, code, message } of found) {
    const document: DocumentRef =
      kind === 'row' ? { kind: 'invoice', id: parentId ?? 0 } : { kind, id: Number(record) };
    problems.set(`${document.kind}/${document.id}`, { code, document, message });
  }
  return problems;
}

/** The ids of the records put aside, which are requested again. */
export async function asideIds(
  db: Connection,
  installation: number,
  kind: RecordKind,
  limit: number,
): Promise<number[]> {
  const found = await rows(
    db,
    { id: integer },
    `select record::bigint as id from put_aside where installation = ? and kind = ? and not ${isUnusable}
     order by seen_at, record limit ?`,
    [installation, kind, limit],
  );
  return found.map(({ id }) => id);
}

/** The invoices of which rows were put aside. */
export async function invoicesOfAside(db: Connection, installation: number, limit: number): Promise<number[]> {
  const found = await rows(
    db,
    { id: integer },
    `select parent_id as id from put_aside where installation = ? and kind = 'row' and parent_id is not null
     group by parent_id order by min(seen_at), parent_id limit ?`,
    [installation, limit],
  );
  return found.map(({ id }) => id).sort((a, b) => a - b);
}

/** A record put aside that must be requested again. */
export interface DueAside {
  kind: RecordKind;
  record: string;
  /** The invoice of a row. Null if it could not be read. */
  invoice: number | null;
  place: Place;
}

/** In this time after a record was put aside, every window may request the record again. */
const oftenMinutes = 10;

/**
 * Records put aside that are due for another request. For ten minutes they are always due. After that, the time between
 * two requests doubles. A correction is therefore found soon, and an unchanged record is requested only a few times on
 * the first day. The records whose last request is oldest come first: at most `sets` rows with a known invoice, and
 * `places` others.
 */
export async function dueAside(
  db: Connection,
  installation: number,
  { sets, places }: { sets: number; places: number },
): Promise<DueAside[]> {
  const found = await rows(
    db,
    { kind: oneOf(recordKinds), record: text, invoice: nullable(integer), ...placeColumns },
    `select kind, record, invoice, above, below, filters from (
       select *, row_number() over (partition by invoice is null order by asked_again_at nulls first, kind, record) as n
       from (select *, case when kind = 'row' then parent_id end as invoice from put_aside
             where installation = ? and (asked_again_at is null or clock_timestamp() < since + make_interval(mins => ?)
               or clock_timestamp() - asked_again_at >= asked_again_at - since)) waiting) due
     where n <= case when invoice is null then ?::int else ?::int end order by kind, record`,
    [installation, oftenMinutes, places, sets],
  );
  return found.map(({ kind, record, invoice, ...place }) => ({
    ...{ kind, record, invoice },
    place: record.startsWith('-')
      ? placeOf(place)
      : { above: Number(record) - 1, below: Number(record) + 1, filters: {} },
  }));
}

/** Stores that the records are being requested again. */
export async function markRequestedAgain(
  trx: Connection,
  installation: number,
  records: readonly Pick<DueAside, 'kind' | 'record'>[],
): Promise<void> {
  const { from, bindings } = rowsAsArrays(
    'again',
    { kind: 'text', record: 'text' },
    records.map(({ kind, record }) => ({ kind, record })),
  );
  await execute(
    trx,
    `update put_aside a set asked_again_at = clock_timestamp() from ${from}
     where a.installation = ? and a.kind = again.kind and a.record = again.record`,
    [...bindings, installation],
  );
}

/** The number of records of a kind that were put aside and of which the mirror has no version. */
export async function countAside(db: Connection, installation: number, kind: DocumentKind): Promise<number> {
  const { n } = await row(
    db,
    { n: integer },
    `select count(*) as n from put_aside a where installation = ? and kind = ? and not exists (
       select from mirror_record m where m.installation = a.installation and m.kind = a.kind and m.id = a.record::bigint)`,
    [installation, kind],
  );
  return n;
}
