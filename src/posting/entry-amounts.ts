import { type DraftEntry, signed } from '../domain/entry.ts';
import { type Money, zero } from '../domain/money.ts';
import type { LineRole } from '../terms.ts';

/**
 * The amounts of a document's entry: its total (or a payment's or prepayment's amount), and its VAT, null for kinds
 * without VAT.
 */
export interface EntryAmounts {
  amount: Money;
  vat: Money | null;
}

/** Roles of the line that opens or settles an invoice. */
export const receivables: readonly LineRole[] = ['receivable', 'opening_receivable'];

/** The total and VAT of an entry, signed as in the source. */
export function amountsOf({ document: { kind }, lines }: Pick<DraftEntry, 'document' | 'lines'>): EntryAmounts {
  const balanceOf = (roles: readonly LineRole[]) =>
    lines.filter(({ role }) => roles.includes(role)).reduce((sum, line) => sum.plus(signed(line)), zero);
  switch (kind) {
    case 'invoice':
      return { amount: balanceOf(receivables), vat: zero.minus(balanceOf(['vat', 'vat_not_due'])) };
    case 'payment':
      return { amount: zero.minus(balanceOf(receivables)), vat: null };
    case 'vat_due':
      return { amount: zero, vat: zero.minus(balanceOf(['vat'])) };
    case 'prepayment':
      return { amount: zero.minus(balanceOf(['prepayment_liability'])), vat: null };
  }
}
