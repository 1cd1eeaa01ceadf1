// The figures of the pages are those of the command line, which other tests compare with the records of the source.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addClient } from '../../sandbox/src/people.ts';
import { integer } from '../../src/db/columns.ts';
import { row } from '../../src/db/rows.ts';
import { makeReport } from '../../src/queries/report.ts';
import { reports } from '../../src/reports/index.ts';
import type { Item, LinePlace } from '../../src/reports/report-sections.ts';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { type Browser, clinics, hostileName, now, openTestConsole, type TestConsole } from './support.ts';
import { linksIn, tablesIn } from './tables.ts';

const database = useDatabase();
const [id, empty] = clinics;
let site: TestConsole;
let clinic: MirroredClinic;
let accountant: Browser;

beforeAll(async () => {
  clinic = new MirroredClinic(database.db, database.url, { id, seed: 4, invoices: 80 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'));
  const sold = { sum: '124.00', vat_percentage: '24', account_number: '3000' };
  const client = addClient(clinic.clinic, { organization_name: hostileName, customer_type: 1 });
  clinic.clinic.createInvoice({ client: client.id, rows: [sold] });
  await clinic.pull();
  await clinic.post();
  site = await openTestConsole(database);
  await site.user('accountant', [
    ['accountant', id],
    ['accountant', empty],
  ]);
  await site.user('kirjanpitäjä', [['viewer', id]], 'fi');
  accountant = await site.signedIn('accountant');
});
afterAll(async () => {
  await site?.close();
  clinic?.remove();
});

const page = async (path: string, browser = accountant) => {
  const answer = await browser.get(`/${id}/reports${path}`);
  expect(answer.statusCode).toBe(200);
  return answer.body;
};
const command = (line: string) => vetledger([...line.split(' '), '--config', clinic.config], clinic.env);
const made = new Map<string, Promise<Awaited<ReturnType<typeof command>>>>();
const cli = async (line: string) => {
  if (!made.has(line)) made.set(line, command(`report ${line} --json`));
  return (await made.get(line))?.json().installations[0].sections;
};

/** Each report with its days, as a query and as options of the command. */
const asked = {
  month: ['month=2026-02', '--month 2026-02'],
  day: ['as_of=2026-02-28', '--as-of 2026-02-28'],
  span: ['from=2026-01-01&to=2026-02-28', '--from 2026-01-01 --to 2026-02-28'],
  start: ['', ''],
} as const;
const ofFigures = Object.entries(reports)
  .filter(([name]) => !['journal', 'account', 'cutover'].includes(name))
  .map(([name, { of }]) => [name, ...asked[of]] as const);

test('every report is listed', async () => {
  const listed = linksIn(await page('')).filter((link) => link.startsWith(`/${id}/reports/`));
  expect(listed).toEqual(Object.keys(reports).map((name) => `/${id}/reports/${name}`));
});

describe.each(ofFigures)('%s', (name, query, options) => {
  test('shows the figures and totals of the command line', async () => {
    const tables = tablesIn(await page(`/${name}?${query}`));
    const sections: { figures: Record<string, unknown>[]; total: Record<string, string> }[] = Object.values(
      await cli(`${name} ${options}`),
    );
    const filled = sections.filter(({ figures }) => figures.length > 0);
    expect(tables).toHaveLength(filled.length);
    for (const [at, { figures, total }] of filled.entries()) {
      const { rows, total: shownTotal } = tables[at]!;
      expect(rows).toHaveLength(figures.length);
      const amounts = Object.keys(total);
      for (const [index, row] of rows.entries())
        for (const cell of row.filter((each) => /^-?\d+\.\d\d$/.test(each)))
          expect(amounts.map((each) => figures[index]?.[each])).toContain(cell);
      for (const cell of shownTotal.slice(1).filter((each) => each !== ''))
        expect(Object.values(total)).toContain(cell);
    }
  });

  test('each figure opens its documents, which add up to it', async () => {
    const body = await page(`/${name}?${query}`);
    const [table] = tablesIn(body);
    const open = linksIn(body).filter((link) => link.includes('figure=') && !link.includes('csv='));
    if (table === undefined) return;
    expect(open.length).toBeGreaterThan(0);
    const answer = await accountant.get(open[0]!);
    const [lines] = tablesIn(answer.body);
    const money = (cells: string[]) => cells.filter((each) => /^-?\d+\.\d\d$/.test(each));
    expect(money(lines!.total)).toEqual(money(table.rows[0]!).slice(-money(lines!.total).length));
  });

  test('a table is a file, the same as that of the command line', async () => {
    const [section] = Object.keys(await cli(`${name} ${options}`));
    const answer = await accountant.get(`/${id}/reports/${name}?${query}&csv=${section}`);
    expect(answer.headers['content-type']).toContain('text/csv');
    expect(answer.headers['content-disposition']).toMatch(/^attachment; filename="4711-[a-z_0-9-]+\.csv"$/);
    const span = reports[name as keyof typeof reports].of === 'span';
    const { stdout } = await command(`report ${name} ${options} --csv${span ? '' : ` ${section}`}`);
    expect(answer.body).toBe(stdout);
  });
});

async function listed(items: Iterable<Item> | AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('lines', () => {
  test('the journal has 500 lines a page, and every line on one page', async () => {
    const first = await page('/journal?from=2026-01-01&to=2026-03-10');
    const next = linksIn(first).find((link) => link.includes('after='))!;
    const second = (await accountant.get(next)).body;
    const rows = [...tablesIn(first)[0]!.rows, ...tablesIn(second)[0]!.rows];
    expect(tablesIn(first)[0]?.rows).toHaveLength(500);
    const { journal } = await cli('journal --from 2026-01-01 --to 2026-03-10');
    const all: Record<string, string>[] = journal.figures[0].documents;
    expect(all.length).toBeGreaterThan(500);
    expect(rows.slice(0, all.length).map((row) => row.slice(-2))).toEqual(
      all.slice(0, rows.length).map(({ debit, credit }) => [debit, credit]),
    );
    expect(tablesIn(second)[0]?.total.slice(-2)).toEqual([journal.total.debit, journal.total.credit]);
  });

  test('an account has its lines with the running balance; documents are links', async () => {
    const body = await page('/account?account=1700&from=2026-01-01&to=2026-02-28');
    const { account } = await cli('account 1700 --from 2026-01-01 --to 2026-02-28');
    const of: Record<string, string>[] = account.figures[0].documents;
    expect(tablesIn(body)[0]?.rows.map((row) => row.slice(-5))).toEqual(
      of.map((each) => [each.running_balance ?? '', each.opening, each.debit, each.credit, each.closing]),
    );
    expect(linksIn(body)).toContain(`/${id}/documents/${of.at(-1)?.document?.replace(' ', '/')}`);
  });

  test.each([null, 'department'] as const)('an account split by %s continues after any line', async (split) => {
    const days = { from: '2026-01-15', to: '2026-02-28' };
    const linesAfter = async (after: LinePlace | null) => {
      const asked = { days, split, after, recordedBy: null, documents: true, account: '1700', now };
      const { sections } = await makeReport(database.db, 'trial-balance', clinic.installation, asked);
      const lines: Item[][] = [];
      for (const { items } of sections[0]!.figures.filter(({ keys }) => keys.account === '1700'))
        lines.push(await listed(items));
      return lines;
    };
    const whole = await linesAfter(null);
    expect(whole.length > 1).toBe(split !== null);
    for (const [part, lines] of whole.entries()) {
      const own = lines.filter(({ at }) => at !== undefined);
      for (const place of [0, Math.floor(own.length / 2), own.length - 1])
        expect((await linesAfter(own[place]!.at!))[part]).toEqual(own.slice(place + 1));
    }
  });

  test('an entry is continued after its first line', async () => {
    const [first] = tablesIn(await page('/journal?from=2026-01-01&to=2026-03-10'));
    const { seq } = await row(
      database.db,
      { seq: integer },
      'select seq from entry order by entry_date, seq limit 1',
      [],
    );
    const after = `${first!.rows[0]![1]}_${seq}_1`;
    const [rest] = tablesIn(await page(`/journal?from=2026-01-01&to=2026-03-10&after=${after}`));
    expect(rest!.rows.slice(0, 499)).toEqual(first!.rows.slice(1));
  });

  test('a place before the period shows no line of other days', async () => {
    const query = 'from=2026-02-10&to=2026-02-12';
    const lines = tablesIn(await page(`/journal?${query}`));
    expect(tablesIn(await page(`/journal?${query}&after=2026-01-01_1_1`))).toEqual(lines);
  });

  test('a search selects lines, and the total follows', async () => {
    const body = await page('/account?account=1700&from=2026-01-01&to=2026-02-28&q=payment');
    const { rows, total } = tablesIn(body)[0]!;
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every(([document]) => document?.startsWith('payment'))).toBe(true);
    const cents = (cell: string) => Math.round(Number(cell) * 100);
    expect(cents(total.at(-2)!)).toBe(rows.reduce((all, row) => all + cents(row.at(-2)!), 0));
  });
});

test('a search finds the words that the page shows in the language of the reader', async () => {
  const finnish = await site.signedIn('kirjanpitäjä');
  const address = '/trial-balance?from=2026-01-01&to=2026-02-28';
  const names = async (browser: Browser, search = '') =>
    (tablesIn(await page(`${address}&q=${encodeURIComponent(search)}`, browser))[0]?.rows ?? []).map((row) =>
      row.find((cell) => /^\p{L}[\p{L} ]{5,}$/u.test(cell)),
    );
  const [english, translated] = [await names(accountant), await names(finnish)];
  const at = translated.findIndex((name, n) => name !== english[n]);
  expect(at).toBeGreaterThanOrEqual(0);
  expect(await names(finnish, translated[at])).toContain(translated[at]);
  expect(await names(accountant, translated[at])).toEqual([]);
});

test('a search selects figures, and the total follows', async () => {
  const body = await page('/trial-balance?month=2026-02&q=1700');
  const { rows, total } = tablesIn(body)[0]!;
  expect(rows).toHaveLength(1);
  expect(total.slice(-4)).toEqual(rows[0]?.slice(-4));
});

test.each([
  ['month=2026-02&as_of=2026-02-28', 'These days do not fit together'],
  ['from=2026-02-28&to=2026-02-01', 'These days do not fit together'],
  ['from=2026-02-28', 'These days do not fit together'],
  ['month=2026-13', 'These days do not fit together'],
  ['as_of=x', 'These days do not fit together'],
  ['recorded_by=yesterday', 'neither a day nor a time'],
  ['by=color&line=-1&section=%00&figure=%27', 'Trial balance'],
])('the query %s gets a page that says what is wrong', async (query, text) => {
  expect(await page(`/trial-balance?${query}`)).toContain(text);
});

test('entries recorded later are left out', async () => {
  const body = await page('/trial-balance?month=2026-02&recorded_by=2020-01-01');
  expect(tablesIn(body)[0]?.total.slice(-4)).toEqual(['0.00', '0.00', '0.00', '0.00']);
});

test('the name of a client is text, and is found', async () => {
  const body = await page('/receivables?as_of=2026-03-31&q=ONERROR');
  expect(tablesIn(body)[0]?.rows).toHaveLength(1);
  expect(tablesIn(body)[0]?.rows[0]).toContain(hostileName);
  const [open] = linksIn(body).filter((link) => link.includes('figure='));
  const lines = (await accountant.get(open!)).body;
  for (const each of [body, lines]) expect(each).not.toContain('<img');
  expect(open).not.toContain('img');
});

test.each(Object.keys(reports))('%s of an empty clinic has no figures', async (name) => {
  const answer = await accountant.get(`/${empty}/reports/${name}?account=1700`);
  expect(answer.statusCode).toBe(200);
  expect(
    tablesIn(answer.body).flatMap(({ rows }) => rows.filter((row) => row.some((cell) => /[1-9]\.\d\d/.test(cell)))),
  ).toEqual([]);
});

test('VAT has the boxes of a form', async () => {
  const body = await page('/vat?month=2026-02&form=fi');
  const { form_base: boxes } = await cli('vat --month 2026-02 --form fi');
  expect(body).toContain(boxes.figures[0].title);
});

test('a report that does not exist is not found', async () => {
  expect((await accountant.get(`/${id}/reports/constructor`)).statusCode).toBe(404);
});

test('pages are in the language of the user', async () => {
  const body = await page('/trial-balance?month=2026-02', await site.signedIn('kirjanpitäjä'));
  expect(body).toContain('<h1>Saldoluettelo</h1>');
});

test('a user gets one report at a time, and other users are not kept waiting', async () => {
  const journal = `/${id}/reports/journal?from=2026-01-01&to=2026-02-28`;
  const reader = await site.signedIn('kirjanpitäjä');
  const [own, second, other] = await Promise.all([
    accountant.get(journal),
    accountant.get(journal),
    reader.get(journal),
  ]);
  expect([own.statusCode, second.statusCode].sort()).toEqual([200, 429]);
  expect(other.statusCode).toBe(200);
  expect((await accountant.get(journal)).statusCode).toBe(200);
});
