// What is held and late, with amounts by hand: rows at 14 % in January, which is closed.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problemCatalogue } from '../../src/texts/problems.ts';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { type Browser, clinics, hostileName, openTestConsole, type TestConsole } from './support.ts';
import { linksIn, tablesIn } from './tables.ts';

const database = useDatabase();
const [id, empty] = clinics;
const many = 120;
let site: TestConsole;
let clinic: MirroredClinic;
let accountant: Browser;
let [small, large, other, corrected, held, overpaid] = [0, 0, 0, 0, 0, 0];

const command = (...words: string[]) => vetledger([...words, '--config', clinic.config], clinic.env);
const invoice = (sum: string, account: string, invoice_date = '2026-01-20') =>
  clinic.clinic.createInvoice({
    rows: [{ sum, vat_percentage: '14', account_number: account }],
    ...{ invoice_date, payer_name: hostileName },
  }).id;
const window = async () => {
  await clinic.pull();
  await clinic.post();
};

beforeAll(async () => {
  clinic = new MirroredClinic(database.db, database.url, { id, seed: 5, invoices: 0 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'));
  const source = clinic.clinic;
  [corrected, overpaid] = [invoice('50.00', '3000'), invoice('70.00', '3000', '2026-02-02')];
  source.pay(overpaid, { payment_type: 1, paid: '100.00' });
  await window();
  expect((await command('ledger', 'close', '--through', '2026-01-31', '--yes')).code).toBe(0);
  [small, large, other] = [invoice('1.00', '3000'), invoice('100.00', '3000'), invoice('200.00', '3010')];
  source.updateRow(source.invoiceRows.of(corrected)[0]!.id, { account_number: '3010' });
  held = invoice('10.00', '3000', '2026-02-03');
  // Proof P1 fails, because the totals differ from the rows.
  source.update(source.invoices, source.invoice(held), { total: '999.00' });
  await window();
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

const page = async (filter = '', installation: number = id) => {
  const answer = await accountant.get(`/${installation}/decide?${filter}`);
  expect(answer.statusCode).toBe(200);
  return answer.body;
};
const named = (number: number) => `invoice ${number}`;
/** The documents of the list, in its order. */
const listed = (body: string) =>
  tablesIn(body).flatMap(({ rows }) => rows.flatMap(([cell]) => /^invoice \d+/.exec(cell ?? '')?.[0] ?? []));
const sumsIn = (body: string) => tablesIn(body).find(({ total }) => total[0] === 'Total')?.rows;

test('sums by code, as the command line counts them', async () => {
  const body = await page();
  expect(sumsIn(body)).toEqual([
    [
      expect.stringMatching(/^The .* period_locked$/),
      'invoice',
      '3',
      '343.14',
      '42.14',
      expect.stringContaining('--redate'),
    ],
    [expect.stringMatching(/ change_held$/), 'invoice', '1', '0.00', '0.00', expect.stringContaining('--redate')],
    [expect.stringMatching(/ totals_disagree$/), 'invoice', '1', '11.40', '1.40', expect.any(String)],
  ]);
  expect(tablesIn(body)[0]?.total[2]).toBe('5');
  const { problems } = (await command('problems', '--json')).json();
  expect(problems).toHaveLength(5);
  expect(listed(body).toSorted()).toEqual([small, large, other, corrected, held].map(named).toSorted());
});

test('Clinics counts held and late documents apart', async () => {
  const [table] = tablesIn((await accountant.get('/clinics')).body);
  const own = table?.rows.find(([clinic]) => clinic?.includes(String(id)));
  expect(own?.slice(3, 5)).toEqual(['1', '4']);
});

test('a late document has amount, VAT, age and what each decision does', async () => {
  const body = await page(`q=${large}`);
  const [row] = tablesIn(body)[1]?.rows ?? [];
  expect(row?.slice(1, 4)).toEqual(['2026-01-20', '49', 'period_locked']);
  expect(row?.slice(6, 8)).toEqual(['114.00', '14.00']);
  const shown = row?.[8] ?? '';
  expect(shown).toMatch(/redate.*posted on 2026-02-01.*3000 {2}-100\.00 {2}VAT period 2026-01, late/);
  expect(shown).toMatch(/as dated.*nothing is posted now.*1700 {2}114\.00/);
  expect(shown).toContain('wait');
  expect(linksIn(body)).toContain(`/${id}/documents/invoice/${large}`);
});

test('the effects are those of `late decide --dry-run`', async () => {
  const { shown } = (
    await command('late', 'decide', `${id}/invoice/${other}`, '--redate', '--dry-run', '--reason', 'r', '--json')
  ).json();
  const text = tablesIn(await page(`q=${other}`))[1]?.rows[0]?.[8] ?? '';
  for (const { account, amount } of shown.installations[0].effects)
    expect(text).toMatch(new RegExp(`${account}[^0-9]*  ${amount.replace('.', '\\.')}`));
});

test.each([
  ['month=2026-01', () => [small, large, other, corrected]],
  ['month=2026-02', () => [held]],
  ['code=period_locked', () => [small, large, other]],
  ['code=period_locked&account=3010', () => [other]],
  ['account=3010', () => [other, corrected]],
  ['least=1.15&most=114.00&code=period_locked', () => [large]],
  ['department=999999', () => []],
  ['decided=yes', () => []],
  ['decided=no&code=totals_disagree', () => [held]],
  ['q=no%20such%20text', () => []],
])('the filter %s selects, and sums and CSV follow', async (filter, expected) => {
  const body = await page(filter);
  const documents = expected().map(named).toSorted();
  expect(listed(body).toSorted()).toEqual(documents);
  expect(sumsIn(body)?.reduce((all, row) => all + Number(row[2]), 0) ?? 0).toBe(documents.length);
  const { body: csv, headers } = await accountant.get(`/${id}/decide?${filter}&csv=1`);
  expect(headers['content-disposition']).toBe(`attachment; filename="to-decide-${id}.csv"`);
  const cells = csv.trim().split('\r\n').slice(1);
  expect(cells.map((line) => line.split(',')[1]).toSorted()).toEqual(documents);
});

test('fields that cannot be read are named', async () => {
  const body = await page('month=x&least=-1&department=%00');
  expect(body).toContain('left out: Month, Department, Amount at least.');
  expect(listed(body)).toHaveLength(5);
});

test('remarks are counted, and listed by their code', async () => {
  const body = await page();
  const { remarks } = (await command('problems', '--json')).json();
  const rows = tablesIn(body).at(-1)?.rows;
  expect(rows?.map((row) => row.slice(1, 3))).toEqual(
    remarks.map((each: { count: number; amount: string | null }) => [String(each.count), each.amount ?? '']),
  );
  // Each remark has its sentence beside its code.
  for (const [at, { code }] of remarks.entries())
    expect(rows?.[at]?.[0]).toBe(`${problemCatalogue[code as keyof typeof problemCatalogue].sentence} ${code}`);
  expect(listed(await page('code=overpaid'))).toEqual([named(overpaid)]);
});

test('boxes and filters lead to what a user may do about the documents', async () => {
  const body = await page('code=period_locked&month=2026-01');
  expect(body).toContain(`<input type="checkbox" name="invoice/${large}" value="1"`);
  // The next step of a problem also leads to the form, without a filter.
  const links = linksIn(body).filter((link) => link.includes('/actions/') && link.includes('?'));
  expect(links).toEqual([
    `/${id}/actions/late?code=period_locked&month=2026-01`,
    `/${id}/actions/retry?code=period_locked&month=2026-01`,
  ]);
  const decided = (await accountant.get(`${links[0]}&decision=wait`)).body;
  const again = (await accountant.get(links[1]!)).body;
  for (const each of [decided, again])
    expect(listed(each).toSorted()).toEqual([small, large, other].map(named).toSorted());
  expect(linksIn(await page('code=totals_disagree')).filter((link) => link.includes('/late'))).toEqual([]);
  const { body: read } = await (await site.signedIn('kirjanpitäjä')).get(`/${id}/decide`);
  expect(read).not.toContain('/actions/');
});

test('a decided document says who decided, and why', async () => {
  const decided = await command(
    ...['late', 'decide', `${id}/invoice/${small}`, '--wait', '--reason', 'asks the clinic', '--by', 'M. Virtanen'],
  );
  expect(decided.code).toBe(0);
  const body = await page('decided=yes');
  expect(listed(body)).toEqual([named(small)]);
  expect(body).toMatch(/decided: wait, by M\. Virtanen, .*: asks the clinic/);
});

describe('many documents', () => {
  beforeAll(async () => {
    for (let n = 0; n < many; n++) invoice('2.00', '3000', '2026-01-10');
    await window();
  });
  test('are on pages, each document once', async () => {
    const first = await page('code=period_locked');
    const next = linksIn(first).find((link) => link.includes('after='))!;
    const second = (await accountant.get(next)).body;
    expect(first).not.toContain('<details');
    const one = [...linksIn(first), ...linksIn(second)].find((link) =>
      link.endsWith(`item=${id}%2Finvoice%2F${large}`),
    );
    const alone = (await accountant.get(one ?? '')).body;
    expect([listed(alone), alone.includes('<details')]).toEqual([[named(large)], true]);
    const all = [...listed(first), ...listed(second)];
    expect(listed(first)).toHaveLength(100);
    expect(new Set(all).size).toBe(many + 3);
    expect(all).toHaveLength(many + 3);
    expect(sumsIn(second)).toEqual(sumsIn(first));
  });
});

test('names are text, and pages are in the language of the user', async () => {
  const { body } = await (await site.signedIn('kirjanpitäjä')).get(`/${id}/decide`);
  expect(body).toContain('&lt;img');
  expect(body).not.toContain('<img');
  expect(body).toContain('<h1>Päätettävät</h1>');
});

test('an empty clinic has nothing to decide', async () => {
  const body = await page('account=1&least=2', empty);
  expect(body).toContain('Nothing is held, late, missing or refused.');
  expect(tablesIn(body)).toEqual([]);
});
