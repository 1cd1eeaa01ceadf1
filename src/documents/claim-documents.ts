import { rowsAsArrays } from '../db/bulk.ts';
import type { Connection } from '../db/rows.ts';
import type { DocumentKind, DocumentRef } from '../terms.ts';
import { type DocumentCursor, documentRefTypes, type StoredDocument, selectDocuments } from './document.ts';
import { dependsOnConditions } from './mark.ts';

/**
 * Locks the next marked documents for this transaction, skipping those that another transaction has locked. Documents
 * that wait for their parts are left out. With `includeAwaitingParts` they are included if they were not judged since
 * `judgedBefore`.
 */
export function claimDocuments(
  trx: Connection,
  installation: number,
  options: { limit: number; includeAwaitingParts: boolean; judgedBefore: Date; kind?: DocumentKind },
): Promise<StoredDocument[]> {
  const { kind } = options;
  return selectDocuments(
    trx,
    `installation = ? and dirty ${kind ? 'and kind = ?' : ''} and (refetch <> 'wanted' or (? and (judged_at is null or judged_at < ?)))
     order by kind, id limit ? for update skip locked`,
    [installation, ...(kind ? [kind] : []), options.includeAwaitingParts, options.judgedBefore, options.limit],
  );
}

/** Locks those of the documents that are still marked, skipping those that another transaction has locked. */
export function claimThese(
  trx: Connection,
  installation: number,
  documents: readonly DocumentRef[],
): Promise<StoredDocument[]> {
  const { from, bindings } = rowsAsArrays(
    'wanted',
    documentRefTypes,
    documents.map(({ kind, id }) => ({ kind, id })),
  );
  return selectDocuments(
    trx,
    `installation = ? and dirty and (kind, id) in (select wanted.kind, wanted.id from ${from})
     order by kind, id for update skip locked`,
    [installation, ...bindings],
  );
}

/**
 * The documents that the next window will judge, without locking them: marked ones, and with `conditionsChanged` also
 * those that the window will mark when it opens (`markForChangedConditions`).
 */
export function waitingDocuments(
  db: Connection,
  installation: number,
  options: { after: DocumentCursor; limit: number; conditionsChanged: boolean },
): Promise<StoredDocument[]> {
  const { after, limit, conditionsChanged } = options;
  return selectDocuments(
    db,
    `installation = ? and (dirty or (? and ${dependsOnConditions})) and (kind, id) > (?::text, ?::bigint)
     order by kind, id limit ?`,
    [installation, conditionsChanged, after?.kind ?? '', after?.id ?? 0, limit],
  );
}
