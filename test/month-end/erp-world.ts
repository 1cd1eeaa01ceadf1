// A company in a fake Odoo server, with the books of mappings/odoo-demo.yaml and a tax report.

import { Decimal } from 'decimal.js';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { apiGroups, apiLogin } from '../erp/odoo/fake/company.ts';
import type { Values } from '../erp/odoo/fake/env.ts';
import { FakeOdoo } from '../erp/odoo/fake/index.ts';
import { listen } from '../erp/odoo/fake/listen.ts';
import { demoBooks } from '../support/odoo-demo.ts';

/** Base and tax by tax, such as `14% base`; sales are positive, zero amounts are left out. */
export type Return = Record<string, string>;

export interface OdooBooks {
  url: string;
  database: string;
  user: string;
  password: string;
  /** The accountant closes the days up to and including one for all users. */
  close(through: string): void;
  /** The tax report of posted entries in a month (YYYY-MM). */
  taxReturn(month: string): Return;
  /** The references of posted entries. */
  references(): string[];
  /** Posted entries, one per line: date, reference, and accounts with their balances. */
  entries(): string[];
  stop(): Promise<void>;
}

export async function startOdooBooks({ database }: { database?: string } = {}): Promise<OdooBooks> {
  const odoo = new FakeOdoo({ version: 18, clock: systemClock, ...(database && { database }) });
  const { store } = odoo.core;
  const password = 'secret of the API';
  odoo.addUser(apiLogin, password, apiGroups, { 'ir.model.data': 'r' });
  addBooks(odoo);
  const { url, close: stop } = await listen(odoo);
  const posted = () => store.rows('account.move').filter(({ state }) => state === 'posted');
  return {
    ...{ url, database: odoo.database, user: apiLogin, password, stop },
    close: (through) => {
      const companies = store.rows('res.company').map(({ id }) => id);
      odoo.inside().write('res.company', companies, { fiscalyear_lock_date: through });
    },
    taxReturn: (month) => {
      const moves = new Set(posted().flatMap(({ id, date }) => (String(date).startsWith(month) ? id : [])));
      const lines = store.rows('account.move.line').filter(({ move_id: move }) => moves.has(Number(move)));
      return figures(
        lines.flatMap(({ balance, tax_tag_invert: isInverted, tax_tag_ids: tags }) =>
          ((tags ?? []) as number[]).map((id): [string, Decimal] => {
            const { name, tax_negate: isNegated } = store.get('account.account.tag', id)!;
            const amount = new Decimal(String(balance));
            const isCounted = Boolean(isInverted) === Boolean(isNegated);
            return [String(name).slice(1), isCounted ? amount : amount.negated()];
          }),
        ),
      );
    },
    entries: () =>
      posted().map(({ id, date, ref }) => {
        const lines = store.rows('account.move.line').filter(({ move_id: move }) => move === id);
        const accounts = lines.map(({ account_id: account, balance }) => {
          return `${store.get('account.account', Number(account))!.code} ${balance}`;
        });
        return `${date} ${ref}: ${accounts.join(', ')}`;
      }),
    references: () => posted().map(({ ref }) => String(ref)),
  };
}

/** Sums by name, without zero amounts. */
export function figures(amounts: Iterable<readonly [string, Decimal.Value]>): Return {
  const sums = new Map<string, Decimal>();
  for (const [name, amount] of amounts) sums.set(name, (sums.get(name) ?? new Decimal(0)).plus(amount));
  const told = [...sums].filter(([, sum]) => !sum.isZero()).map(([name, sum]) => [name, sum.toFixed(2)] as const);
  return Object.fromEntries(told.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Adds the accounts and taxes that the demo mapping needs and that the fake's chart lacks. */
function addBooks(odoo: FakeOdoo): void {
  const { store } = odoo.core;
  const make = (model: string, values: Values) => odoo.inside().create(model, [values])[0] ?? 0;
  const accountOf = (code: string) => store.rows('account.account').find((row) => row.code === code)?.id ?? null;
  for (const { type, ...account } of demoBooks.accounts)
    if (accountOf(account.code) === null) make('account.account', { ...account, account_type: type });
  for (const { code, name } of demoBooks.journals) make('account.journal', { code, name, type: 'general' });
  for (const { name, accounts } of demoBooks.plans) {
    const plan = make('account.analytic.plan', { name });
    for (const value of accounts) make('account.analytic.account', { ...value, plan_id: plan });
  }
  for (const partner of demoBooks.partners) make('res.partner', { ...partner });
  const tag = (name: string, isRefund: boolean) =>
    make('account.account.tag', {
      ...{ name: `${isRefund ? '-' : '+'}${name}`, applicability: 'taxes', tax_negate: isRefund },
    });
  for (const { name, rate, account } of demoBooks.taxes) {
    const of = account === null ? {} : { account_id: accountOf(account) };
    const lines = (isRefund: boolean) => [
      [0, 0, { repartition_type: 'base', tag_ids: [[6, 0, [tag(`${name} base`, isRefund)]]] }],
      [0, 0, { repartition_type: 'tax', tag_ids: [[6, 0, [tag(`${name} tax`, isRefund)]]], ...of }],
    ];
    make('account.tax', {
      ...{ name, amount: rate, type_tax_use: 'sale' },
      ...{ invoice_repartition_line_ids: lines(false), refund_repartition_line_ids: lines(true) },
    });
  }
}
