import { rowsAsArrays } from '../db/bulk.ts';
import { type Connection, execute } from '../db/rows.ts';
import type { CalendarDate, DocumentKind, DocumentRef, DocumentState } from '../terms.ts';
import type { StoredLate } from './document.ts';
import { saveReports } from './scrub-reports.ts';

export interface FoundProblem {
  code: string;
  message: string;
}

/** What a problem keeps out of the books. Amounts are decimals as text; null where they cannot be read. */
export interface SavedOutside {
  amount: string | null;
  vat: string | null;
  details: ProblemDetails | null;
}

/** What a problem has to tell beside its message, as `problems --json` prints it. */
export interface ProblemDetails {
  /** What is missing, without the document's name, where other documents miss it, too. */
  causes?: string[];
  /** Posted facts that the source has otherwise now. */
  changes?: { field: string; old: string | null; new: string | null }[];
  /** What the correction would do to each account; debit positive. */
  effect?: { account: string; amount: string }[];
}

/** What changed of a document in the books: its entry in force after this, and what keeps a change out of them. */
export interface RemappedState extends DocumentRef {
  /** The entry in force now; null after a reversal or when nothing was posted. */
  entryId: string | null;
  /** The input hash of the entry in force. */
  inputHash: string | null;
  /** Entries appended now, reversals included. */
  entriesAdded: number;
  problem: FoundProblem | null;
  /** What the problem keeps out of the books; null without one, and where that is not known. */
  outside: SavedOutside | null;
  /** A correction after a changed mapping waits for its period to be opened. */
  remapHeld: boolean;
  late: StoredLate;
}

/** What was decided about a claimed document. */
export interface JudgedState extends RemappedState {
  /** The mark that it was claimed with. */
  mark: number;
  state: DocumentState;
  /** Null leaves the stored date as it is. */
  documentDate: CalendarDate | null;
  /** Its parts are to be fetched again before it is judged for good: it stays marked. */
  awaitsParts: boolean;
  /** Problems that are reported without holding the document. */
  reports: readonly FoundProblem[];
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

/** Notes that documents were judged and nothing was decided: they stay marked. In the transaction that claimed them. */
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

/** What both statements set. A problem that stays keeps the instant when it was found. */
const setRemapped = `entry_id = saved.entry_id, input_hash = saved.input_hash, entry_count = d.entry_count + saved.added,
  problem_since = case when saved.problem_code is null then null
    when d.problem_code = saved.problem_code then d.problem_since else clock_timestamp() end,
  problem_code = saved.problem_code, problem_message = saved.problem_message,
  outside_amount = saved.outside_amount, outside_vat = saved.outside_vat, problem_details = saved.problem_details,
  remap_held = saved.remap_held,
  late_at_close = saved.late_at_close, late_version = saved.late_version, late_decision = saved.late_decision`;

/**
 * Saves what was decided about claimed documents, in the transaction that claimed them. A mark set while a document was being
 * judged stays. A constant number of statements for any number of documents.
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
 * Saves corrections after a changed mapping: entry in force and problem. Marks, state and reports stay, because the facts of
 * the source were not judged for their own sake.
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
