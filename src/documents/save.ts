import { rowsAsArrays } from '../db/bulk.ts';
import { type Connection, execute } from '../db/rows.ts';
import type { CalendarDate, DocumentKind, DocumentRef, DocumentState } from '../terms.ts';
import type { StoredLate } from './document.ts';
import { type Remark, saveReports } from './scrub-reports.ts';

export interface FoundProblem {
  code: string;
  message: string;
}

/** The amounts that a problem keeps out of the books, as decimal texts; null if they cannot be read. */
export interface SavedOutside {
  amount: string | null;
  vat: string | null;
  details: ProblemDetails | null;
}

/** Details of a problem beside its message, as `problems --json` prints them. */
export interface ProblemDetails {
  /**
   * The missing things that cause the problem, without the document's name. Other documents may have the same causes.
   */
  causes?: string[];
  /** Posted facts that differ in the source now. */
  changes?: { field: string; old: string | null; new: string | null }[];
  /** The effect of the correction on each account. A debit is positive. */
  effect?: { account: string; amount: string }[];
}

/**
 * The new state of a document in the books: its entry in force, and the problem that keeps a change out of the books.
 */
export interface RemappedState extends DocumentRef {
  /** The new entry in force. Null after a reversal, or if nothing was posted. */
  entryId: string | null;
  /** The input hash of the entry in force. */
  inputHash: string | null;
  /** Number of entries that were appended, reversals included. */
  entriesAdded: number;
  problem: FoundProblem | null;
  /** The amounts that the problem keeps out of the books. Null if there is no problem, or if they are unknown. */
  outside: SavedOutside | null;
  /** Whether a correction after a changed mapping waits until its period is opened. */
  remapHeld: boolean;
  late: StoredLate;
}

/** The result of judging a claimed document. */
export interface JudgedState extends RemappedState {
  /** The mark with which the document was claimed. */
  mark: number;
  state: DocumentState;
  /** The date of the document. Null leaves the stored date unchanged. */
  documentDate: CalendarDate | null;
  /** Whether its parts must be fetched again before it is finally judged. It then stays marked. */
  awaitsParts: boolean;
  /** Remarks, which do not hold the document. */
  reports: readonly Remark[];
}

const remappedTypes = {
  kind: 'text',
  id: 'bigint',
  entry_id: 'text',
  input_hash: 'text',
  added: 'int',
  problem_code: 'text',
  problem_message: 'text',
  outside_amount: 'numeric',
  outside_vat: 'numeric',
  problem_details: 'jsonb',
  remap_held: 'boolean',
  late_at_close: 'boolean',
  late_version: 'text',
  late_decision: 'text',
} as const;

/**
 * Stores that documents were judged without a decision, so that they stay marked. It runs in the transaction that
 * claimed them.
 */
export async function noteJudged(
  trx: Connection,
  installation: number,
  kind: DocumentKind,
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    trx,
    'update document set judged_at = clock_timestamp() where installation = ? and kind = ? and id = any(?)',
    [installation, kind, ids],
  );
}

const judgedTypes = {
  ...remappedTypes,
  mark: 'bigint',
  state: 'text',
  document_date: 'date',
  awaits_parts: 'boolean',
} as const;

/** The assignments of both statements. A problem that stays keeps the time when it was found. */
const setRemapped = `entry_id = saved.entry_id, input_hash = saved.input_hash, entry_count = d.entry_count + saved.added,
  problem_since = case when saved.problem_code is null then null
    when d.problem_code = saved.problem_code then d.problem_since else clock_timestamp() end,
  problem_code = saved.problem_code, problem_message = saved.problem_message,
  outside_amount = saved.outside_amount, outside_vat = saved.outside_vat, problem_details = saved.problem_details,
  remap_held = saved.remap_held,
  late_at_close = saved.late_at_close, late_version = saved.late_version, late_decision = saved.late_decision`;

/**
 * Saves the results of judging claimed documents, in the transaction that claimed them. If a document was marked again
 * while it was being judged, it stays marked. The number of statements does not depend on the number of documents.
 */
export async function saveJudged(trx: Connection, installation: number, judged: readonly JudgedState[]): Promise<void> {
  if (judged.length === 0) return;
  const { from, bindings } = rowsAsArrays(
    'saved',
    judgedTypes,
    judged.map((one) => ({
      ...remappedRow(one),
      mark: one.mark,
      state: one.state,
      document_date: one.documentDate,
      awaits_parts: one.awaitsParts,
    })),
  );
  await execute(
    trx,
    `update document d set ${setRemapped},
       state = saved.state, document_date = coalesce(saved.document_date, d.document_date),
       dirty = d.dirty_mark > saved.mark or saved.awaits_parts,
       refetch = case when saved.awaits_parts then 'wanted' else 'no' end, judged_at = clock_timestamp()
     from ${from} where d.installation = ? and d.kind = saved.kind and d.id = saved.id and d.id = any(?)`,
    [...bindings, installation, judged.map(({ id }) => id)],
  );
  await saveReports(trx, installation, judged);
}

/**
 * Saves corrections after a changed mapping: the entry in force and the problem. Marks, state and remarks stay, because
 * the facts of the source were not judged.
 */
export async function saveRemapped(
  trx: Connection,
  installation: number,
  remapped: readonly RemappedState[],
): Promise<void> {
  if (remapped.length === 0) return;
  const { from, bindings } = rowsAsArrays('saved', remappedTypes, remapped.map(remappedRow));
  await execute(
    trx,
    `update document d set ${setRemapped}
     from ${from} where d.installation = ? and d.kind = saved.kind and d.id = saved.id and d.id = any(?)`,
    [...bindings, installation, remapped.map(({ id }) => id)],
  );
}

function remappedRow(state: RemappedState) {
  const { kind, id, entryId, inputHash, entriesAdded, problem, outside, remapHeld, late } = state;
  return {
    kind,
    id,
    entry_id: entryId,
    input_hash: inputHash,
    added: entriesAdded,
    problem_code: problem?.code ?? null,
    problem_message: problem?.message ?? null,
    outside_amount: outside?.amount ?? null,
    outside_vat: outside?.vat ?? null,
    problem_details: outside?.details ? JSON.stringify(outside.details) : null,
    remap_held: remapHeld,
    late_at_close: late.atClose,
    late_version: late.version,
    late_decision: late.decision,
  };
}
