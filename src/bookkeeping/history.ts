import type { Connection } from '../db/rows.ts';
import type { StoredDocument } from '../documents/document.ts';
import { loadEntries } from '../ledger/journal/read.ts';
import type { PostedBefore } from '../posting/types.ts';

/** A document, and what the books hold of it so far. */
export interface DocumentWithHistory extends StoredDocument {
  before: PostedBefore;
}

/** Loads the entries in force of documents; one statement for any number of documents. */
export async function withHistory(
  db: Connection,
  documents: readonly StoredDocument[],
): Promise<DocumentWithHistory[]> {
  const ids = documents.flatMap(({ entryId }) => (entryId === null ? [] : [entryId]));
  const entries = new Map((await loadEntries(db, ids)).map((entry) => [entry.id, entry]));
  return documents.map((document) => ({
    ...document,
    before: {
      inForce: document.entryId === null ? null : (entries.get(document.entryId) ?? null),
      everPosted: document.entryCount > 0,
      state: document.state === 'pending' ? null : document.state,
      documentDate: document.documentDate,
      remapHeld: document.remapHeld,
    },
  }));
}
