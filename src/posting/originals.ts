import { longestChain } from '../records/source-codes.ts';
import type { InvoiceRecord } from '../records/types.ts';

/** The chain of documents that a credit note credits. */
export interface CreditChain {
  /**
   * The invoice at the start of the chain. Null if the chain leads to an unknown document, into a circle, or to a
   * credit note without an original.
   */
  first: InvoiceRecord | null;
  /** The number of credit notes that lead from a document to this invoice; 0 for the invoice itself. */
  depth: number;
  /**
   * The credit notes of the circle that contains this credit note, which is the first. Null if there is no such circle
   * (ACCOUNTING P6).
   */
  circle: readonly number[] | null;
}

/** Follows a credit note to its original, over at most `longestChain` credit notes. `find` returns a known invoice. */
export function creditChain(invoice: InvoiceRecord, find: (id: number) => InvoiceRecord | undefined): CreditChain {
  const seen = new Set<number>();
  let current: InvoiceRecord | undefined = invoice;
  while (current?.creditNote) {
    if (seen.size > longestChain) return { first: null, depth: 0, circle: [...seen] };
    if (seen.has(current.id) || current.originalInvoiceId === null) return { first: null, depth: 0, circle: null };
    seen.add(current.id);
    if (current.originalInvoiceId === invoice.id) return { first: null, depth: 0, circle: [...seen] };
    current = find(current.originalInvoiceId);
  }
  return { first: current ?? null, depth: seen.size, circle: null };
}
