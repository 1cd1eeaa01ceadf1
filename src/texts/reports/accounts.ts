import type { LineRole } from '../../terms.ts';
import { catalogue } from '../catalogue.ts';

/** The name of a role's account, if neither a chart nor the practice software has a name for it. */
export const roleNames: Readonly<Record<LineRole, string>> = catalogue('reports/accounts.roleNames', {
  receivable: 'receivables',
  opening_receivable: 'receivables from before the start date',
  card_clearing: 'card payments',
  cash: 'cash',
  bank_clearing: 'bank payments',
  rounding: 'rounding',
  cheque_clearing: 'cheques',
  voucher_liability: 'vouchers',
  consolidation_clearing: 'consolidated invoices',
  mobile_clearing: 'mobile payments',
  prepayment_liability: 'prepayments received',
  prepayment_vat: 'VAT on prepayments',
  vat_not_due: 'VAT not due',
  opening_vat_not_due: 'VAT not due, before the start date',
  gift_card_liability: 'gift cards',
  financing_receivable: 'financing companies',
  other_clearing: 'other payments',
  credit_settlement: 'settlement with credit notes',
  insurance_receivable: 'insurance companies',
  revenue: 'revenue',
  vat: 'VAT',
});
