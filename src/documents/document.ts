import { bool, date, integer, nullable, oneOf, text } from '../db/columns.ts';
import { type Binding, type Connection, rows } from '../db/rows.ts';
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
 * Whether the parts of a document (invoice, rows, payments) are fetched again because a proof failed: `wanted` until they
 * are, `done` until the document is next judged, so that the same failure holds it then.
 */
export const refetchStates = ['no', 'wanted', 'done'] as const;
export type RefetchState = (typeof refetchStates)[number];

/** A document as the table has it. */
export interface StoredDocument extends DocumentRef {
  /** Counts the marks: one set while the document is being judged is told by it (`saveJudged`). */
  mark: number;
  refetch: RefetchState;
  state: DocumentState;
  /** The business date it was last judged with; null before that. */
  documentDate: CalendarDate | null;
  /** The entry in force; null after a reversal or when nothing was posted. */
  entryId: string | null;
  /** Entries it has in the books, reversals included. */
  entryCount: number;
  /** A correction after a changed mapping waits for its period to be opened. */
  remapHeld: boolean;
  /** It is held, or posted with a change that is held. */
  hasProblem: boolean;
  late: StoredLate;
}

/** Whether it is late, and with which version (src/posting/late.ts). */
export interface StoredLate {
  atClose: boolean;
  version: string | null;
  /** What was decided of that version. */
  decision: string | null;
}

/** The last document of a batch, in the order of kind and id; null before the first batch. */
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

/** The documents of a `condition`, which follows `where`, and ends with order, limit and lock. */
export async function selectDocuments(
  db: Connection,
  condition: string,
  bindings: readonly Binding[],
): Promise<StoredDocument[]> {
  const found = await rows(
    db,
    documentShape,
    `select kind, id, dirty_mark as mark, refetch, state, document_date as "documentDate", entry_id as "entryId",
       entry_count as "entryCount", remap_held as "remapHeld", problem_code is not null as "hasProblem",
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

/** These documents, locked for the transaction in the order in which posters lock them. */
export function lockDocuments(
  trx: Connection,
  installation: InstallationId,
  documents: readonly DocumentRef[],
): Promise<StoredDocument[]> {
  return selectDocuments(
    trx,
    `installation = ? and (kind, id) in (select * from unnest(?::text[], ?::bigint[])) order by kind, id for update`,
    [installation, documents.map(({ kind }) => kind), documents.map(({ id }) => id)],
  );
}

/** Columns of a list of documents in `rowsAsArrays`. */
export const documentRefTypes = { kind: 'text', id: 'bigint' } as const;
