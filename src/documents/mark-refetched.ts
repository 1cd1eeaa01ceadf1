import { rowsAsArrays } from '../db/bulk.ts';
import { type Connection, execute } from '../db/rows.ts';
import type { DocumentRef } from '../terms.ts';
import { documentRefTypes } from './document.ts';

/** Stores that the parts of documents have been fetched again, and marks the documents to be judged with them. */
export function markRefetched(db: Connection, installation: number, documents: readonly DocumentRef[]): Promise<void> {
  return update(db, installation, documents, `refetch = 'done', dirty = true, dirty_mark = d.dirty_mark + 1`);
}

/**
 * Stores that the parts of documents have been fetched again, without marking them. The next pull marks those with a
 * changed part.
 */
export function noteRefetched(db: Connection, installation: number, documents: readonly DocumentRef[]): Promise<void> {
  return update(db, installation, documents, `refetch = 'done'`);
}

async function update(db: Connection, installation: number, documents: readonly DocumentRef[], set: string) {
  if (documents.length === 0) return;
  const { from, bindings } = rowsAsArrays(
    'fetched',
    documentRefTypes,
    documents.map(({ kind, id }) => ({ kind, id })),
  );
  // Documents are locked in their order, so that this statement and the marking of documents do not deadlock.
  await execute(
    db,
    `with locked as (
       select d.kind, d.id from document d join ${from} on d.kind = fetched.kind and d.id = fetched.id
       where d.installation = ? order by d.kind, d.id for update of d)
     update document d set ${set} from locked where d.installation = ? and d.kind = locked.kind and d.id = locked.id`,
    [...bindings, installation, installation],
  );
}
