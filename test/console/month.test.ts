// The page shows what `ledger close --dry-run` shows, which test/cli/closing.test.ts and others check.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { unzip } from '../support/unzip.ts';
import { type Browser, clinics, openTestConsole, type TestConsole } from './support.ts';
import { linksIn, tablesIn } from './tables.ts';

const database = useDatabase();
const [id, empty] = clinics;
let site: TestConsole;
let clinic: MirroredClinic;
let accountant: Browser;

const command = (...words: string[]) => vetledger([...words, '--config', clinic.config], clinic.env);
const page = async (query = '', of: number = id) => {
  const answer = await accountant.get(`/${of}/month${query}`);
  expect(answer.statusCode).toBe(200);
  return answer.body;
};
/** The lines of the checklist by their titles: state, count now, detail, count at the close. */
const itemsOn = (body: string) =>
  Object.fromEntries(tablesIn(body)[0]!.rows.map(([state, title, ...more]) => [title, [state, ...more]]));

beforeAll(async () => {
  clinic = new MirroredClinic(database.db, database.url, { id, seed: 4, invoices: 30 });
  // Without a gift card account, payments by gift card are held.
  await clinic.configure(readFileSync(demoMapping, 'utf8').replace(/^ *gift_card_liability:.*\n/m, ''));
  const row = { sum: '100.00', vat_percentage: '14', account_number: '3000' };
  const invoice = clinic.clinic.createInvoice({ rows: [row] });
  clinic.clinic.pay(invoice.id, { payment_type: 9, paid: '14.00' });
  await clinic.pull();
  await clinic.post();
  site = await openTestConsole(database);
  await site.user('accountant', [
    ['accountant', id],
    ['accountant', empty],
  ]);
  accountant = await site.signedIn('accountant');
});
afterAll(async () => {
  await site?.close();
  clinic?.remove();
});

test('before the first close, the first month with entries is shown', async () => {
  expect(await page()).toContain('<h1>Month 2026-01</h1>');
});

describe('a month that is not over', () => {
  test('has the items of the checklist with their documents and balances', async () => {
    const { checklist } = (await command('ledger', 'close', '--through', '2026-03-09', '--dry-run', '--json')).json()
      .installations[0];
    const body = await page('?month=2026-03');
    const shown = itemsOn(body);
    expect(body).toContain('This month is not over');
    expect(shown['Last window']).toEqual(['LOOK', '', 'none has closed']);
    expect(shown['Late documents']).toEqual(['ok', '0', '']);
    expect(shown['Not in the ERP']).toEqual(['ok', '', 'nothing is delivered']);
    expect(shown['Rows of revenue named as gift cards or prepayments']?.slice(0, 2)).toEqual(['', '']);
    expect(shown['Clearing accounts with a balance']?.[1]).toBe(String(checklist.clearing.accounts.length));
    const { held, clearing } = checklist;
    expect(held.count).toBeGreaterThan(0);
    for (const { document } of held.documents)
      expect(linksIn(body)).toContain(`/${id}/documents/${document.replace(' ', '/')}`);
    const accounts = tablesIn(body).find(({ rows }) => rows.some((row) => row.includes('card payments')))!.rows;
    expect(accounts).toEqual(
      clearing.accounts.map(({ account, balance }: Record<string, string>) => [account, expect.any(String), balance]),
    );
    const [{ account }] = clearing.accounts;
    expect(linksIn(body)).toContain(`/${id}/reports/account?account=${account}&as_of=2026-03-31`);
  });

  test('says when the books were reconciled', async () => {
    expect(itemsOn(await page('?month=2026-03'))['Differences of the reconciliation']?.[2]).toMatch(
      /reconciled .* ago/,
    );
  });
});

describe('a closed month', () => {
  beforeAll(async () => {
    await command('ledger', 'close', '--through', '2026-01-31', '--yes', '--by', 'M. <b>Virtanen</b>');
    await command(
      ...['report', 'vat', '--month', '2026-01', '--mark-filed', '--shown', await shownHash()],
      ...['--by', 'A. Laine', '--reason', 'filed at OmaVero'],
    );
  });
  const shownHash = async () =>
    (await command('report', 'vat', '--month', '2026-01', '--mark-filed', '--dry-run', '--json')).json()
      .installations[0].vat_return.to_file.shown;

  test('has its binder as one file, with the files of the command', async () => {
    const { headers, rawPayload } = await accountant.get(`/${id}/month/binder?month=2026-01`);
    expect(headers).toMatchObject({
      'content-disposition': `attachment; filename="binder-${id}-2026-01.zip"`,
      'content-type': 'application/zip',
    });
    const out = join(dirname(clinic.config), 'binder');
    await command('export', '--binder', '2026-01', '--out', out);
    const files = unzip(rawPayload);
    expect([...files.keys()].sort()).toEqual(readdirSync(out).map((name) => `binder-${id}-2026-01/${name}`));
    const text = (name: string) => files.get(`binder-${id}-2026-01/${name}`)!.toString();
    // The other files have the name of the clinic, which is another one in this console.
    const tables = readdirSync(out).filter((name) => /\.csv$|^chain|^close/.test(name));
    expect(tables.length).toBeGreaterThan(10);
    expect(tables.map(text)).toEqual(tables.map((name) => readFileSync(join(out, name), 'utf8')));
    for (const [, sum = '', name = ''] of text('checksums.txt').matchAll(/^(\w{64}) {2}(.*)$/gm)) {
      const content = files.get(`binder-${id}-2026-01/${name}`)!;
      expect([name, createHash('sha256').update(content).digest('hex')]).toEqual([name, sum]);
    }
  });

  test.each(['2026-02', '2026-13', ''])('the month "%s" was never closed and has none', async (month) => {
    expect(linksIn(await page(`?month=${month}`)).filter((link) => link.includes('binder'))).toEqual([]);
    expect((await accountant.get(`/${id}/month/binder?month=${month}`)).statusCode).toBe(404);
  });

  test('has the counts of its close, the names, and what was filed', async () => {
    const body = await page('?month=2026-01');
    const { checklist } = (await command('ledger', 'closes', '--json')).json().installations[0].closes[0];
    expect(body).toContain('This month is closed.');
    expect(linksIn(body)).toContain(`/${id}/month/binder?month=2026-01`);
    expect(body).toContain('At the close through 2026-01-31');
    expect(itemsOn(body)['Held documents']?.at(-1)).toBe(String(checklist.held.count));
    expect(body).toContain('M. &lt;b>Virtanen&lt;/b>');
    const filed = tablesIn(body).find(({ rows }) => rows.some((row) => row.includes('filed at OmaVero')));
    expect(filed?.rows[0]).toEqual(['2026-01', '1', expect.any(String), 'A. Laine', 'filed at OmaVero']);
    const vat = (await accountant.get(`/${id}/reports/vat?month=2026-01`)).body;
    expect(vat).toContain('VAT return 2026-01, version 1: filed at');
    expect(vat).toContain('Filed: what the return declares');
    expect(vat).toContain('Changed since');
    await site.user('kirjanpitäjä', [['accountant', id]], 'fi');
    const finnish = await (await site.signedIn('kirjanpitäjä')).get(`/${id}/reports/vat?month=2026-01`);
    // What a person wrote is not translated.
    expect(finnish.body).toContain('A. Laine (filed at OmaVero)');
    expect(finnish.body).toContain('<td>kotimaa</td>');
  });

  test('is compared with by the next month, which is shown without a choice', async () => {
    const body = await page();
    expect(body).toContain('<h1>Month 2026-02</h1>');
    expect(body).toContain('At the close through 2026-01-31');
  });

  test('that is reopened is open again, with the reason', async () => {
    await command(
      'ledger',
      'reopen',
      '--from',
      '2026-01-10',
      '--yes',
      '--by',
      'A. Laine',
      '--reason',
      'wrong statement',
    );
    const body = await page('?month=2026-01');
    expect(body).not.toContain('This month is closed.');
    expect(body).toContain('wrong statement');
    expect(await page()).toContain('<h1>Month 2026-01</h1>');
  });
});

test.each([
  ['vat', 'month=2026-02'],
  ['receivables', 'as_of=2026-02-28'],
  ['prepayments', 'as_of=2026-02-28'],
  ['vouchers', 'as_of=2026-02-28'],
  ['clearing', 'month=2026-02'],
])('the tab %s has the figures of the report, which open their documents', async (tab, days) => {
  const body = await page(`?month=2026-02&tab=${tab}`);
  const report = (await accountant.get(`/${id}/reports/${tab}?${days}`)).body;
  expect(tablesIn(body)).toEqual(tablesIn(report));
  const open = linksIn(body).filter((link) => link.includes('figure='));
  for (const link of open.slice(0, 1)) expect((await accountant.get(link)).statusCode).toBe(200);
});

test.each([
  '',
  '?month=2026-02',
  '?month=x',
  '?month=9999-12',
  '?month=0001-01',
  '?tab=none',
  '?month=2026-02&tab=vat',
])('an empty clinic has a page for "%s"', async (query) => {
  expect(await page(query, empty)).toContain('<h1>Month');
});
