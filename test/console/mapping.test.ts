// The screen Mapping: its figures are sums over the clinic's records, and its history is that of the mapping.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { type Browser, clinics, openTestConsole, type TestConsole } from './support.ts';
import { linksIn, tablesIn } from './tables.ts';

const database = useDatabase();
const [id, empty] = clinics;
let site: TestConsole;
let clinic: MirroredClinic;
let accountant: Browser;

const page = async (query = '', of: number = id) => {
  const answer = await accountant.get(`/${of}/mapping${query}`);
  expect(answer.statusCode).toBe(200);
  return answer.body;
};

beforeAll(async () => {
  clinic = new MirroredClinic(database.db, database.url, { id, seed: 4, invoices: 30 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'));
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

test('payments by type have the counts and amounts of the records', async () => {
  const body = await page();
  const table = tablesIn(body)[2]!;
  const paid = clinic.clinic.invoicePayments.all();
  const cents = (text: string) => Math.round(Number(text) * 100);
  const shown = table.rows.filter(([of]) => of === 'payment');
  expect(shown.reduce((sum, row) => sum + Number(row.at(-2)), 0)).toBe(paid.length);
  expect(shown.reduce((sum, row) => sum + cents(row.at(-1)!), 0)).toBe(
    paid.reduce((sum, payment) => sum + cents(String(payment.paid)), 0),
  );
});

test('an account leads to its lines', async () => {
  const account = tablesIn(await page())[0]!.rows[0]![4]!;
  expect(account).toMatch(/^\d{4}$/);
  expect(linksIn(await page())).toContain(`/${id}/reports/account?account=${account}`);
});

test('a search selects rows with their sums, also in the file', async () => {
  const tables = tablesIn(await page('?q=prepayment'));
  expect(tables.length).toBeGreaterThan(0);
  const file = await accountant.get(`/${id}/mapping?csv=payments&q=prepayment`);
  const lines = file.body.trimEnd().split('\r\n');
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines.slice(1)) expect(line).toContain('prepayment');
  expect((await accountant.get(`/${id}/mapping?csv=other`)).statusCode).toBe(404);
});

test('the history has the version, who applied it and why, and its entries', async () => {
  const body = await page();
  const tables = tablesIn(body);
  const used = tables.at(-1)!.rows;
  const { rows: versions } = tables.at(-2)!;
  expect(versions).toHaveLength(1);
  expect(versions[0]).toEqual(expect.arrayContaining(['a test', 'configured', 'in force, configured']));
  const { rows: found } = await database.db.raw('select count(*)::int as n from entry where installation = ?', [id]);
  expect(used.map((row) => row[2])).toEqual([String(found[0].n)]);
  // The cases of the demo's mapping hold.
  expect(tables.at(-3)!.rows.length).toBeGreaterThan(3);
  expect(tables.at(-3)!.rows.map(([, result]) => result)).toEqual(tables.at(-3)!.rows.map(() => 'as expected'));
});

test('a clinic without records has a page', async () => {
  expect(await page('', empty)).toContain('No entry is posted yet.');
});
