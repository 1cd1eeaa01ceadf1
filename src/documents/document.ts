import { bool, date, integer, nullable, oneOf, text } from '../db/columns.ts';
import { type Binding, type Connection, rows } from '../db/rows.ts';
import { declinedProblem } from '../domain/problems.ts';
import {
  type CalendarDate,
  type DocumentKind,
  type DocumentRef,
  type DocumentState,
  documentKinds,
  documentStates,
  type InstallationId,
} from '../terms.ts';

/**
 * Whether the parts of a document (invoice, rows, payments) are fetched again because a proof failed. `wanted` until
 * they are fetched, then `done` until the document is judged again. If the proof fails again then, the document is
 * held.
 */
export const refetchStates = ['no', 'wanted', 'done'] as const;
export type RefetchState = (typeof refetchStates)[number];

/** A row of the table `document`. */
export interface StoredDocument extends DocumentRef {
  /** A counter of marks. It shows whether the document was marked again while it was being judged (`saveJudged`). */
  mark: number;
  refetch: RefetchState;
  state: DocumentState;
  /** The business date of the last judgement. Null before the first one. */
  documentDate: CalendarDate | null;
  /** The entry in force. Null after a reversal, or if nothing was posted. */
  entryId: string | null;
  /** Number of the document's entries, reversals included. */
  entryCount: number;
  /** Whether a correction after a changed mapping waits until its period is opened. */
  remapHeld: boolean;
  /** Whether the document is held, or posted with a held change. */
  hasProblem: boolean;
  late: StoredLate;
}

/** Whether the document is late, and in which version (src/posting/late.ts). */
export interface StoredLate {
  atClose: boolean;
  version: string | null;
  /** The accountant's decision about this version. Null if there is none. */
  decision: string | null;
}

/** The last document of a batch, in the order of kind and id. Null before the first batch. */
export type DocumentCursor = DocumentRef | null;

const documentShape = {
  kind: oneOf<DocumentKind>(documentKinds),
  id: integer,
  mark: integer,
  refetch: oneOf<RefetchState>(refetchStates),
  state: oneOf<DocumentState>(documentStates),
  documentDate: nullable(date),
  entryId: nullable(text),
  entryCount: integer,
  remapHeld: bool,
  hasProblem: bool,
  lateAtClose: bool,
  lateVersion: nullable(text),
  lateDecision: nullable(text),
};

/** SQL condition: the document has a problem that a person must solve. A declined correction needs no solution. */
export const hasOpenProblem = `problem_code is not null and problem_code <> '${declinedProblem}'`;

/** Selects documents. `condition` follows `where`, and may end with order, limit and lock. */
export async function selectDocuments(
  db: Connection,
  condition: string,
  bindings: readonly Binding[],
): Promise<StoredDocument[]> {
  const found = await rows(
    db,
    documentShape,
    `select kind, id, dirty_mark as mark, refetch, state, document_date as "documentDate", entry_id as "entryId",
       entry_count as "entryCount", remap_held as "remapHeld", ${hasOpenProblem} as "hasProblem",
       late_at_close as "lateAtClose",
       late_version as "lateVersion", late_decision as "lateDecision"
     from document where ${condition}`,
    bindings,
  );
  return found.map(({ lateAtClose: atClose, lateVersion: version, lateDecision: decision, ...document }) => ({
    ...document,
    late: { atClose, version, decision },
  }));
}

const byIds = 'installation = ? and (kind, id) in (select * from unnest(?::text[], ?::bigint[])) order by kind, id';

function idBindings(installation: InstallationId, documents: readonly DocumentRef[]): Binding[] {
  return [installation, documents.map(({ kind }) => kind), documents.map(({ id }) => id)];
}

/** Selects these documents without locking them. */
export function documentsByIds(
  db: Connection,
  installation: InstallationId,
  documents: readonly DocumentRef[],
): Promise<StoredDocument[]> {
  return selectDocuments(db, byIds, idBindings(installation, documents));
}

/** Selects these documents and locks them for the transaction, in the same order in which posting locks them. */
export function lockDocuments(
  trx: Connection,
  installation: InstallationId,
  documents: readonly DocumentRef[],
): Promise<StoredDocument[]> {
  return selectDocuments(trx, `${byIds} for update`, idBindings(installation, documents));
}

/** Column types of a list of documents in `rowsAsArrays`. */
export const documentRefTypes = { kind: 'text', id: 'bigint' } as const;
