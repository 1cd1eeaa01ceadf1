import type { DocumentRef } from '../../src/terms.ts';
import { keyOf } from './books.ts';
import type { D } from './oracle-cents.ts';
import type { Decided } from './oracle-late.ts';

/** Something does not hold: which check, about which documents. */
export class Broken extends Error {
  override readonly name = 'Broken';
  readonly equation: string;
  readonly documents: string[];

  constructor(equation: string, documents: (DocumentRef | string)[], message: string) {
    super(`${equation}: ${message}`);
    this.equation = equation;
    this.documents = documents.map((document) => (typeof document === 'string' ? document : keyOf(document)));
  }
}

/** What the oracle keeps of a document: its facts as posted, and the date it was given first. */
export interface Memory {
  facts: string | null;
  taken: string | null;
  /** As posted: signed as the source signs it (an invoice's total, what was paid). */
  amount: D;
  /** Of a payment: which receivable it settles; of payments and prepayments the money line's tags. */
  receivable: string | null;
  tags: string;
  /** It was late at a close, and waits. */
  isLate: boolean;
  /** What the last judgement was about, and what was decided, the newest last. */
  version: string;
  decisions: Decided[];
}
