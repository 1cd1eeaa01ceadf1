import { catalogue } from '../catalogue.ts';

/** The reason why the mapping has no account (P4). These messages are also the causes of held documents. */
export const lookUpFindings = catalogue('findings/mapping.lookUpFindings', {
  roleUnmapped: ({ role }: { role: string }): string => `the mapping has no account for roles.${role}`,
  ruleWithoutAccount: ({ rule, account }: { rule: number; account: string }): string =>
    account === ''
      ? `revenue_rules.${rule} of the mapping gives no account for a row that names no revenue account`
      : `revenue_rules.${rule} of the mapping gives no account for revenue account ${account}`,
  rowWithoutAccount: 'a row names no revenue account',
  revenueUnmapped: ({ account }: { account: string }): string => `the mapping has no account for revenue.${account}`,
  vatUnmapped: ({ group }: { group: string }): string => `the mapping has no VAT account for ${group}`,
  vatUnmappedSeveral: ({ group, accounts }: { group: string; accounts: string }): string =>
    `the mapping has no VAT account for ${group} (the rows name several: ${accounts})`,
  vatGroup: ({ name, rate }: { name: string; rate: string }): string => `VAT group ${name} at ${rate}`,
  noVatGroup: ({ rate }: { rate: string }): string => `rows at ${rate} that name no VAT group`,
  rate: ({ rate }: { rate: string }): string => `${rate} %`,
  noRate: 'no rate',
  paymentTypeUnmapped: ({ type }: { type: number }): string => `payment type ${type} has no role`,
  noCashCustomer: 'the mapping has no cash_customer',
  voucherRowsWithVat: ({ role }: { role: string }): string => `rows that go to ${role} have VAT, or a VAT rate`,
});

/** Where the source uses a value that has no account in the mapping. */
export const usageTexts = catalogue('findings/mapping.usageTexts', {
  rows: ({ account, dimensions, group }: Record<'account' | 'dimensions' | 'group', string>): string =>
    `rows on ${account}${dimensions && ` [${dimensions}]`}, ${group}`,
  noAccount: 'no account',
  rowsOfGroup: ({ group }: { group: string }): string => `rows of ${group}`,
  group: ({ name, rate }: { name: string; rate: string }): string => `${name} at ${rate}`,
  noGroup: 'no VAT group',
  invoices: 'invoices',
  consolidatedInvoices: 'consolidated invoices',
  withoutClient: ({ what }: { what: string }): string => `${what} without a client`,
  paymentsBy: ({ type }: { type: string }): string => `payments by ${type}`,
  prepaymentsBy: ({ type }: { type: string }): string => `prepayments by ${type}`,
  noPaymentType: 'no payment type',
  paymentType: ({ type, name }: { type: number; name: string }): string =>
    name === '' ? `payment type ${type}` : `payment type ${type} (${name})`,
  inDepartment: ({ what, department }: { what: string; department: number }): string =>
    `${what}, department ${department}`,
});

/** Values of the source that the mapping does not name, although they have an account. */
export const unnamedTexts = catalogue('findings/mapping.unnamedTexts', {
  noVatGroups:
    'the mapping has no vat_groups, so reports cannot show the kinds of VAT groups, and `report eu-sales` is empty',
  groupWithoutLine: ({ group }: { group: string }): string =>
    `vat_groups has no line for ${group}, so reports cannot show its kind`,
  neverSold: ({ role }: { role: string }): string =>
    `no rule of revenue_rules has the role ${role}, so the sale of these gift cards or vouchers is posted as revenue`,
  dimension: ({ dimension, value }: { dimension: string; value: string }): string =>
    `rules test ${dimension}, but no rule names ${value}`,
});

/** Rows that are posted as revenue although their names suggest a liability. */
export const owedTexts = catalogue('findings/mapping.owedTexts', {
  onAccount: ({ account, name }: { account: string; name: string }): string => `on account ${account} "${name}"`,
  ofGroup: ({ group }: { group: string }): string => `of VAT group ${group}`,
  account: 'account',
  vatGroup: 'VAT group',
  recordPrepayments: 'record prepayments as prepayments in the practice software',
  giveRole: ({ role }: { role: string }): string => `give the rows the role ${role} under revenue_rules`,
  warning: ({ rows, accounts, of, todo, key }: Record<'rows' | 'accounts' | 'of' | 'todo' | 'key', string>): string =>
    `rows ${rows} are posted to ${accounts} as revenue, but the name of the ${of} suggests a liability: ${todo}, or name ${key} under accepted if they are revenue`,
});

/** Faults that `vetledger mapping check` finds in a chart of accounts, or when it compares a mapping with one. */
export const chartTexts = catalogue('findings/mapping.chartTexts', {
  noHeading: 'the file has no heading number,name,type,open',
  headingLacks: ({ line, columns }: { line: number; columns: string }): string =>
    `line ${line}: the heading lacks ${columns}`,
  openQuote: ({ line }: { line: number }): string => `line ${line}: a quotation mark is not closed`,
  noNumber: ({ line }: { line: number }): string => `line ${line}: the account number is missing`,
  twice: ({ line, account }: { line: number; account: string }): string =>
    `line ${line}: account ${account} occurs twice`,
  typeUnknown: ({ line, account, types }: { line: number; account: string; types: string }): string =>
    `line ${line}: the type of account ${account} must be one of ${types}`,
  openUnknown: ({ line, account }: { line: number; account: string }): string =>
    `line ${line}: open of account ${account} must be yes or no`,
  account: ({ account, name }: { account: string; name: string }): string =>
    name === '' ? `account ${account}` : `account ${account} (${name})`,
  unknown: ({ account, hint }: { account: string; hint: string }): string =>
    `account ${account} is not in the chart${hint}`,
  hint: ({ near, name }: { near: string; name: string }): string => `; did you mean ${near}${name && ` (${name})`}?`,
  closed: ({ account }: { account: string }): string => `${account} is closed in the chart`,
  typeWrong: ({ account, type, role, types }: Record<'account' | 'type' | 'role' | 'types', string>): string =>
    `${account} is of type ${type} in the chart; ${role} requires ${types}`,
  or: ' or ',
  sharedByTwo: ({ roles, account }: { roles: string; account: string }): string =>
    `${roles} are both on account ${account}`,
  shared: ({ roles, account }: { roles: string; account: string }): string => `${roles} are all on account ${account}`,
  and: ' and ',
  sourceRows: 'rows of the practice software',
  vatGroup: ({ name }: { name: string }): string => (name === '' ? 'rows that name no VAT group' : `VAT group ${name}`),
});

/** Warnings of `vetledger mapping check` about VAT groups without a VAT account. */
export const vatAccountTexts = catalogue('findings/mapping.vatAccountTexts', {
  group: ({ name }: { name: string }): string => `VAT group ${name}`,
  anyGroup: ({ rate }: { rate: string }): string => `VAT at ${rate}`,
  onlyOne: ({ group }: { group: string }): string =>
    `only ${group} has a VAT account, and \`vat\` has no "*": documents with any other VAT will be held`,
  noAccount: ({ group }: { group: string }): string =>
    `documents with ${group} will be held: the mapping gives no VAT account for it`,
});

/** Warnings of `vetledger mapping check` about VAT on payment (policies.vat_due). */
export const vatDueTexts = catalogue('findings/mapping.vatDueTexts', {
  roleMissing: ({ role }: { role: string }): string => `policies.vat_due requires an account for roles.${role}`,
  accountOfSource:
    'policies.vat_due requires VAT accounts in the mapping: `same` is not enough, because payments do not know the accounts of the rows',
  receiptsInAdvance:
    'policies.vat_due without policies.prepayment_vat: prepayments are due when they are received in Finland, Germany and Sweden, but no VAT is posted on them',
});
