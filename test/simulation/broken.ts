import type { DocumentRef } from '../../src/terms.ts';
import { keyOf } from './books.ts';
import type { D } from './oracle-cents.ts';
import type { Decided } from './oracle-late.ts';
import type { ReceivedVat, Share } from './oracle-shares.ts';

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
  /** VAT and what was sold to a liability, as posted; credit positive. By role: what was redeemed is negative. */
  vat: D;
  vouchers: Partial<Record<string, D>>;
  /** What the payer is called in the entry in force. */
  name: string | null;
  /** Whose prepayment liability it stands under, as posted; null: none. */
  client: string | null;
  /** Of a payment: which receivable it settles; of payments and prepayments the money line's tags. */
  receivable: string | null;
  tags: string;
  /** It was late at a close, and waits. */
  isLate: boolean;
  /** What the last judgement was about, and what was decided, the newest last. */
  version: string;
  decisions: Decided[];
  /** Of the entry in force: the VAT it was received with, or what it took from a prepayment. */
  received: ReceivedVat | null;
  share: Share | null;
  /** When it was first posted, among all documents; null: never. */
  place: number | null;
}
