import type { Role } from '../terms.ts';

/** The purpose of each role's account, for the author of a mapping. */
export const roleMeanings: Readonly<Record<Role, string>> = {
  receivable: 'what clients owe on invoices',
  opening_receivable: 'payments of invoices dated before start_date, which are part of the opening balances',
  card_clearing: 'card payments until the card company pays out (payment type 0)',
  cash: 'cash in hand (payment type 1)',
  bank_clearing: 'bank payments until the bank statement shows them (payment type 2)',
  rounding: 'cash rounding (payment type 3)',
  cheque_clearing: 'cheques until they are cashed (payment type 4)',
  voucher_liability: 'vouchers that were sold, and taken as payment (payment type 5); one account',
  consolidation_clearing:
    'from member invoices to their consolidated invoice (payment type 6); one account, closes by itself',
  mobile_clearing: 'mobile payments until they are paid out (payment type 7)',
  prepayment_liability: 'what clients paid in advance, and its use (payment type 8); one account',
  prepayment_vat:
    'VAT that was paid on prepayments when they were received, until they are used (policies.prepayment_vat); one account',
  gift_card_liability: 'gift cards that were sold, and taken as payment (payment type 9); one account',
  financing_receivable: 'what financing companies owe (payment type 10)',
  other_clearing: 'other payments (payment type 11)',
  credit_settlement: 'between an invoice and its credit note (payment type 12); one account, closes by itself',
  insurance_receivable: 'what insurance companies owe (payment type 15)',
};
