// Every table that `report NAME --csv TABLE` prints: the sum of each column of amounts, calculated by hand from the documents below.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { vatGroups } from '../../sandbox/src/catalogue.ts';
import type { RowInput } from '../../sandbox/src/inputs.ts';
import { decideAll } from '../../src/bookkeeping/decide-many.ts';
import { monthBounds } from '../../src/domain/dates.ts';
import { fileReturn, prepareReturn } from '../../src/queries/vat-returns.ts';
import { reports } from '../../src/reports/index.ts';
import { vetledger } from '../cli/support.ts';
import { closePeriods } from '../support/closing.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';

const { db, url } = useDatabase();
let clinic: MirroredClinic;
let treated = 0;

beforeAll(async () => {
  clinic = new MirroredClinic(db, url, { id: 4711, seed: 1, invoices: 0, now: '2025-12-20T10:00:00Z' });
  await clinic.configure(readFileSync(demoMapping, 'utf8'), { start_date: '2026-01-01' });
  const { clinic: practice } = clinic;
  const [ann, bob] = practice.clients.all().map(({ id }) => id) as [number, number];
  const sale = (client: number, date: string, row: Partial<RowInput> & { sum: string }) =>
    practice.createInvoice({ client, invoice_date: date, rows: [{ account_number: '3000', ...row }] }).id;
  const giftCard = (client: number, date: string, sum: string) =>
    sale(client, date, { account_number: '2411', sum, vat_percentage: '0' });
  // Before the start: an invoice of 114.00 with 14.00 paid, a prepayment of 50.00, a gift card of 40.00.
  const old = sale(ann, '2025-12-20', { sum: '100.00', vat_percentage: '14' });
  practice.pay(old, { payment_type: 0, paid: '14.00' });
  practice.pay(giftCard(ann, '2025-12-20', '40.00'), { payment_type: 1, paid: '40.00' });
  const prepaid = practice.takePrepayment({ client: ann, payment_type: 0, paid: '50.00' }).id;
  // January: sales of 125.50, 57.00, 80.00 (EU) and a gift card of 30.00, and payments of 60.00, 20.00, 30.00, 12.00 and 25.00.
  clinic.at('2026-01-10T10:00:00Z');
  treated = sale(ann, '2026-01-10', { sum: '100.00', vat_percentage: '25.5' });
  practice.pay(treated, { payment_type: 0, paid: '60.00' });
  practice.applyPrepayment(prepaid, treated, '20.00');
  const unpaid = sale(bob, '2026-01-10', { sum: '50.00', vat_percentage: '14' });
  sale(bob, '2026-01-10', { sum: '80.00', vat_percentage: '0', vat_group: vatGroups.euService });
  practice.pay(giftCard(bob, '2026-01-10', '30.00'), { payment_type: 1, paid: '30.00' });
  practice.pay(unpaid, { payment_type: 9, paid: '12.00' });
  practice.pay(old, { payment_type: 2, paid: '25.00' });
  practice.takePrepayment({ client: bob, payment_type: 7, paid: '30.00' });
  await clinic.pull();
  await clinic.post();
});
afterAll(() => clinic?.remove());

const command = (line: string) => vetledger([...line.split(' '), '--config', clinic.config], clinic.env);

/** The sums of a table's columns of amounts, in cents. */
async function sumsOf(line: string, columns: readonly string[]): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await command(line);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const [header = [], ...lines] = stdout.trimEnd().split('\r\n').map(cellsOf);
  return Object.fromEntries(
    columns.map((name) => {
      const at = header.indexOf(name);
      const cents = lines.reduce((sum, cells) => sum + Math.round(Number(cells[at] || 'none') * 100), 0);
      return [name, (cents / 100).toFixed(2)];
    }),
  );
}

function cellsOf(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

/** The names of a report's tables: the error message of `--csv` lists them if there are several. */
async function tablesOf(line: string): Promise<string[]> {
  const { stdout, stderr } = await command(`${line} --csv`);
  const named = /with --csv: ([\w, ]+)\./.exec(stderr)?.[1]?.split(', ');
  return named ?? [stdout.split('\r\n')[1]?.split(',')[4] ?? 'none'];
}

const month = '--month 2026-01';
const end = '--as-of 2026-01-31';
const expected: [line: string, tables: Record<string, Record<string, string>>][] = [
  // 125.50 + 60.00 + 20.00 + 57.00 + 80.00 + 30.00 + 30.00 + 12.00 + 25.00 + 30.00
  [
    `trial-balance ${month}`,
    { trial_balance: { opening: '0.00', debit: '469.50', credit: '469.50', closing: '0.00' } },
  ],
  [`income ${month}`, { income: { amount: '230.00', year_to_date: '230.00' } }],
  [`balance-sheet ${month}`, { balance_sheet: { opening: '0.00', change: '0.00', closing: '0.00' } }],
  // Account 1700 has debits of 125.50 + 57.00 + 80.00 + 30.00, and credits of 60.00 + 20.00 + 30.00 + 12.00.
  [`account 1700 ${month}`, { account: { opening: '0.00', debit: '292.50', credit: '122.00', closing: '170.50' } }],
  [`journal ${month}`, { journal: { debit: '469.50', credit: '469.50' } }],
  [
    `vat ${month}`,
    {
      vat: { base: '230.00', tax: '32.50', source_base: '230.00', source_tax: '32.50', base_difference: '0.00' },
      late: { base: '0.00', tax: '0.00' },
    },
  ],
  [`vat ${month} --form fi`, { form_base: { form: '80.00' }, form_tax: { form: '32.50' }, vat: {}, late: {} }],
  [`eu-sales ${month}`, { eu_sales: { base: '80.00' }, late: { base: '0.00' } }],
  // 170.50, less 25.00 on the old invoice
  [`receivables ${end}`, { receivables: { open: '145.50' } }],
  [
    `prepayments ${end}`,
    {
      prepayments: { received: '80.00', used: '20.00', refunded: '0.00', unused: '60.00', in_books: '10.00' },
      clients: { received: '80.00', used: '20.00', refunded: '0.00', unused: '60.00', in_books: '10.00' },
    },
  ],
  [
    `vouchers ${end}`,
    {
      vouchers: { sold: '30.00', redeemed: '12.00', unused: '18.00' },
      opening: { sold: '40.00', redeemed: '0.00', unused: '40.00' },
    },
  ],
  // 60.00 + 20.00 + 30.00 + 12.00 + 25.00 + 30.00; the gift card and the prepayment of 30.00 each are credits of other entries.
  [
    `clearing ${month}`,
    {
      accounts: { before: '0.00', received: '177.00', paid_back: '0.00', other: '-60.00', balance: '117.00' },
      clearing: { received: '177.00', paid_back: '0.00', open: '177.00' },
    },
  ],
  [
    'cutover',
    {
      receivables: { total: '114.00', paid: '14.00', open: '100.00' },
      prepayments: { received: '50.00', used: '0.00', unused: '50.00' },
      vouchers: { sold: '40.00', redeemed: '0.00', unused: '40.00' },
    },
  ],
];

test.each(expected)('report %s: each column of each table adds up', async (line, tables) => {
  expect((await tablesOf(`report ${line}`)).toSorted()).toEqual(Object.keys(tables).toSorted());
  for (const [table, sums] of Object.entries(tables)) {
    const csv = Object.keys(tables).length === 1 ? '--csv' : `--csv ${table}`;
    expect({ table, ...(await sumsOf(`report ${line} ${csv}`, Object.keys(sums))) }).toEqual({ table, ...sums });
  }
});

test('every report is among them', () => {
  expect(new Set(expected.map(([line]) => line.split(' ')[0]))).toEqual(new Set(Object.keys(reports)));
});

test.each(Object.keys(reports).map((name) => [name]))('report %s: the examples of its help work', async (name) => {
  const help = (await vetledger(['report', name, '--help'])).stdout;
  const lines = [...help.matchAll(/^ {2}\$ vetledger ([^\n>]+)/gm)].map(([, line = '']) => line.trim());
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines.filter((each) => !each.includes('"'))) {
    const { code, stderr } = await command(line);
    expect({ line, code, stderr }).toMatchObject({ line, code: 0 });
  }
});

test('in another language, headings and lines without an account are translated', async () => {
  const sheet = await command(`report balance-sheet ${month} --language fi`);
  expect(sheet.stdout).toMatch(/^ +tilikauden tulos +oma pääoma/m);
});

test('report vat of a filed month: each column of each table adds up', async () => {
  const january = { name: '2026-01', ...monthBounds('2026-01') };
  const by = { actedBy: 'M. Virtanen', reason: 'OmaVero' };
  const choice = { isCorrection: false, take: null };
  await closePeriods(db, [{ id: 4711, today: '2026-03-01' }], january.through);
  const { shown } = await prepareReturn(db, clinic.installation, january, choice);
  await db.transaction((trx) => fileReturn(trx, clinic.installation, january, choice, { shown, by }));
  const credit = clinic.clinic.createInvoice({
    ...{ invoice_date: '2026-01-20', credit_note: true, credit_note_original_invoice: treated },
    rows: [{ sum: '-40.00', vat_percentage: '25.5', account_number: '3000' }],
  });
  await clinic.pull();
  await clinic.post();
  const redate = { decision: 'redate' as const, ...by };
  await db.transaction((trx) => decideAll(trx, 4711, [{ kind: 'invoice', id: credit.id }], redate, { chosen: false }));
  await clinic.post();
  const tables: Record<string, Record<string, string>> = {
    filed: { base: '230.00', tax: '32.50' },
    since: { base: '0.00', tax: '0.00' },
    late: { base: '-40.00', tax: '-10.20' },
    accounts: { tax: '32.50' },
  };
  expect(await tablesOf(`report vat ${month}`)).toEqual(Object.keys(tables));
  for (const [table, sums] of Object.entries(tables))
    expect({ table, ...(await sumsOf(`report vat ${month} --csv ${table}`, Object.keys(sums))) }).toEqual({
      table,
      ...sums,
    });
});
