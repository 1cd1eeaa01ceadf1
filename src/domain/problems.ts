import type { DocumentRef } from '../terms.ts';
import type { ProblemCode } from '../texts/problems.ts';
import type { Money } from './money.ts';

/** Problems of documents that are not posted because their period is locked. */
export const lockProblems: readonly ProblemCode[] = ['period_locked', 'change_held'];

/**
 * The problem of a posted document whose correction the accountant declined for good. The document is not held, and needs no
 * decision (ACCOUNTING "Dates").
 */
export const declinedProblem: ProblemCode = 'left_as_posted';

/** Problems of documents that the accountant decides one by one (ACCOUNTING "Dates"). */
export const lateProblems: readonly ProblemCode[] = [...lockProblems, 'date_implausible', 'dated_before_start'];

/** Problems of posted documents that the source no longer shows (ACCOUNTING "Absence"). */
export const absenceProblems: readonly ProblemCode[] = ['missing_in_source', 'source_shrank'];

/** A problem of one document; `message` gives the facts and figures. */
export interface Problem {
  code: ProblemCode;
  document: DocumentRef;
  message: string;
  /**
   * The thing that the mapping lacks, without the document's name, so that documents with the same cause can be
   * grouped.
   */
  causes?: readonly string[];
  /** Of a remark: the amount that it is about, such as the excess of `overpaid`. Absent if it is about no amount. */
  amount?: Money;
}
