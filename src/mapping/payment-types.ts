import type { Role } from '../terms.ts';
import { usageTexts } from '../texts/findings/mapping.ts';

/**
 * The source's payment types (practice-api: Payment types): the name of each in the practice software, and its default
 * role (ACCOUNTING "Payment types and default roles"). `paymentAccount` in look-ups.ts gives the accounts.
 */
const paymentTypes: ReadonlyMap<number, { name: string; role: Role }> = new Map([
  [0, { name: 'Card', role: 'card_clearing' }],
  [1, { name: 'Cash', role: 'cash' }],
  [2, { name: 'Bank', role: 'bank_clearing' }],
  [3, { name: 'Rounding', role: 'rounding' }],
  [4, { name: 'Cheque', role: 'cheque_clearing' }],
  [5, { name: 'Voucher', role: 'voucher_liability' }],
  [6, { name: 'Consolidated invoice', role: 'consolidation_clearing' }],
  [7, { name: 'Mobile', role: 'mobile_clearing' }],
  [8, { name: 'Prepayment', role: 'prepayment_liability' }],
  [9, { name: 'Gift card', role: 'gift_card_liability' }],
  [10, { name: 'Financing', role: 'financing_receivable' }],
  [11, { name: 'Other', role: 'other_clearing' }],
  [12, { name: 'Credit invoice', role: 'credit_settlement' }],
  [15, { name: 'Insurance', role: 'insurance_receivable' }],
]);

/** Types whose role and account a mapping cannot change, because their payments clear each other on one account. */
const fixedTypes: readonly number[] = [6, 8, 12];

/** Role of each fixed type. The key is the type as in a mapping file. */
export const fixedPaymentRoles: ReadonlyMap<string, Role> = new Map(
  [...paymentTypes].flatMap(([type, { role }]) => (fixedTypes.includes(type) ? [[String(type), role] as const] : [])),
);

/** The default role of a payment type; null for an unknown type. */
export function defaultPaymentRole(type: number): Role | null {
  return paymentTypes.get(type)?.role ?? null;
}

/** The name of a payment type in the practice software: `Gift card`; for an unknown type, `payment type 42`. */
export function paymentTypeTitle(type: number): string {
  return paymentTypes.get(type)?.name ?? usageTexts.paymentType({ type, name: '' });
}

/** `payment type 9 (Gift card)`. */
export function paymentTypeName(type: number): string {
  return usageTexts.paymentType({ type, name: paymentTypes.get(type)?.name ?? '' });
}
