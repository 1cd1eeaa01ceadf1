import type { Connection } from '../db/rows.ts';
import type { StoredDocument } from '../documents/document.ts';
import { entryId } from '../domain/entry.ts';
import { loadEntries } from '../ledger/journal/read-entries.ts';
import type { LateStanding, PostedBefore } from '../posting/types.ts';
import type { InstallationId } from '../terms.ts';
import { decisionsOf } from './late-decision-store.ts';

/** A document and its history in the books. */
export interface DocumentWithHistory extends StoredDocument {
  before: PostedBefore;
}

/** Loads the entries in force of documents and the decisions about late ones, in two SQL statements. */
export async function withHistory(
  db: Connection,
  installation: InstallationId,
  documents: readonly StoredDocument[],
): Promise<DocumentWithHistory[]> {
  const ids = documents.flatMap((document) => lastEntryOf(installation, document) ?? []);
  const entries = new Map((await loadEntries(db, ids)).map((entry) => [entry.id, entry]));
  const decisions = await decisionsOf(
    db,
    installation,
    // These decisions are also read for posted documents without a late version. After a correction, the document may
    // have the version of an earlier decision again.
    documents.filter(({ late, entryId: inForce }) => late.version !== null || inForce !== null),
  );
  const reversalOf = (document: StoredDocument) =>
    document.entryId === null ? entries.get(lastEntryOf(installation, document) ?? '') : undefined;
  return documents.map((document) => ({
    ...document,
    before: {
      inForce: document.entryId === null ? null : (entries.get(document.entryId) ?? null),
      everPosted: document.entryCount > 0,
      reversedFor: reversalOf(document)?.reason ?? null,
      state: document.state === 'pending' ? null : document.state,
      documentDate: document.documentDate,
      remapHeld: document.remapHeld,
      late: lateOf(document),
      decisions: decisions.get(`${document.kind}/${document.id}`) ?? [],
    },
  }));
}

/** The id of the entry in force, or of the last reversal. Null if nothing was posted. */
function lastEntryOf(installation: InstallationId, { kind, id, entryId: inForce, entryCount }: StoredDocument) {
  if (inForce !== null) return inForce;
  return entryCount === 0 ? null : entryId(installation, { kind, id }, entryCount);
}

/** A document that was late at a close before it was judged has no version yet. */
function lateOf({ late: { atClose, version, decision } }: StoredDocument): LateStanding | null {
  if (version === null && !atClose) return null;
  return { version: version ?? '', atClose, decision: lockDecisions.find((each) => each === decision) ?? null };
}

const lockDecisions = ['wait', 'redate', 'as_dated', 'leave_as_posted'] as const;
