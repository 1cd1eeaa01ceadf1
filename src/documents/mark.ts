import { type Connection, execute, rows } from '../db/rows.ts';
import { declinedProblem, lockProblems } from '../domain/problems.ts';
import { type CalendarDate, type DocumentKind, documentKinds } from '../terms.ts';
import type { ProblemCode } from '../texts/problems.ts';

/**
 * Marks documents to be judged again (`dirty`), and inserts new ones. Ids are locked in their order, so that two
 * transactions that mark documents do not deadlock. A document that is marked already keeps its mark, but its row is
 * locked, too. The lock waits for a transaction that is judging it, and prevents another judgement before the caller
 * commits.
 */
export async function markDirty(
  trx: Connection,
  installation: number,
  kind: DocumentKind,
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    trx,
    `insert into document (installation, kind, id)
     select ?, ?, id from unnest(?::bigint[]) as t(id) order by id
     on conflict (installation, kind, id) do update set dirty = true, dirty_mark = document.dirty_mark + 1
     where not document.dirty`,
    [installation, kind, ids],
  );
}

export interface MarkOptions {
  /** Leaves out documents that are held, or posted with a held change. */
  withoutProblem?: boolean;
}

/** Like `markDirty`, but only for documents that exist already. */
export async function markKnown(
  trx: Connection,
  installation: number,
  kind: DocumentKind,
  ids: readonly number[],
  options: MarkOptions = {},
): Promise<void> {
  await lock(trx, installation, kind, ids);
  await markLocked(trx, installation, kind, ids, options);
}

/** Ids of documents by their kind. */
export type DocumentIds = Partial<Record<DocumentKind, readonly number[]>>;

/**
 * Marks documents of several kinds: the `changed` ones like `markDirty`, the `known` ones like `markKnown`. All of them
 * are locked in the order of kind and id, like in posting, because a page of invoices and a page of their payments mark
 * the same documents.
 */
export async function markTogether(
  trx: Connection,
  installation: number,
  { changed, known }: { changed: DocumentIds; known: DocumentIds },
): Promise<void> {
  for (const kind of documentKinds) {
    await lock(trx, installation, kind, [...(changed[kind] ?? []), ...(known[kind] ?? [])]);
  }
  for (const kind of documentKinds) {
    await markDirty(trx, installation, kind, changed[kind] ?? []);
    await markLocked(trx, installation, kind, known[kind] ?? []);
  }
}

async function lock(trx: Connection, installation: number, kind: DocumentKind, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await rows(
    trx,
    {},
    `select from document where installation = ? and kind = ? and id = any(?) order by id for update`,
    [installation, kind, ids],
  );
}

async function markLocked(
  trx: Connection,
  installation: number,
  kind: DocumentKind,
  ids: readonly number[],
  { withoutProblem = false }: MarkOptions = {},
): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    trx,
    `update document set dirty = true, dirty_mark = dirty_mark + 1
     where installation = ? and kind = ? and id = any(?) and not dirty and (problem_code is null or not ?)`,
    [installation, kind, ids, withoutProblem],
  );
}

/**
 * SQL condition: documents that may be posted after a change of the mapping, the start date or a lock date. These are
 * documents with a problem and documents before the start date (ACCOUNTING "Held").
 */
export const dependsOnConditions = `(problem_code is not null or state = 'before_start')`;

/** Remarks that depend on the mapping: the valid days and the kind of a VAT group. */
const mappingRemarks: readonly ProblemCode[] = ['vat_rate_expired', 'eu_without_vat_number'];

/**
 * Marks every document that may be posted under changed conditions, and those with a remark that depends on the
 * mapping.
 */
export async function markForChangedConditions(trx: Connection, installation: number): Promise<void> {
  await execute(
    trx,
    `update document d set dirty = true, dirty_mark = dirty_mark + 1 from document_report r
     where r.installation = ? and r.code = any(?) and d.installation = r.installation and d.kind = r.kind and d.id = r.id
       and not d.dirty`,
    [installation, mappingRemarks],
  );
  await execute(
    trx,
    `update document set dirty = true, dirty_mark = dirty_mark + 1 where installation = ? and ${dependsOnConditions}`,
    [installation],
  );
}

/** Marks documents that were held because they are dated in the future, and whose date is not after `through`. */
export async function markDatesReached(trx: Connection, installation: number, through: CalendarDate): Promise<void> {
  await execute(
    trx,
    `update document set dirty = true, dirty_mark = dirty_mark + 1
     where installation = ? and problem_code = 'date_in_future' and document_date <= ?::date and not dirty`,
    [installation, through],
  );
}

/**
 * Stores that documents were late when the books were closed: those that a lock keeps out of the books, dated up to the
 * last closed day. Reopening the books does not post them.
 */
export async function noteLateAtClose(trx: Connection, installation: number, through: CalendarDate): Promise<void> {
  await execute(
    trx,
    `update document set late_at_close = true where installation = ? and problem_code = any(?) and document_date <= ?::date`,
    [installation, [...lockProblems, declinedProblem], through],
  );
}
