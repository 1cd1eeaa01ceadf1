import { catalogue } from '../catalogue.ts';

/** The meanings of the keys of a mapping file, for the author of a mapping. The JSON schema contains them. */
export const mappingMeanings = catalogue('mapping/meanings.mappingMeanings', {
  title: 'A mapping of vetledger',

  // Conditions of rules
  department: 'the department’s id',
  vatGroup: 'the VAT group’s name',
  vatRate: 'the VAT group’s rate in per cent',
  vatKind: 'the VAT group’s kind in `vat_groups`',
  from: 'invoices dated on this day or later; for a credit note, the date of its first original counts',
  to: 'invoices dated on this day or earlier',
  account: 'the account number of the row',
  dimension1: 'the row’s first reporting dimension',
  dimension2: 'the row’s second reporting dimension',
  dimension3: 'the row’s third reporting dimension',
  internalAccount: 'the row’s internal account',
  internalDimension1: 'the row’s first internal dimension',
  internalDimension2: 'the row’s second internal dimension',
  when: 'all conditions must match; null matches rows without a value',
  ruleAccount: 'the account; `same`: the account that the source names',
  ruleRole:
    'a role instead of an account, for sales that the clinic owes and that are not revenue. Rules with a role are tested before all others; rows with VAT are held',

  // Payment types
  typeRole: 'the role instead of the default role of the payment type',
  typeAccount: 'the account instead of the account of the role',
  typeDepartments: 'another role or account by department',
  paymentTypes: 'roles and accounts of payment types, instead of the defaults; types 6, 8 and 12 cannot be changed',

  // Policies
  prepaymentRate: 'its rate in per cent',
  prepaymentGroup: 'the VAT group of prepayments',
  atReceipt: 'prepayments received on this day or later are posted with VAT',
  prepaymentVat:
    'VAT on prepayments. `listed`: no VAT is posted; reports list it at the end of each month. Or VAT is posted at receipt from a day on, by department, by payment type or for all',
  vatDue:
    'VAT on payment: the VAT of invoices becomes due with their payments instead of with their date. Needs roles.vat_not_due',
  vatDuePayment: 'the VAT of invoices dated on this day or later is due when they are paid',
  vatDueUntil: 'the last day of such invoices',
  vatDueLatest:
    'when VAT is due without a payment: `months` after the invoice date, at the end of that month (Finland: 12); or at the end of the fiscal year of the invoice date, `year_end` (Sweden)',
  vatDueRest:
    'whether the VAT that is not due on `until` becomes due on it (Finland). Otherwise it stays on payment (Germany)',
  lockedPeriod: 'documents dated in a closed period: hold them, or post them on the first open day',
  followSourceLock: 'whether the practice software’s financial_period_lock_date closes our books, too',
  vatPeriod: 'the period of the VAT return; every line has the VAT period of its document’s date',
  oldestMonths:
    'a document dated more than this number of months before it was recorded is held until the accountant accepts its date',
  vatRateExpired: 'invoices dated outside the validity of a VAT group: post them with a remark, or hold them',
  roundingLimit: 'a payment of type 3 (rounding) above this amount is held',

  // Sections
  version: 'the name of this mapping, such as `2026-2`; every entry stores it',
  approvedBy: 'who approved this mapping',
  roles: 'the account of each role; documents that require an empty one are held',
  revenue: '`same`: the account number of the row; or a table by account number, with "*" for all others',
  revenueByDepartment: 'tables like `revenue` by department, which are used before `revenue`',
  revenueRules:
    'ordered rules, which are tested before `revenue_by_department` and `revenue`. Rules with a `role` come first. The first rule that matches gives the account',
  vat: '`same`: the account of the VAT group in the source; or a table by VAT group name and rate, with "*" for all others',
  vatRules: 'ordered rules, which are tested before `vat`: the first rule that matches gives the account',
  country: 'our own country. Sales to other EU countries must not have a VAT number of this country',
  accepted:
    'revenue whose name suggests gift cards, vouchers or prepayments: account number or VAT group of the rows, with the reason why they are revenue. This ends the warning of `mapping check`, `doctor` and the closing checklist, and does not change postings',
  chart:
    'the chart of accounts with which `mapping check` compares this mapping: a CSV file (number, name, type, open) in the same folder, or `erp`',
  cashCustomer: 'the party of counter sales without a client',
  counterparties: 'the party of insurance and financing payments, instead of the payer',

  // Delivery
  erp: 'names in the ERP to which entries are delivered',
  vatCodes:
    'the ERP’s tax code by VAT group and rate. `same`: the name of the group; `none`: no tax code; "*" for all others',
  dimensionName: 'the ERP’s name of the dimension',
  dimensionValues: 'the ERP’s value by our value. `same`: our value; "" for lines without a value, "*" for all others',
  dimensions: 'dimensions that are delivered on revenue and rounding lines; others are not delivered',
  journals: 'the ERP’s journal by kind of document; "*" for all others',
  parties:
    '`per_client`: one party in the ERP for each client, which vetledger finds by our id and creates if it is missing; `collective`: one party for all clients',
  collectiveParty:
    'code of the common party of lines that require a party: with `collective` for all clients, otherwise for cash sales and daily summaries',

  // VAT groups
  groupNames: 'names of the VAT group; if absent, any name without a separate line',
  groupRate: 'its rate in per cent; may be absent for kinds without VAT',
  groupKind: 'its kind in the VAT return',
  groupAccount: 'the VAT account, instead of the account in `vat`',
  groupNotDue: 'the account of the VAT of this group that is not due; if it is absent, that of roles.vat_not_due',
  groupCode: 'the ERP’s tax code, instead of the code in `erp.vat_codes`',
  validFrom: 'the first day on which the line is valid',
  validTo: 'the last day on which the line is valid',
  vatGroups: 'each VAT group’s kind and days of validity, and optionally its account and tax code',
});

/** The meanings of the keys of a specs file. */
export const specsMeanings = catalogue('mapping/meanings.specsMeanings', {
  title: 'Cases of a mapping of vetledger',
  name: 'what the case shows',
  rows: 'the rows of the invoice',
  invoices:
    'invoices and credit notes in the field names of the practice API, with their rows in `rows`. Without `status` they are final; without totals, the totals are those of the rows',
  payments: 'payments in the field names of the practice API; without `invoice` they belong to the first invoice',
  prepayments: 'prepayments in the field names of the practice API',
  entries: ({ tags }: { tags: string }): string =>
    `all expected entries, written by hand: a line "DATE KIND ID", and below it indented lines "ACCOUNT  AMOUNT", with credits negative. After a ";", each line may name its expected tags: ${tags}`,
  remarks: 'every document with remarks, and their codes; if absent, remarks are not compared',
  held: 'every document that must be held, with its problem code',
  timezone: 'time zone of the installation',
  currency: 'currency of the installation',
  startDate: 'the start date, as in the configuration',
  cases: 'the cases',
});

/** The purpose of each role's account. */
export const roleMeanings = catalogue('mapping/meanings.roleMeanings', {
  receivable: 'what clients owe on invoices',
  opening_receivable: 'payments of invoices dated before start_date, which are part of the opening balances',
  card_clearing: 'card payments until the card company pays out (payment type 0)',
  cash: 'cash in hand (payment type 1)',
  bank_clearing: 'bank payments until the bank statement shows them (payment type 2)',
  rounding: 'cash rounding (payment type 3)',
  cheque_clearing: 'cheques until they are cashed (payment type 4)',
  voucher_liability: 'vouchers that were sold and are taken as payment (payment type 5); only one account',
  consolidation_clearing:
    'from member invoices to their consolidated invoice (payment type 6); only one account, whose balance returns to zero',
  mobile_clearing: 'mobile payments until they are paid out (payment type 7)',
  prepayment_liability: 'what clients paid in advance and how it was used (payment type 8); only one account',
  prepayment_vat:
    'VAT that was paid on prepayments when they were received, until they are used (policies.prepayment_vat); only one account',
  vat_not_due:
    'VAT of invoices until it is due with their payments (policies.vat_due); a VAT group may have its own account in vat_groups',
  opening_vat_not_due:
    'VAT of invoices before start_date that becomes due with later payments; part of the opening balances (policies.vat_due)',
  gift_card_liability: 'gift cards that were sold and are taken as payment (payment type 9); only one account',
  financing_receivable: 'what financing companies owe (payment type 10)',
  other_clearing: 'other payments (payment type 11)',
  credit_settlement:
    'between an invoice and its credit note (payment type 12); only one account, whose balance returns to zero',
  insurance_receivable: 'what insurance companies owe (payment type 15)',
});
