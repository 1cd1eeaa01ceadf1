import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decimal } from 'decimal.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReconcileReport } from '../../src/reconcile/index.ts';
import { vetledger } from '../cli/support.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import {
  balancesByHledger,
  beanCheck,
  byErpAccount,
  hasBeancount,
  hasHledger,
  type ReadPosting,
  readByBeancount,
  readByHledger,
  run,
} from './programs.ts';
import { add, cents, plain, type VatReturn, vatReturnOf } from './vat-return.ts';

// A year of a large clinic: generated, pulled and posted by real windows, corrected by a second window, and exported by
// the command. Then independent programs read the export.
let clinic: TestClinic;
let folder: string;
let report: ReconcileReport['installations'][number];
const file = (name: string) => join(folder, name);
const journal = () => file('books.journal');
const ledger = () => file('books.beancount');
const once = <T>(read: () => T) => {
  let known: T | undefined;
  return () => (known ??= read());
};
const hledgerPostings = once(() => readByHledger(journal()));
const beancountPostings = once(() => readByBeancount(ledger()));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vetledger-oracles-'));
  clinic = await startTestClinic({ seed: 71, invoices: 300, historyDays: 300, rateWindowSeconds: 0.2 });
  expect((await clinic.sync()).error).toBeUndefined();
  // Documents were voided, credited and changed, so the second window appends reversals.
  clinic.sandbox.live(250);
  expect((await clinic.sync()).error).toBeUndefined();
  const command = (...args: string[]) => vetledger([...args, '--config', clinic.config], clinic.env);
  const reconciled = await command('reconcile', '--json');
  expect(reconciled).toMatchObject({ code: 0 });
  report = reconciled.json().installations[0];
  for (const [format, out] of [
    ['hledger', journal()],
    ['beancount', ledger()],
  ] as const) {
    expect(await command('export', '--format', format, '--out', out)).toMatchObject({ code: 0 });
  }
});
afterAll(async () => {
  await clinic?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The balances per account in vetledger's report. */
const ownBalances = () => report.trial_balance.map(({ account, balance }) => [account, balance]);
const figures = (totals: Map<string, Decimal>) =>
  [...totals].sort(([a], [b]) => (a < b ? -1 : 1)).map(([account, total]) => [account, total.toFixed(2)]);

test('the clinic is large, and its books hold corrections', async () => {
  const [counts] = await clinic.rows<{ entries: number; reversals: number; accounts: number }>(
    `select count(*) as entries, count(reverses) as reversals,
       (select count(distinct account) from entry_line) as accounts from entry`,
  );
  expect(counts!.entries).toBeGreaterThan(800);
  expect(counts!.reversals).toBeGreaterThan(3);
  expect(counts!.accounts).toBeGreaterThan(20);
});

describe.skipIf(!hasHledger)('hledger', () => {
  test('check --strict ordereddates accepts the books', () => {
    expect(run('hledger', ['-f', journal(), 'check', '--strict', 'ordereddates'])).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  test('it does not accept them with one cent gone', () => {
    const text = readFileSync(journal(), 'utf8');
    const [line, head, cent] = /^( {4}\S+ {2}EUR -?\d+\.\d)(\d)/m.exec(text)!;
    writeFileSync(file('broken.journal'), text.replace(line, `${head}${(Number(cent) + 1) % 10}`));
    expect(run('hledger', ['-f', file('broken.journal'), 'check', '--strict'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/balance/),
    });
  });

  test('the books cover every entry once, by its code', async () => {
    const codes = run('hledger', ['-f', journal(), 'codes']).stdout.trimEnd().split('\n').sort();
    const entries = await clinic.rows<{ id: string }>(`select id from entry`);
    expect(codes).toEqual(entries.map(({ id }) => id).sort());
  });

  test('its balance of each account is the one reconcile gives', () => {
    const totals = byErpAccount(balancesByHledger(journal()), (name) => decodeURIComponent(name.split(':')[0]!));
    expect(figures(totals)).toEqual(ownBalances());
    expect(Decimal.sum(...totals.values()).toFixed(2)).toBe('0.00');
  });
});

/** The figures of a report by account, of the column that `field` names. */
async function accountFigures(line: string, field: string): Promise<Record<string, string>[]> {
  const ran = await vetledger(['report', ...line.split(' '), '--json', '--config', clinic.config], clinic.env);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  const [section] = Object.values(ran.json().installations[0].sections) as { figures: Record<string, string>[] }[];
  return section!.figures.map((figure) => ({ ...figure, value: figure[field]! }));
}

describe('reports of accounts', () => {
  /** Days of the history, of two years. */
  const days = async () => {
    const found = await clinic.rows<{ day: string }>(
      `select to_char(entry_date, 'YYYY-MM-DD') as day from entry group by 1 order by 1`,
    );
    return [0.1, 1].map((part) => found[Math.ceil(part * found.length) - 1]!.day);
  };

  test.skipIf(!hasHledger)(
    'the trial balance of a day is hledger’s; income and expenses count from 1 January',
    async () => {
      for (const day of await days()) {
        const after = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
        const erp = (name: string) => decodeURIComponent(name.split(':')[0]!);
        const all = byErpAccount(balancesByHledger(journal(), ['-e', after]), erp);
        const year = byErpAccount(balancesByHledger(journal(), ['-b', `${day.slice(0, 4)}-01-01`, '-e', after]), erp);
        const figures = await accountFigures(`trial-balance --as-of ${day}`, 'closing');
        const accounts = figures.filter(({ account }) => account);
        expect(accounts.map(({ account, value }) => [account, value])).toEqual(
          accounts.map(({ account, type }) => {
            const from = type === 'income' || type === 'expense' ? year : all;
            return [account, (from.get(account!) ?? new Decimal(0)).toFixed(2)];
          }),
        );
        expect(accounts.map(({ account }) => account).sort()).toEqual([...all.keys()].sort());
      }
    },
  );

  test('the trial balance of the last day is that of reconcile, and its receivables are those of the report', async () => {
    const day = (await days()).at(-1)!;
    const figures = await accountFigures(`trial-balance --from 0001-01-01 --to ${day}`, 'closing');
    expect(figures.map(({ account, value }) => [account, value])).toEqual(ownBalances());
    for (const asOf of await days()) {
      const open = await vetledger(
        ['report', 'receivables', '--as-of', asOf, '--json', '--config', clinic.config],
        clinic.env,
      );
      const receivable = (await accountFigures(`balance-sheet --as-of ${asOf}`, 'closing')).find(
        ({ account }) => account === '1700',
      );
      expect(receivable!.value).toBe(open.json().installations[0].sections.receivables.total.open);
    }
  });
});

describe.skipIf(!hasBeancount)('beancount', () => {
  test('bean-check accepts the books', () => {
    expect(run(beanCheck, [ledger()])).toMatchObject({ code: 0, stderr: '' });
  });

  test('its balance of each account is the one reconcile gives', () => {
    const postings = beancountPostings().map(({ account, amount }) => [account, amount] as const);
    expect(figures(byErpAccount(postings, (name) => name.split(':')[1]!))).toEqual(ownBalances());
  });
});

describe.skipIf(!hasHledger || !hasBeancount)('the two programs', () => {
  test('read the same lines, tag by tag', () => {
    const [one, other] = [hledgerPostings(), beancountPostings()];
    expect(one.length).toBe(other.length);
    const key = ({ entry, date, amount, tags }: ReadPosting) =>
      [
        entry,
        date,
        amount.toFixed(2),
        ...['vat_group', 'vat_rate', 'vat_base', 'invoice', 'payment_type', 'department', 'rule'].map(
          (name) => tags.get(name) ?? '',
        ),
      ].join(' ');
    expect(one.map(key).sort()).toEqual(other.map(key).sort());
  });
});

/** Base and tax per month, group and rate, added up from the tags of the journal's lines. */
function vatReturnFromTags(postings: ReadPosting[]): VatReturn {
  const found: VatReturn = new Map();
  for (const { date, account, amount, tags } of postings) {
    const group = tags.get('vat_group');
    if (group === undefined) continue;
    const isVat = /:vat$/i.test(account);
    // The base has the sign of its line; a debt to the tax office is a credit.
    const sign = amount.isPositive() ? -1n : 1n;
    const key = `${date.slice(0, 7)} ${group} ${plain(tags.get('vat_rate')!)}`;
    const base = tags.get('vat_base');
    add(found, key, base === undefined ? 0n : cents(base) * sign, isVat ? -cents(amount.toFixed(2)) : 0n);
  }
  return found;
}

const readable = (found: VatReturn) =>
  [...found]
    .filter(([, { base, tax }]) => base !== 0n || tax !== 0n)
    .map(([key, { base, tax }]) => `${key}: base ${base} tax ${tax}`)
    .sort();

describe('the VAT return', () => {
  const programs: [string, boolean, () => ReadPosting[]][] = [
    ['hledger', hasHledger, hledgerPostings],
    ['beancount', hasBeancount, beancountPostings],
  ];
  for (const [name, isThere, read] of programs) {
    test.skipIf(!isThere)(`base and tax per month, group and rate are the clinic’s own, read by ${name}`, async () => {
      const notPosted = await clinic.rows<{ id: number }>(
        `select id from document where kind = 'invoice' and state not in ('posted', 'nothing_to_post')`,
      );
      const expected = vatReturnOf(clinic.sandbox.clinic, new Set(notPosted.map(({ id }) => id)));
      expect(expected.size).toBeGreaterThan(20);
      expect(readable(vatReturnFromTags(read()))).toEqual(readable(expected));
    });
  }

  test('what is left out of it is held or not final, and that is little', async () => {
    const held = await clinic.rows<{ id: number }>(`select id from document where kind = 'invoice' and state = 'held'`);
    expect(held.length).toBeLessThan(15);
  });
});
