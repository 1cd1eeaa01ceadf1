// The ways in which the month is played: posting mode and VAT method.

import { readFileSync } from 'node:fs';
import { demoMapping } from '../support/demo-config.ts';

export interface Variant {
  mode: 'document' | 'daily_summary';
  /** When VAT is due: with the invoice, or with its payments (ACCOUNTING R13). */
  vat: 'accrual' | 'payment';
}

/** The variant of docs/accountants/month-end.md. */
export const first: Variant = { mode: 'document', vat: 'accrual' };

export const variants: readonly Variant[] = [
  first,
  { mode: 'daily_summary', vat: 'accrual' },
  { mode: 'document', vat: 'payment' },
  { mode: 'daily_summary', vat: 'payment' },
];

export const nameOf = ({ mode, vat }: Variant) => `${mode}, ${vat}`;

/** The first invoices of the played clinics are later than this day. */
export const onPaymentFrom = '2025-01-01';

const accounts = {
  ...{ 'VAT 25.5 %': '2931', 'VAT 14 %': '2932', 'VAT 10 %': '2933', '*': '2930' },
  ...{ 'USt 19 %': '1776', 'USt 7 %': '1771' },
};

/** The mapping of a variant. The payments of other documents need an account for each VAT group. */
export function mappingText({ vat }: Variant, file: string = demoMapping): string {
  const text = readFileSync(file, 'utf8');
  if (vat === 'accrual') return text;
  return text
    .replace('vat: same', `vat: ${JSON.stringify(accounts)}`)
    .replace('policies:\n', `policies:\n  vat_due: {payment: ${onPaymentFrom}}\n`);
}
