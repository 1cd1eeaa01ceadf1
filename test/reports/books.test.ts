import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import { loadMapping } from '../../src/config/mapping-files.ts';
import { instant, numeric, text } from '../../src/db/columns.ts';
import { transactionsOf } from '../../src/db/lease.ts';
import { execute, row, rows } from '../../src/db/rows.ts';
import { fiscalYearStart } from '../../src/domain/dates.ts';
import { Money } from '../../src/domain/money.ts';
import { storeErpAccountNames } from '../../src/erp/account-names.ts';
import { seqRecordedBy } from '../../src/ledger/account-days.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { summariseDays } from '../../src/ledger/summaries/summarise.ts';
import { verifyChain } from '../../src/ledger/verify.ts';
import { storeSourceAccounts } from '../../src/mirror/source-accounts.ts';
import { accountLines, balanceSheet, income, journal, trialBalance } from '../../src/reports/books.ts';
import type { Asked, Section } from '../../src/reports/report-sections.ts';
import { type DraftLine, draft } from '../ledger/drafts.ts';
import { useDatabase } from '../support/database.ts';
import { runs } from '../support/runs.ts';

const { db, owner } = useDatabase();
let nextInstallation = 1;
const finland = new URL('../../mappings/finland.yaml', import.meta.url).pathname;
const { mapping } = await loadMapping(finland);

const asked: Asked = { split: null, upToSeq: null, documents: false, account: null };

function installationOf(id: number, fiscalYearStart: number): InstallationConfig {
  return {
    id,
    mapping,
    mappingPath: finland,
    fiscalYearStart,
    decimals: 2,
    timezone: 'Europe/Helsinki',
  } as InstallationConfig;
}

test.each([
  ['2026-01-31', 1, '2026-01-01'],
  ['2026-01-31', 2, '2025-02-01'],
  ['2026-02-01', 2, '2026-02-01'],
  ['2026-12-31', 12, '2026-12-01'],
  ['0001-01-01', 1, '0001-01-01'],
])('the fiscal year of %s with first month %i begins on %s', (day, month, start) => {
  expect(fiscalYearStart(day, month)).toBe(start);
});

/** One line of the oracle's list: cents, debit positive. */
interface Posted {
  day: string;
  account: string;
  department: number | null;
  cents: number;
}

const places: [account: string, role: DraftLine[1]][] = [
  ['1700', 'receivable'],
  ['1910', 'cash'],
  ['3000', 'revenue'],
  ['3010', 'revenue'],
  ['2939', 'vat'],
  ['9999', 'rounding'],
];
const isOfResult = (account: string) => ['3000', '3010', '9999'].includes(account);

const day = fc.integer({ min: 0, max: 900 }).map((n) => new Date(Date.UTC(2024, 0, 1 + n)).toISOString().slice(0, 10));
const place = fc.integer({ min: 0, max: places.length - 1 });
const entry = fc.record({
  day,
  lines: fc.array(fc.record({ place, cents: fc.integer({ min: -9_999, max: 9_999 }).filter((n) => n !== 0) }), {
    minLength: 1,
    maxLength: 3,
  }),
  balancing: place,
  department: fc.option(fc.integer({ min: 1, max: 3 })),
});

type Entry = typeof entry extends fc.Arbitrary<infer Value> ? Value : never;

/** Appends the entries, and returns their lines. */
async function post(id: number, entries: readonly Entry[], firstDocument: number): Promise<Posted[]> {
  const posted: Posted[] = [];
  const drafts = entries.flatMap(({ day, lines, balancing, department }, index) => {
    const rest = lines.reduce((sum, { cents }) => sum - cents, 0);
    const all = [...lines, { place: balancing, cents: rest }].filter(({ cents }) => cents !== 0);
    for (const { place, cents } of all) posted.push({ day, account: places[place]![0], department, cents });
    const drafted = all.map(({ place, cents }): DraftLine => {
      const [account, role] = places[place]!;
      return [account, role, (cents / 100).toFixed(2), { departmentId: department }];
    });
    return [draft({ kind: 'invoice', id: firstDocument + index, date: day, lines: drafted })];
  });
  await db.transaction((trx) => appendEntries(trx, id, drafts, { decimals: 2, windowId: null }));
  return posted;
}

const money = (cents: number) => (cents / 100).toFixed(2);

function readable({ figures }: Section): Record<string, string[]> {
  return Object.fromEntries(
    figures
      .map(
        ({ keys, amounts }) =>
          [
            [keys.account ?? keys.name, keys.department ?? ''].join(' '),
            Object.values(amounts).map((amount) => amount.toFixed(2)),
          ] as const,
      )
      .filter(([, amounts]) => amounts.some((amount) => amount !== '0.00')),
  );
}

/** The sums of a section's documents, by figure and column. */
async function sumsOfItems({ figures }: Section): Promise<Record<string, string>[]> {
  const all: Record<string, string>[] = [];
  for (const { amounts, items } of figures) {
    const sums = Object.fromEntries(Object.keys(amounts).map((name) => [name, new Money(0)]));
    for await (const item of items)
      for (const name of Object.keys(sums)) sums[name] = sums[name]!.plus(item.amounts[name] ?? 0);
    all.push(Object.fromEntries(Object.entries(sums).map(([name, amount]) => [name, amount.toFixed(2)])));
  }
  return all;
}
async function factsOf(items: Section['figures'][number]['items']): Promise<unknown[]> {
  const facts: unknown[] = [];
  for await (const item of items) facts.push([item.document, item.facts]);
  return facts;
}
const ofFigures = ({ figures }: Section) =>
  figures.map(({ amounts }) => Object.fromEntries(Object.entries(amounts).map(([name, of]) => [name, of.toFixed(2)])));

/** The oracle: it adds cents, and does not know days, roles or tables. */
function expectedOf(lines: Posted[], from: string, through: string, yearStart: string, isSplit: boolean) {
  const trial: Record<string, string[]> = {};
  const earlier: Record<string, number> = {};
  const results: Record<string, number[]> = {};
  const groups = Map.groupBy(
    lines.filter((line) => line.day <= through),
    ({ account, department }) => [account, isSplit ? (department ?? '') : ''].join(' '),
  );
  const sumOf = (of: Posted[]) => of.reduce((sum, { cents }) => sum + cents, 0);
  for (const [key, own] of groups) {
    const [account, part] = key.split(' ') as [string, string];
    const before = own.filter((line) => line.day < from);
    const old = isOfResult(account) ? sumOf(before.filter((line) => line.day < yearStart)) : 0;
    const opening = sumOf(before) - old;
    const within = own.filter((line) => line.day >= from);
    const debit = sumOf(within.filter(({ cents }) => cents > 0));
    const credit = -sumOf(within.filter(({ cents }) => cents < 0));
    if (opening || debit || credit) trial[key] = [opening, debit, credit, opening + debit - credit].map(money);
    earlier[part] = (earlier[part] ?? 0) + old;
    if (isOfResult(account)) {
      const [a = 0, b = 0] = results[part] ?? [];
      results[part] = [a + opening, b + debit - credit];
    }
  }
  for (const [part, cents] of Object.entries(earlier))
    if (cents) trial[`result of earlier fiscal years ${part}`] = [cents, 0, 0, cents].map(money);
  return { trial, results };
}

test('reports of random books are sums of their lines, for any period, split and time of recording', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(entry, { minLength: 1, maxLength: 25 }),
      fc.array(entry, { minLength: 0, maxLength: 8 }),
      day,
      day,
      fc.integer({ min: 1, max: 12 }),
      fc.boolean(),
      async (first, second, one, other, month, isSplit) => {
        const id = nextInstallation++;
        const installation = installationOf(id, month);
        const before = await post(id, first, 1);
        const { time } = await row(db, { time: instant }, 'select clock_timestamp() as time');
        // The time has milliseconds only.
        await execute(db, 'select pg_sleep(0.002)');
        const all = [...before, ...(await post(id, second, 1_000))];
        const [from, through] = [one, other].sort() as [string, string];
        const period = { from, through };
        const yearStart = fiscalYearStart(from, month);
        const split = isSplit ? ('department' as const) : null;
        for (const [recordedBy, lines] of [
          [null, all],
          [new Date(time.getTime() + 1), before],
        ] as const) {
          const upToSeq = recordedBy && (await seqRecordedBy(db, id, recordedBy));
          const of: Asked = { ...asked, split, upToSeq };
          const { trial, results } = expectedOf([...lines], from, through, yearStart, isSplit);
          const [balances] = await trialBalance(db, installation, period, of);
          expect(readable(balances!)).toEqual(trial);
          expect(balances!.total.closing!.toFixed(2)).toBe('0.00');
          const [sheet] = await balanceSheet(db, installation, period, of);
          for (const total of Object.values(sheet!.total)) expect(total.toFixed(2)).toBe('0.00');
          const [result] = await income(db, installation, period, of);
          const change = Object.values(results).reduce((sum, [, within = 0]) => sum - within, 0);
          expect(result!.total.amount!.toFixed(2)).toBe(money(change));
          // The result is the change of assets and liabilities.
          const changes = sheet!.figures.flatMap(({ keys, amounts }) =>
            keys.account === null ? [] : [amounts.change!],
          );
          expect(Money.sum(0, ...changes).toFixed(2)).toBe(money(change));
          const documents = { ...of, documents: true };
          for (const make of recordedBy === null ? [trialBalance, balanceSheet, income] : [trialBalance]) {
            await db.transaction(async (trx) => {
              const [section] = await make(trx, installation, period, documents);
              expect(await sumsOfItems(section!)).toEqual(ofFigures(section!));
            });
          }
          // One pass over all accounts gives the lines that each account gives alone.
          await db.transaction(async (trx) => {
            const [section] = await trialBalance(trx, installation, period, documents);
            for (const { keys, items } of section!.figures) {
              if (typeof keys.account !== 'string') continue;
              const alone = await accountLines(trx, installation, period, { ...documents, account: keys.account });
              const own = alone[0]!.figures.find((each) => each.keys[split ?? 'account'] === keys[split ?? 'account']);
              expect(await factsOf(items)).toEqual(await factsOf(own!.items));
            }
          });
          const [lineByLine] = await journal(db, installation, period, of);
          expect(await sumsOfItems(lineByLine!)).toEqual(ofFigures(lineByLine!));
        }
      },
    ),
    { numRuns: runs(6) },
  );
});

test('with daily summaries, each line names its summary', async () => {
  const id = nextInstallation++;
  const drafts = [1, 2].map((document) =>
    draft({
      ...{ kind: 'invoice', id: document, date: `2026-01-0${document}`, description: `Invoice ${document}` },
      lines: [
        ['1700', 'receivable', '10.00', { departmentId: 11 }],
        ['3000', 'revenue', '-10.00', { departmentId: 11 }],
      ],
    }),
  );
  const options = { decimals: 2, windowId: null, postingMode: 'daily_summary' } as const;
  await db.transaction((trx) => appendEntries(trx, id, drafts, options));
  await summariseDays(transactionsOf(db), id, { before: '2026-01-02', windowId: null });
  const period = { from: '2026-01-01', through: '2026-01-31' };
  const [section] = await journal(db, installationOf(id, 1), period, asked);
  expect(section!.shape.facts.map(({ name }) => name).slice(0, 3)).toEqual(['date', 'voucher', 'summary']);
  const lines: unknown[] = [];
  for await (const { facts } of section!.figures[0]!.items) lines.push([facts.voucher, facts.summary, facts.account]);
  expect(lines).toEqual([
    ['2026-S-000001', '2026-D-000001', '1700'],
    ['2026-S-000001', '2026-D-000001', '3000'],
    ['2026-S-000002', undefined, '1700'],
    ['2026-S-000002', undefined, '3000'],
  ]);
});

describe('a small clinic', () => {
  const id = 900_001;
  const installation = installationOf(id, 1);
  const period = { from: '2026-01-01', through: '2026-01-31' };
  const sale = (document: number, date: string, amount: string) =>
    draft({
      ...{ kind: 'invoice', id: document, date, description: `Invoice KU-${document}` },
      lines: [
        ['1700', 'receivable', amount, { documentNumber: `KU-${document}`, departmentId: 11 }],
        ['3000', 'revenue', `-${amount}`, { departmentId: 11 }],
      ],
    });
  const drafts = [sale(1, '2025-12-30', '10.00'), sale(2, '2026-01-02', '100.00'), sale(3, '2026-01-03', '7.00')];
  beforeAll(async () => {
    await db.transaction((trx) => appendEntries(trx, id, drafts, { decimals: 2, windowId: null }));
  });

  test('an account is shown line by line, with the number on the document, its voucher and the balance', async () => {
    const [section] = await accountLines(db, installation, period, { ...asked, account: '1700' });
    const [figure] = section!.figures;
    expect(figure!.keys).toMatchObject({ account: '1700', type: 'asset' });
    const lines: unknown[] = [];
    for await (const { document, facts } of figure!.items) lines.push([document, ...Object.values(facts)]);
    expect(lines).toEqual([
      ['balance before'],
      ['invoice 2', '2026-01-02', '2026-S-000001', 'KU-2', 'Invoice KU-2', '110.00'],
      ['invoice 3', '2026-01-03', '2026-S-000002', 'KU-3', 'Invoice KU-3', '117.00'],
    ]);
  });

  test('a name is that of the chart, else of the list of the practice software, else of the ERP, else the purpose', async () => {
    const named = {
      ...installation,
      mapping: { ...mapping, chart: null, revenue: 'same' as const, revenue_rules: [] },
    };
    await storeSourceAccounts(db, id, [
      { number: '3000', description: 'Surgery', departmentId: null, archived: false },
    ]);
    const namesOf = async (of: InstallationConfig) =>
      (await trialBalance(db, of, period, asked))[0]!.figures.map(({ keys }) => keys.name);
    expect(await namesOf(named)).toEqual(['receivables', 'Surgery', 'result of earlier fiscal years']);
    await storeErpAccountNames(
      db,
      id,
      new Map([
        ['1700', 'Debtors\u001b[2J'],
        ['3000', 'Treatments'],
      ]),
    );
    expect((await namesOf(named)).slice(0, 2)).toEqual(['Debtors\\u001b[2J', 'Surgery']);
    expect((await namesOf(installation))[0]).toMatch(/^\p{Lu}/u);
  });

  test('changed sums of a day, and a changed number of entries under a mapping, are found', async () => {
    expect(await verifyChain(db, id)).toBeNull();
    const sums = await rows(
      db,
      { account: text, debit: numeric },
      'select account, debit from account_day where installation = ? and entry_date = ? order by account',
      [id, '2026-01-02'],
    );
    expect(sums).toEqual([
      { account: '1700', debit: '100' },
      { account: '3000', debit: '0' },
    ]);
    await execute(owner, 'update entry_mapping set entries = entries + 1 where installation = ?', [id]);
    expect((await verifyChain(db, id))?.message).toBe('it is not the number of these entries in the journal');
    await execute(owner, 'update entry_mapping set entries = entries - 1 where installation = ?', [id]);
    await execute(owner, `update account_day set debit = 1 where installation = ? and account = '1700'`, [id]);
    expect(await verifyChain(db, id)).toMatchObject({ entryId: 'the sums of account 1700 on 2025-12-30' });
  });
});
