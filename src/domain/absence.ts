import type { DocumentRef } from '../terms.ts';
import type { ProblemCode } from '../texts/problems.ts';

/**
 * Documents in the books that a whole list of the source does not show any more (ACCOUNTING "Absence"): a claim, and no fact. They
 * stay posted until a person confirms that they are gone.
 */

/** What the id of a record answered that its list did not show. */
export const lookUpAnswers = ['no_record', 'not_asked'] as const;
export type LookUpAnswer = (typeof lookUpAnswers)[number];

export interface Absence {
  since: Date;
  /** Evidence that is shown to the person who decides; it proves nothing. */
  answer: LookUpAnswer;
  /** So many of its list are missing that they are one problem. */
  isOfMany: boolean;
}

/** More missing documents than this, and more than this share of the list's posted ones, are one problem. */
const manyAbove = 5;
const manyAbovePercent = 2;

/** Whether a list has shrunk: `missing` of its `posted` documents are not shown. */
export function hasShrunk(missing: number, posted: number): boolean {
  return missing > manyAbove && missing * 100 > posted * manyAbovePercent;
}

export function absenceCode({ isOfMany }: Pick<Absence, 'isOfMany'>): ProblemCode {
  return isOfMany ? 'source_shrank' : 'missing_in_source';
}

export function absenceMessage({ kind, id }: DocumentRef, { since, answer }: Absence): string {
  const evidence = answer === 'no_record' ? 'its id, asked for by itself, gave no record' : 'its id was not asked for';
  return `${kind} ${id}: the source’s list does not show it since ${since.toISOString()}; ${evidence}; it stays posted`;
}

export function missingRowsMessage({ kind, id }: DocumentRef, rows: readonly number[]): string {
  const few = rows.slice(0, 10).join(', ');
  const more = rows.length > 10 ? ` and ${rows.length - 10} more` : '';
  return `${kind} ${id}: the source does not show its ${rows.length === 1 ? 'row' : 'rows'} ${few}${more} any more, and its \`modified\` has not moved; it stays posted`;
}
