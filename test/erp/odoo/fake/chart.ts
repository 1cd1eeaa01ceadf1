// The initial data of a database with a company that uses Odoo's generic chart: accounts, journals, a sales tax and a
// purchase tax.

import type { FakeCore } from './core.ts';
import { Env, type Values } from './env.ts';

export interface AccountSeed {
  code: string;
  name: string;
  account_type: string;
  reconcile?: boolean;
}

const accounts: [code: string, name: string, type: string, reconcile?: boolean][] = [
  ['101000', 'Current Assets', 'asset_current'],
  ['101401', 'Bank', 'asset_cash'],
  ['101402', 'Bank Suspense Account', 'asset_current'],
  ['101403', 'Outstanding Receipts', 'asset_current', true],
  ['101501', 'Cash', 'asset_cash'],
  ['101701', 'Liquidity Transfer', 'asset_current', true],
  ['121000', 'Account Receivable', 'asset_receivable', true],
  ['131000', 'Tax Paid', 'asset_current'],
  ['211000', 'Account Payable', 'liability_payable', true],
  ['251000', 'Tax Received', 'liability_current'],
  ['252000', 'Tax Payable', 'liability_current'],
  ['400000', 'Product Sales', 'income'],
  ['450000', 'Other Income', 'income_other'],
  ['600000', 'Expenses', 'expense'],
];

const journals: [code: string, name: string, type: string][] = [
  ['INV', 'Customer Invoices', 'sale'],
  ['BILL', 'Vendor Bills', 'purchase'],
  ['MISC', 'Miscellaneous Operations', 'general'],
  ['EXCH', 'Exchange Difference', 'general'],
  ['CABA', 'Cash Basis Taxes', 'general'],
  ['BNK1', 'Bank', 'bank'],
];

/** The administrator's id in every database. Id 1 is Odoo's system user. */
export const administrator = 2;

const administratorGroups = [
  ...['base.group_user', 'base.group_system', 'base.group_partner_manager'],
  ...['account.group_account_user', 'account.group_account_manager', 'analytic.group_analytic_accounting'],
];

export function seed(core: FakeCore): void {
  const env = new Env(core, administrator, {}, true);
  const { store } = core;
  const make = (model: string, values: Values) => env.create(model, [values])[0] ?? 0;
  // These rows refer to each other, so they are inserted directly.
  const country = 1;
  store.put('res.country', { id: store.nextId('res.country'), name: 'United States', code: 'US' });
  const currency = store.nextId('res.currency');
  store.put('res.currency', {
    id: currency,
    name: 'EUR',
    symbol: '€',
    active: true,
    decimal_places: 2,
    rounding: 0.01,
  });
  const partner = store.nextId('res.partner');
  store.put('res.partner', { id: partner, name: 'My Company', active: true, lang: 'en_US' });
  const company = store.nextId('res.company');
  store.put('res.company', {
    ...{ id: company, name: 'My Company', partner_id: partner, currency_id: currency, active: true, parent_id: false },
    account_fiscal_country_id: country,
  });
  store.nextId('res.users');
  const admin = store.nextId('res.users');
  const person = store.nextId('res.partner');
  store.put('res.partner', { id: person, name: 'Administrator', active: true, lang: 'en_US' });
  store.put('res.users', {
    ...{ id: admin, login: 'admin', password: 'admin', active: true, partner_id: person },
    ...{ company_id: company, company_ids: [company] },
  });
  core.addGroups(env);
  const groupIds = [...core.groupNames].filter(([, name]) => administratorGroups.includes(name)).map(([id]) => id);
  env.update('res.users', admin, { [core.version === 19 ? 'group_ids' : 'groups_id']: [[6, 0, groupIds]] });
  for (const [code, name, active] of [
    ['en_US', 'English (US)', true],
    ['fi_FI', 'Finnish / Suomi', false],
  ] as const) {
    make('res.lang', { code, name, active });
  }
  make('ir.module.module', {
    ...{ name: 'account', state: 'installed', shortdesc: 'Invoicing', application: true },
    latest_version: `${core.version}.0.1.2`,
  });
  const ids = new Map<string, number>();
  for (const [code, name, type, reconcile = false] of accounts) {
    ids.set(code, make('account.account', { code, name, account_type: type, reconcile }));
  }
  for (const [at, [code, name, type]] of journals.entries())
    make('account.journal', { code, name, type, sequence: at });
  env.update('res.company', company, { account_journal_suspense_account_id: ids.get('101402') ?? 0 });
  for (const [use, account] of [
    ['sale', '251000'],
    ['purchase', '131000'],
  ] as const) {
    const lines = [
      [0, 0, { repartition_type: 'base' }],
      [0, 0, { repartition_type: 'tax', account_id: ids.get(account) ?? 0 }],
    ];
    make('account.tax', {
      ...{ name: '15%', amount: 15, type_tax_use: use },
      ...{ invoice_repartition_line_ids: lines, refund_repartition_line_ids: lines },
    });
  }
}
