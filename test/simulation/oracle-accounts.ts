// The oracle's own reading of a mapping (DESIGN "A short mapping file"); empty where it gives no account.
import type { MappingData } from './conditions.ts';

const roleOfType: Record<number, string> = {
  0: 'card_clearing',
  1: 'cash',
  2: 'bank_clearing',
  3: 'rounding',
  4: 'cheque_clearing',
  5: 'voucher_liability',
  6: 'consolidation_clearing',
  7: 'mobile_clearing',
  8: 'prepayment_liability',
  9: 'gift_card_liability',
  10: 'financing_receivable',
  11: 'other_clearing',
  12: 'credit_settlement',
  15: 'insurance_receivable',
};

/** The role that rows on an account are sold to instead of revenue, if any. */
export function roleSoldTo({ revenue_rules }: MappingData, number: string): string | null {
  return revenue_rules.find(({ when }) => when.account === number)?.role ?? null;
}

export function accountOfRevenue({ revenue }: MappingData, number: string): string {
  if (revenue === 'same') return number;
  const found = revenue[number] ?? revenue['*'] ?? '';
  return found === 'same' ? number : found;
}

export function accountOfVat({ vat }: MappingData, group: string | null, named: string[]): string {
  if (vat === 'same') return named.length === 1 ? named[0]! : '';
  return (group === null ? undefined : vat[group]) ?? vat['*'] ?? '';
}

export function accountOfPayment(
  mapping: MappingData,
  type: number,
  department: number,
): { role: string; account: string } | null {
  const general = mapping.payment_types[type];
  const own = general?.departments?.[department];
  const role = own?.role ?? general?.role ?? roleOfType[type];
  if (!role) return null;
  const account = own?.account || (own?.role ? '' : general?.account) || mapping.roles[role];
  return account ? { role, account } : null;
}
