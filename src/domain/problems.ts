import type { DocumentRef } from '../terms.ts';
import type { ProblemCode } from '../texts/problems.ts';

/** Problems of documents that a lock keeps out of the books. */
export const lockProblems: readonly ProblemCode[] = ['period_locked', 'change_held'];

/** Problems of documents that a person decides about, one by one (ACCOUNTING "Dates"). */
export const lateProblems: readonly ProblemCode[] = [...lockProblems, 'date_implausible', 'dated_before_start'];

/** Problems of documents in the books that the source does not show any more (ACCOUNTING "Absence"). */
export const absenceProblems: readonly ProblemCode[] = ['missing_in_source', 'source_shrank'];

/** A problem of one document; `message` gives the facts and figures. */
export interface Problem {
  code: ProblemCode;
  document: DocumentRef;
  message: string;
  /** What is missing, without the document's name, where other documents miss it, too. */
  causes?: readonly string[];
}
