import type { InvoiceRecord } from './types.ts';

/** The number printed on an invoice: prefix and number. Null for a draft, which has none (practice-api: Invoice). */
export function printedNumber({ prefix, number }: Pick<InvoiceRecord, 'prefix' | 'number'>): string | null {
  return number === null ? null : prefix ? `${prefix}-${number}` : number;
}
