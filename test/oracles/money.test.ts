import { globSync } from 'node:fs';
import { API, type Project } from 'typescript/unstable/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Column, json, numeric, numerics, text } from '../../src/db/columns.ts';
import { row, rows } from '../../src/db/rows.ts';
import { useDatabase } from '../support/database.ts';
import { allowed, isAllowed } from './money-allowed.ts';
import { type Finding, findMoneyLeaks, isMoneyName, type Rule } from './money-guard.ts';

const root = new URL('../../', import.meta.url).pathname;
const samplesFile = `${root}test/oracles/samples.ts`;
const samplesConfig = `${root}test/oracles/tsconfig.samples.json`;
const nameOf = (path: string) => path.slice(root.length);

/** Folders in which amounts also have other names. */
const moneyFolders =
  /^(activities|src\/(bookkeeping|documents|domain|erp|ledger|mapping|mirror|posting|practice|queries|reconcile|records|writeback))\/|^sandbox\/src\/(clinic|history|invoicing|live|money|visits|wire)\.ts$/;
const isMoneyFolder = (name: string) => moneyFolders.test(name);

// Code that the guard must report, and code that it must accept; one line per case.

const declared = `import { Decimal } from 'decimal.js';
import pg from 'pg';
import { Money } from '../../src/domain/money.ts';
declare const amount: Money, other: Money, maybe: Money | null, list: Decimal[], text: string, n: number, anything: any;
declare const row: { amount: string; total_with_vat: string; paid: string | null; sum: any; due_date: string; account: string };
declare const types: typeof pg.types, response: Response, tableOf: Record<string, Money>;
`;
const leaks: [Rule, string][] = [
  ['conversion', 'Number(amount)'],
  ['conversion', 'Number(row.amount)'],
  ['conversion', 'Number(row["total_with_vat"])'],
  ['conversion', 'Number(amount.toFixed(2))'],
  ['conversion', 'Number(String(row.sum))'],
  ['conversion', 'Number(row.paid ?? "0")'],
  ['conversion', `Number(\`\${amount}\`)`],
  ['conversion', 'Number.parseFloat(row.amount)'],
  ['conversion', 'parseFloat(row.amount.replace(",", "."))'],
  ['conversion', 'parseInt(row.amount, 10)'],
  ['conversion', 'new Number(amount)'],
  ['conversion', 'Math.round(row.sum)'],
  ['conversion', 'amount.toNumber()'],
  ['conversion', 'maybe?.toNumber()'],
  ['conversion', 'list[0]!.plus(amount).toNumber()'],
  ['conversion', 'tableOf.x!.times(100).toNumber()'],
  ['conversion', 'Number(text)'],
  ['conversion', '[text].map(Number)'],
  ['conversion', '+text'],
  ['operator', '+amount'],
  ['operator', '-amount'],
  ['operator', '+row.amount'],
  ['operator', 'row.sum * 100'],
  ['operator', 'row.sum + row.sum'],
  ['operator', 'row.amount + row.total_with_vat'],
  ['operator', 'anything - anything.dueSum'],
  ['operator', 'amount < other'],
  ['operator', 'amount >= other'],
  ['operator', 'row.amount > row.total_with_vat'],
  ['operator', 'amount === other'],
  ['operator', 'anything.amount | 0'],
  ['declaration', 'const f = (x: { amount: number }) => x'],
  ['declaration', 'const g = (x: { dueSum?: number | null }) => x'],
  ['declaration', 'const { amount: total } = { amount: 1.5 }'],
  ['declaration', 'class Row { unused_amount: number | undefined }'],
  ['declaration', 'const vatBase = 12.5'],
  ['json', 'JSON.parse(text)'],
  ['json', '[text].map(JSON.parse)'],
  ['json', 'await response.json()'],
  ['sql', '`select sum(amount)::float8 from entry_line`'],
  ['sql', `\`select cast(amount as double precision) from entry_line where id = \${n}\``],
  ['sql', '"select amount::real"'],
  ['type_parser', 'types.setTypeParser(1700, (value) => parseFloat(value))'],
  ['type_parser', 'types.setTypeParser(types.builtins.NUMERIC, Number)'],
];
const harmless = [
  'amount.plus(other).lessThan(0)',
  'amount.toFixed(2)',
  'amount === null || maybe !== null',
  'row.due_date < row.due_date',
  'row.account > text',
  'n * 2 + 1',
  'list.length > 0',
  '-n',
  'Math.max(n, list.length)',
  'row.amount === "1.00"',
  'new Money(row.amount)',
  'const dueDate = n, baseUrl = n, amountCount = n',
  'const totals = (x: { amount: string }) => x',
  '`select amount::text, real_name, n::numeric from entry_line`',
  'JSON.stringify(row)',
  'types.setTypeParser(20, (value) => Number.isSafeInteger(n))',
];
const samples = [...leaks.map(([, code]) => code), ...harmless];
const firstLine = declared.split('\n').length;

describe('no JavaScript number carries money', () => {
  let api: API;
  let found: Finding[];
  let inSamples: Finding[];

  beforeAll(() => {
    // The samples exist only in memory, because the linter would report them as files.
    const files = new Map([
      [samplesFile, `${declared}${samples.map((code) => `{ ${code}; }`).join('\n')}\nexport {};\n`],
      [samplesConfig, JSON.stringify({ extends: '../../tsconfig.json', include: [], files: ['samples.ts'] })],
    ]);
    api = new API({
      cwd: root,
      fs: { readFile: (name) => files.get(name), fileExists: (name) => (files.has(name) ? true : undefined) },
    });
    const open = (config: string): Project => {
      const project = api.updateSnapshot({ openProject: config }).getProject(config);
      if (!project) throw new Error(`${config} cannot be opened`);
      return project;
    };
    const patterns = ['src', 'sandbox/src', 'activities', 'workflows', 'scripts', 'bin'].map(
      (folder) => `${folder}/**/*.ts`,
    );
    const sources = globSync(patterns, { cwd: root }).map((name) => root + name);
    expect(sources.length).toBeGreaterThan(100);
    found = findMoneyLeaks(open(`${root}tsconfig.json`), { files: sources, nameOf, isMoneyFolder });
    inSamples = findMoneyLeaks(open(samplesConfig), { files: [samplesFile], nameOf, isMoneyFolder: () => true });
  });
  afterAll(() => api?.close());

  test('nowhere in the sources, but for what is allowed with a reason', () => {
    const leaks = found.filter((finding) => !allowed.some((entry) => isAllowed(entry, finding)));
    const shown = leaks.map(({ file, line, rule, code }) => `${file}:${line}: ${rule}: ${code}`);
    expect(shown, 'a leak: use Decimal; no money at all: rename it, or add it to `allowed` with the reason').toEqual(
      [],
    );
  });

  test('every allowance is still needed', () => {
    const unused = allowed.filter((entry) => !found.some((finding) => isAllowed(entry, finding)));
    expect(unused.map(({ file, rule, code }) => `${rule}: ${file} ${code}`)).toEqual([]);
  });

  test.each(leaks.map(([rule, code], index) => [rule, code, index] as const))('%s: %s is caught', (rule, _, index) => {
    const rules = inSamples.filter(({ line }) => line === firstLine + index).map((finding) => finding.rule);
    expect(rules).toContain(rule);
  });

  test.each(harmless.map((code, index) => [code, index] as const))('%s is left alone', (_, index) => {
    const line = firstLine + leaks.length + index;
    expect(inSamples.filter((finding) => finding.line === line)).toEqual([]);
  });

  test.each([
    ['amount', true],
    ['totalWithVat', true],
    ['total_vat', true],
    ['#dueSum', true],
    ['unused_amount', true],
    ['vatBase', true],
    ['price_with_vat', true],
    ['dueDate', false],
    ['date_paid', false],
    ['base_url', false],
    ['credit_note', false],
    ['netAccount', false],
    ['summary', false],
    ['totalCount', false],
  ])('the name %s is about money: %s', (name, expected) => {
    expect(isMoneyName(name)).toBe(expected);
  });
});

describe('the database', () => {
  const { db } = useDatabase();
  const answers: [name: string, type: Column<unknown>, sql: string, expected: unknown][] = [
    ['an amount', numeric, 'select 9007199254740993.10::numeric as found', '9007199254740993.10'],
    ['a sum', numeric, 'select sum(v) as found from (values (0.10::numeric), (0.20)) t(v)', '0.30'],
    [
      'a list of amounts',
      numerics,
      'select array[0.10, 90071992547409930.10]::numeric[] as found',
      ['0.10', '90071992547409930.10'],
    ],
    ['an empty list', numerics, `select '{}'::numeric[] as found`, []],
    ['a record', json, `select '{"paid": 0.10}'::json as found`, '{"paid": 0.10}'],
    ['a record, as jsonb', json, `select '{"paid": 0.10}'::jsonb as found`, '{"paid": 0.10}'],
  ];
  test.each(answers)('%s is answered digit by digit', async (_, type, sql, expected) => {
    expect(await row(db, { found: type }, sql)).toEqual({ found: expected });
  });

  test('no column is of a floating type, nor of one that JavaScript reads as numbers', async () => {
    const columns = await rows(
      db,
      { column: text },
      `select table_name || '.' || column_name as column from information_schema.columns
       where table_schema = 'vetledger' and table_name <> 'budget'
         -- Ids of drafts and digests, details of problems, filters of a question: all of them texts.
         and (table_name, column_name) not in (('erp_sweep', 'drafts'), ('document', 'problem_details'), ('put_aside', 'filters')) and (data_type in ('real', 'double precision', 'money', 'jsonb')
         or udt_name in ('_float4', '_float8', '_money'))`,
    );
    expect(columns.map(({ column }) => column)).toEqual([]);
  });

  test('a column that is called like money is numeric', async () => {
    const columns = await rows(
      db,
      { column: text, name: text, type: text },
      `select table_name || '.' || column_name as column, column_name::text as name, data_type::text as type
       from information_schema.columns where table_schema = 'vetledger'`,
    );
    const money = columns.filter(({ name }) => isMoneyName(name));
    expect(money.map(({ column }) => column)).toEqual(
      expect.arrayContaining(['entry_line.amount', 'entry_line.vat_base']),
    );
    expect(money.filter(({ type }) => type !== 'numeric')).toEqual([]);
  });
});
