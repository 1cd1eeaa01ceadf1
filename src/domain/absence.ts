import type { DocumentRef } from '../terms.ts';
import { postingFindings } from '../texts/findings/posting.ts';
import type { ProblemCode } from '../texts/problems.ts';

/** The answer to a request for the id of a record that its list did not show. */
export const lookUpAnswers = ['no_record', 'not_asked'] as const;
export type LookUpAnswer = (typeof lookUpAnswers)[number];

export interface Absence {
  since: Date;
  /** The answer to the request for the record's id. It is evidence for the accountant, not a proof. */
  answer: LookUpAnswer;
  /** True if so many documents of the list are missing that they are reported as one problem. */
  isOfMany: boolean;
}

/**
 * If more documents are missing than both this number and this share of the list's posted documents, they are reported
 * as one problem.
 */
const manyAbove = 5;
const manyAbovePercent = 2;

/** Whether so many of a list's `posted` documents are `missing` that they are one problem. */
export function hasShrunk(missing: number, posted: number): boolean {
  return missing > manyAbove && missing * 100 > posted * manyAbovePercent;
}

export function absenceCode({ isOfMany }: Pick<Absence, 'isOfMany'>): ProblemCode {
  return isOfMany ? 'source_shrank' : 'missing_in_source';
}

export function absenceMessage({ kind, id }: DocumentRef, { since, answer }: Absence): string {
  const evidence = answer === 'no_record' ? postingFindings.noRecordForId : postingFindings.idNotRequested;
  return postingFindings.missingInSource({ name: `${kind} ${id}`, since: since.toISOString(), evidence });
}

export function missingRowsMessage({ kind, id }: DocumentRef, rows: readonly number[]): string {
  const few = rows.slice(0, 10).join(', ');
  const more = rows.length - 10;
  return postingFindings.missingRows({
    name: `${kind} ${id}`,
    noun: rows.length === 1 ? postingFindings.row : postingFindings.rows,
    rows: more > 0 ? postingFindings.andMore({ few, more }) : few,
  });
}
