import { describe, expect, test } from 'vitest';
import { accountsNamed, accountsUsed } from '../../src/mapping/accounts-written.ts';
import { type Chart, parseChart } from '../../src/mapping/chart.ts';
import { checkAgainstChart, sharedAccounts } from '../../src/mapping/check-chart.ts';
import type { LineRole } from '../../src/terms.ts';
import { folderOf, vetledger } from '../cli/support.ts';
import { mappingOf, money } from '../posting/support.ts';

function chartOf(text: string): Chart {
  const result = parseChart(text);
  if ('errors' in result) throw new Error(result.errors.join('; '));
  return result.chart;
}

const chart = chartOf(`number,name,type,open
1700,Receivables,asset,yes
1900,Cash,asset,yes
1910,Bank,asset,no
2411,Gift cards,liability,yes
2931,VAT,liability,yes
3000,Sales,income,yes
4000,Purchases,expense,yes
`);

describe('a chart as CSV', () => {
  test.each([
    ['commas and quotation marks', 'number,name,type,open\n1700,"Receivables, ""A""",asset,yes\n'],
    [
      'semicolons, columns in another order, others aside',
      '\uFEFFName;Open;x;Type;Number\r\nReceivables, "A";yes;;asset;1700\r\n',
    ],
    ['comments, and no column `open`', '# ours\nnumber,name,type\n# asset\n1700,"Receivables, ""A""",Asset\n'],
  ])('%s', (_, text) => {
    expect([...chartOf(text).values()]).toEqual([
      { number: '1700', name: 'Receivables, "A"', type: 'asset', isOpen: true },
    ]);
  });

  test.each([
    ['', 'the file has no heading number,name,type,open'],
    ['number,name\n1,a', 'line 1: the heading lacks type'],
    [
      '# a\nnumber,name,type\n1,a,money',
      'line 3: the type of account 1 must be one of asset, liability, equity, income, expense',
    ],
    ['number,name,type,open\n1,a,asset,maybe', 'line 2: open of account 1 must be yes or no'],
    ['number,name,type,open\n1,a,asset,yes\n1,b,asset,yes', 'line 3: account 1 occurs twice'],
    ['number,name,type,open\n,a,asset,yes', 'line 2: the account number is missing'],
    ['number,name,type,open\n1,"a,asset,yes', 'line 2: a quotation mark is not closed'],
  ])('%j is refused', (text, error) => {
    expect(parseChart(text)).toEqual({ errors: [error] });
  });
});

describe('accounts against the chart', () => {
  test.each<[LineRole, string, string | null]>([
    ['receivable', '1700', null],
    ['cash', '1900', null],
    ['cash', '19000', 'account 19000 is not in the chart; did you mean 1900 (Cash)?'],
    ['cash', '7', 'account 7 is not in the chart'],
    // Closed accounts and accounts of an unsuitable type are not proposed, even if their number is similar.
    ['bank_clearing', '1911', 'account 1911 is not in the chart; did you mean 1900 (Cash)?'],
    ['vat', '3001', 'account 3001 is not in the chart'],
    ['bank_clearing', '1910', 'account 1910 (Bank) is closed in the chart'],
    ['cash', '2411', 'account 2411 (Gift cards) is of type liability in the chart; cash requires asset'],
    [
      'gift_card_liability',
      '3000',
      'account 3000 (Sales) is of type income in the chart; gift_card_liability requires liability',
    ],
    ['revenue', '2411', 'account 2411 (Gift cards) is of type liability in the chart; revenue requires income'],
    ['revenue', '4000', 'account 4000 (Purchases) is of type expense in the chart; revenue requires income'],
    ['vat', '2931', null],
    ['vat', '3000', 'account 3000 (Sales) is of type income in the chart; vat requires liability'],
    ['rounding', '4000', null],
    [
      'rounding',
      '2411',
      'account 2411 (Gift cards) is of type liability in the chart; rounding requires income or expense or asset',
    ],
    ['credit_settlement', '2931', null],
  ])('%s on %s', (role, account, message) => {
    const faults = checkAgainstChart([{ account, role, path: 'p' }], chart);
    expect(faults.map((fault) => fault.message)).toEqual(message === null ? [] : [message]);
  });
});

test('every place of a mapping that names an account', () => {
  const mapping = mappingOf({
    roles: { cash: '1900', receivable: '1700', gift_card_liability: '' },
    revenue: { '3000': 'same', '3010': '4010', '3020': '', '*': 'same' },
    revenue_by_department: { 12: { '*': '4012' } },
    revenue_rules: [
      { when: {}, account: '4001' },
      { when: {}, account: 'same' },
      { when: {}, role: 'voucher_liability' },
    ],
    vat: { A: '2931', B: { 24: '2924', '*': 'same' } },
    vat_rules: [{ when: {}, account: '2999' }],
    vat_groups: [{ rate: 24, kind: 'domestic', account: '2900' }, { kind: 'exempt' }],
    payment_types: { 0: { account: '1920', departments: { 12: { account: '1921' }, 13: { role: 'cash' } } } },
  });
  expect(accountsNamed(mapping).map(({ path, account, role }) => `${path} ${account} ${role}`)).toEqual([
    'roles.receivable 1700 receivable',
    'roles.cash 1900 cash',
    'revenue.3000 3000 revenue',
    'revenue.3010 4010 revenue',
    'revenue_by_department.12.* 4012 revenue',
    'revenue_rules.0.account 4001 revenue',
    'vat_rules.0.account 2999 vat',
    'vat_groups.0.account 2900 vat',
    'vat.A 2931 vat',
    'vat.B.24 2924 vat',
    'payment_types.0.account 1920 card_clearing',
    'payment_types.0.departments.12.account 1921 card_clearing',
  ]);
});

test('what the source itself names is checked, too', () => {
  const row = {
    account: '2411',
    department: 11,
    dimensions: [null, null, null] as [null, null, null],
    internal: { account: null, dimension1: null, dimension2: null },
    vat: { name: 'V', rate: money('24'), account: '2939' },
    count: 1,
    net: money('1'),
    vatAmount: money('1'),
    gross: money('2'),
    hasNet: true,
    hasVat: true,
    dates: null,
  };
  const used = accountsUsed({ rows: [row], money: [], invoices: [] }, mappingOf({ vat: 'same' }));
  expect(checkAgainstChart(used, chart).map(({ path, message }) => `${path}: ${message}`)).toEqual([
    'revenue.same (rows of the practice software): account 2411 (Gift cards) is of type liability in the chart; revenue requires income',
    'vat.same (VAT group V): account 2939 is not in the chart; did you mean 2931 (VAT)?',
  ]);
});

test('two roles on one account', () => {
  const named = (role: LineRole, account: string) => ({ role, account, path: '' });
  expect(
    sharedAccounts([
      named('voucher_liability', '2411'),
      named('vat', '2931'),
      named('vat', '2931'),
      named('gift_card_liability', '2411'),
      named('cash', '1900'),
      named('card_clearing', '1900'),
      named('other_clearing', '1900'),
    ]),
  ).toEqual([
    'card_clearing, cash, other_clearing are all on account 1900',
    'gift_card_liability and voucher_liability are both on account 2411',
  ]);
});

describe('mapping check', () => {
  const csv = 'number,name,type,open\n1700,Receivables,asset,yes\n1910,Bank,asset,no\n3000,Sales,income,yes\n';
  const check = (files: Record<string, string>) => {
    const folder = folderOf(files);
    return vetledger(['mapping', 'check', `${folder}/m.yaml`, '--json', '--config', `${folder}/none.yaml`]);
  };

  test('exit code 1 with the accounts that the chart does not have as needed', async () => {
    const mapping =
      'chart: c.csv\nroles: {receivable: "1770", bank_clearing: "1910", cash: "3000", rounding: "3000"}\n';
    const { code, json } = await check({ 'm.yaml': mapping, 'c.csv': csv });
    expect(code).toBe(1);
    expect(json()).toMatchObject({
      ok: false,
      chart: { file: expect.stringContaining('c.csv'), accounts: 3 },
      faults: [
        { code: 'account_closed', path: 'roles.bank_clearing', account: '1910' },
        { code: 'account_type_wrong', path: 'roles.cash', account: '3000' },
        { code: 'account_unknown', path: 'roles.receivable', account: '1770' },
      ],
      warnings: ['cash and rounding are both on account 3000'],
    });
  });

  test('exit code 0 where all is right; a warning alone is no fault', async () => {
    const mapping = 'chart: c.csv\nroles: {receivable: "1700", opening_receivable: "1700"}\nrevenue: {"3000": same}\n';
    const { code, json } = await check({ 'm.yaml': mapping, 'c.csv': csv });
    expect({ code, faults: json().faults }).toEqual({ code: 0, faults: [] });
    expect(json().warnings).toEqual(['opening_receivable and receivable are both on account 1700']);
  });

  test.each([
    ['a chart that is not there', 'chart: d.csv', 'chart_unreadable', /d\.csv does not exist/],
    ['a chart that is wrong', 'chart: m.yaml', 'chart_invalid', /line 1: the heading lacks number, name, type/],
  ])('exit code 2 with %s', async (_, text, error, message) => {
    const { code, json } = await check({ 'm.yaml': text, 'c.csv': csv });
    expect(code).toBe(2);
    expect(json().error).toMatchObject({ code: error, message: expect.stringMatching(message) });
  });

  test('exit code 2 with `chart: erp` and no configuration', async () => {
    const { code, json } = await check({ 'm.yaml': 'chart: erp' });
    expect(code).toBe(2);
    expect(json().error.message).toContain('`chart: erp` requires a configuration');
  });
});
