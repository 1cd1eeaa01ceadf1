import type { InvoiceRecord } from '../records/types.ts';

/**
 * The invoice that a chain of credit notes begins with; null where the chain leads out of what is known, in a circle, or to a credit
 * note without an original.
 */
export function firstOriginal(
  invoice: InvoiceRecord,
  find: (id: number) => InvoiceRecord | undefined,
): InvoiceRecord | null {
  const seen = new Set<number>();
  let current: InvoiceRecord | undefined = invoice;
  while (current?.creditNote) {
    if (seen.has(current.id) || current.originalInvoiceId === null) return null;
    seen.add(current.id);
    current = find(current.originalInvoiceId);
  }
  return current ?? null;
}
