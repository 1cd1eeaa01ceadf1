import { longestChain } from '../records/source-codes.ts';
import type { InvoiceRecord } from '../records/types.ts';

/** What a credit note goes back to. */
export interface CreditChain {
  /**
   * The invoice that the chain begins with; null where the chain leads out of what is known, into a circle, or to a credit note without
   * an original.
   */
  first: InvoiceRecord | null;
  /** The credit notes of the circle of which this one is part, from it on; null where it is part of none (ACCOUNTING P6). */
  circle: readonly number[] | null;
}

/** Follows a credit note to its original, over at most `longestChain` credit notes. `find` gives those at hand. */
export function creditChain(invoice: InvoiceRecord, find: (id: number) => InvoiceRecord | undefined): CreditChain {
  const seen = new Set<number>();
  let current: InvoiceRecord | undefined = invoice;
  while (current?.creditNote) {
    if (seen.size > longestChain) return { first: null, circle: [...seen] };
    if (seen.has(current.id) || current.originalInvoiceId === null) return { first: null, circle: null };
    seen.add(current.id);
    if (current.originalInvoiceId === invoice.id) return { first: null, circle: [...seen] };
    current = find(current.originalInvoiceId);
  }
  return { first: current ?? null, circle: null };
}
