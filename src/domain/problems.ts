import type { DocumentRef } from '../terms.ts';

/**
 * One catalogue of everything that can be wrong with a document. `holds` problems keep it out of the books until their
 * cause is gone; the others are reported beside a document that is posted. docs/PROBLEMS.md is generated from here.
 */
export interface ProblemDefinition {
  holds: boolean;
  sentence: string;
  todo: string;
}

export const problemCatalogue = {
  amount_missing: {
    holds: true,
    sentence: 'An amount that posting needs is absent from the record.',
    todo: 'Open the document in the practice software and complete it; it posts by itself in the next window.',
  },
  amount_invalid: {
    holds: true,
    sentence: 'An amount in the record is not a number.',
    todo: 'Report the record to the practice software vendor; it posts by itself once the amount can be read.',
  },
} as const satisfies Record<string, ProblemDefinition>;

export type ProblemCode = keyof typeof problemCatalogue;

/** A problem of one document: `message` says what was found, with the figures. */
export interface Problem {
  code: ProblemCode;
  document: DocumentRef;
  message: string;
}
