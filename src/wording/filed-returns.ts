import type { FiledReturns } from '../queries/vat-return-state.ts';
import { vatReturnTexts } from '../texts/reports/vat-returns.ts';

/** A line for each changed return, and one for late entries. Empty if there are none. */
export function filedReturnLines({ changed, late }: FiledReturns): string[] {
  return [...changed.map(vatReturnTexts.changed), ...(late.entries === 0 ? [] : [vatReturnTexts.late(late)])];
}
