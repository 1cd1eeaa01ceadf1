/** The practice software's names of its payment types (practice-api: Payment types). */
const names: Readonly<Record<number, string>> = {
  0: 'Card',
  1: 'Cash',
  2: 'Bank',
  3: 'Rounding',
  4: 'Cheque',
  5: 'Voucher',
  6: 'Consolidated invoice',
  7: 'Mobile',
  8: 'Prepayment',
  9: 'Gift card',
  10: 'Financing',
  11: 'Other',
  12: 'Credit invoice',
  15: 'Insurance',
};

/** `payment type 9 (Gift card)`. */
export function paymentTypeName(type: number): string {
  return names[type] ? `payment type ${type} (${names[type]})` : `payment type ${type}`;
}
