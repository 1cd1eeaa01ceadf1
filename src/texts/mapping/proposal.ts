import { catalogue } from '../catalogue.ts';

/** Marks the places that the accountant must fill in. */
export const toChoose = 'TO CHOOSE';

/** Comments that `vetledger mapping init` writes into a proposed mapping. */
export const proposalTexts = catalogue('mapping/proposal.proposalTexts', {
  noInvoice: 'The mirror contains no final invoice yet. Run `vetledger sync`, and then this command again.',
  noAccountList: 'the account number list could not be read',
  accounts: ({ count }: { count: number }) => `${count} account numbers`,
  title: ({ installation, accounts, invoices }: { installation: number; accounts: string; invoices: number }) =>
    `Proposed by \`vetledger mapping init\` for installation ${installation}: ${accounts}, ${invoices} final invoices.`,
  fillIn: `Fill in each place marked ${toChoose}. Until then, documents that need one of these accounts are held; others are posted. Then:`,
  check: 'vetledger mapping check FILE',
  version: 'name of this mapping, and the person who approved it; every entry stores both',
  chart: 'the chart of accounts (number, name, type, open) with which `mapping check` compares the mapping; or `erp`',
  country: 'our own country; a sale to another EU country must not have a VAT number of it',
  lockedPeriod: 'or redate: post on the first open day; the entry keeps the document’s date',
  followSourceLock: 'true: a period lock of the practice software also closes our books',
  notUsed: 'not used so far',
  roleNotUsed: ({ meaning }: { meaning: string }) => `${meaning}; not used so far`,
  role: ({ meaning, uses }: { meaning: string; uses: string }) => `${toChoose}: ${meaning} · ${uses}`,

  revenue:
    'Revenue by the account number of the row. `same` posts to that number; write another number to post elsewhere.',
  notInList: 'not in the account number list',
  prepayments: ({ account }: { account: string }) =>
    `${toChoose}: its name says prepayments, which are no revenue · ${account}`,
  owed: [
    'The names of these accounts say gift cards and vouchers. Their sale is a liability until they are used, and no revenue. A voucher',
    'for a single VAT rate is revenue when it is sold: move its account to `revenue`.',
  ],
  noAccount: 'Rows without an account number. If possible, give their items a number in the practice software.',
  noDescription: 'no description',
  archived: 'archived',
  department: ({ id }: { id: number }) => `department ${id}`,
  noDepartment: 'no department',
  dimensions: 'Dimensions of the rows. Entries keep them as tags, and a rule under `revenue_rules` can test them:',

  vat: 'VAT by the name and rate of the group. `same` posts to the VAT group’s own account; write another number to post elsewhere.',
  noVatGroup: 'rows without a VAT group',
  noRate: 'no rate',
  rate: ({ rate }: { rate: string }) => `${rate} %`,
  noVatAccount: ({ group, rate, rows }: Record<'group' | 'rate' | 'rows', string>) =>
    `${group} at ${rate}: needs no VAT account · ${rows}`,
  withVat: ({ rows, vat }: { rows: string; vat: string }) => `${rows}, VAT ${vat}`,
  ownAccount: ({ account, rows }: { account: string; rows: string }) => `own account ${account} · ${rows}`,
  severalAccounts: ({ accounts }: { accounts: string }) => `the source names ${accounts}`,
  accountMissing: 'not every row names a VAT account',
  chooseVat: ({ why, rows }: { why: string; rows: string }) => `${toChoose}: ${why} · ${rows}`,

  vatGroups: [
    'What each VAT group is in the VAT return: domestic, reverse_charge, eu_goods, eu_services, export, exempt or outside.',
    '`from: 2026-01-01` and `to:` give the days on which a line is valid. A missing line holds no document, but reports show its sales without a kind.',
  ],
  chooseKind: ({ rows }: { rows: string }) => `${toChoose} the kind, and remove the first # · ${rows}`,

  paymentTypes:
    'Payment types in use, each with its role. Give other roles or accounts, for all or by department, here:',
  paymentRole: ({ type, role, uses }: Record<'type' | 'role' | 'uses', string>) => `${type} → ${role} · ${uses}`,
  choosePaymentRole: `${toChoose}: name its role under payment_types`,

  cashCustomer: ({ invoices, gross }: { invoices: number; gross: string }) =>
    `${toChoose}: the party of counter sales without a client · ${invoices} invoices, ${gross}`,
  cashCustomerUnused: 'the party of counter sales without a client; not used so far',
  counterparties: 'The party of insurance and financing payments, instead of the payer:',
  counterpartiesUnused: 'The party of insurance and financing payments, instead of the payer; not used so far:',
});
