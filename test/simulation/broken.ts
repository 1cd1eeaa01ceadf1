import type { DocumentRef } from '../../src/terms.ts';
import { keyOf } from './books.ts';
import type { D } from './oracle-cents.ts';
import type { Decided } from './oracle-late.ts';
import type { ReceivedVat, Share } from './oracle-shares.ts';

/** A failed check, with the documents that it is about. */
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

/** The oracle's memory of a document: its facts as posted, and its first date. */
export interface Memory {
  facts: string | null;
  taken: string | null;
  /** The posted amount with the source's sign: an invoice's total, or a payment. */
  amount: D;
  /** The posted VAT, and the posted liabilities by role; credits are positive, so redeemed amounts are negative. */
  vat: D;
  vouchers: Partial<Record<string, D>>;
  /** The payer's name in the entry in force. */
  name: string | null;
  /** The party of the document's prepayment liability, as posted; null if the document has no such liability. */
  client: string | null;
  /** For a payment, the receivable that the payment settles. */
  receivable: string | null;
  tags: string;
  /** True if the document was late at a close and still waits for a decision. */
  isLate: boolean;
  /** The version of the document's last judgement, and the decisions, newest last. */
  version: string;
  decisions: Decided[];
  /** For the entry in force: its VAT at receipt, or its share of a prepayment. */
  received: ReceivedVat | null;
  share: Share | null;
  /** The position of the document's first posting among all documents; null if the document was never posted. */
  place: number | null;
}
