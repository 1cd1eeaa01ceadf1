import type { InvoiceRecord } from './types.ts';

/** The number printed on an invoice: prefix and number. Null for a draft, which has none (practice-api: Invoice). */
export function printedNumber({ prefix, number }: Pick<InvoiceRecord, 'prefix' | 'number'>): string | null {
  return number === null ? null : prefix ? `${prefix}-${number}` : number;
}

/** Letters and digits of a number in capitals, so that a search finds it with any separator. */
export function numberKey(number: string): string {
  return number.toUpperCase().replace(/[^\p{L}\p{N}]/gu, '');
}
