// Runs the programs of examples/ with the client that is generated from the OpenAPI description.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeApi } from '../../src/index.ts';
import { type TestApi, useSandbox } from './harness.ts';

const api = useSandbox();
const empty = useSandbox({ invoices: 0 });
const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = (command: string, ...options: string[]) => promisify(execFile)(command, options, { cwd: root });
/** The folder of the client and the examples. It is below the packages that they use. */
let folder: string;

beforeAll(async () => {
  mkdirSync(`${root}/build`, { recursive: true });
  folder = mkdtempSync(`${root}/build/examples-`);
  cpSync(`${root}/sandbox/examples`, folder, { recursive: true });
  writeFileSync(`${folder}/openapi.json`, JSON.stringify(await describeApi()));
  const options = ['--path', `${folder}/openapi.json`, '--output', folder];
  await run('npm', 'run', 'client', '--workspace', 'sandbox', '--', ...options);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs an example against a sandbox. Returns the printed lines. */
const runExample = async (name: string, { sandbox }: TestApi): Promise<string[]> => {
  const { stdout } = await run(process.execPath, `${folder}/${name}.ts`, sandbox.url);
  return stdout.trimEnd().split('\n');
};

test('the client and the examples compile with --strict', async () => {
  const client = readFileSync(`${folder}/client.ts`, 'utf8');
  writeFileSync(`${folder}/client.ts`, client.replace('// @ts-nocheck\n', ''));
  const { stdout } = await run('npx', 'tsc', '--project', folder).catch((error) => error);
  expect(stdout).toBe('');
});

test('examples/payment-link.ts: a link for an invoice is paid once, one for a prepayment is aborted', async () => {
  const { clinic } = api().sandbox;
  // The first open invoice belongs to a department that does not allow payment links.
  const refused = clinic.createInvoice({ department: 13, client: 2001, rows: [{ sum: '12.00' }] });
  const invoice = clinic.createInvoice({ department: 11, client: 2001, rows: [{ sum: '64.50' }] });
  for (const open of clinic.invoices.all()) {
    if (open.id < refused.id && open.status === 3 && Number(open.due_sum) > 0) clinic.pay(open.id, { payment_type: 2 });
  }
  const client = clinic.clients.get(2001);
  if (client) clinic.update(clinic.clients, client, { no_sms: false, no_email: false });
  expect(await runExample('payment-link', api())).toEqual([
    'links allowed in Pelto Mobile Practice: false',
    'links allowed in Kuusikko Animal Hospital: true',
    `invoice ${invoice.id}: 64.5 due`,
    'payment link of 64.50: Pending',
    '  the page says: Thank you, the payment was accepted',
    '  the page says: Thank you, the payment was accepted',
    'payment link: Accepted',
    'payments by the link: 64.50',
    'prepayment link of 50.00: Pending',
    '  the page says: The payment was aborted',
    'prepayment link: Aborted',
    'sent by email to payer@example.org',
    'sent by sms to +358401234567',
  ]);
  expect(clinic.invoice(invoice.id).due_sum).toBe('0.00');
});

test('examples/online-booking.ts: a visit is booked on the web site, confirmed, and reminded of', async () => {
  const { clinic } = api().sandbox;
  expect(await runExample('online-booking', api())).toEqual([
    'appointment made, request_hash of 40 digits',
    'confirmation before anybody is connected: 400',
    `connected: Minea Harjula with Halla, species ${clinic.people.species.all()[0]?.label}`,
    'confirmation with another hash: 400',
    'confirmation: e-mail sent, SMS not sent',
    'reminder by SMS planned, delivery_status 1',
    'sent by email to minea.harjula@example.org: Your appointment is confirmed',
  ]);
});

test('examples/prescription.ts: written, sent, accepted, and its fee collected over the counter', async () => {
  const { clinic } = api().sandbox;
  const veterinarian = clinic.registers.users.all().find((user) => user.is_veterinarian);
  const patient = clinic.registers.patients.all().find(({ archived, deceased }) => !archived && deceased === null);
  expect(await runExample('prescription', api())).toEqual([
    `prescription for ${patient?.name} by ${veterinarian?.first_name} ${veterinarian?.last_name}: status 1`,
    'item: Kivuton 50 mg, dispensed 1 time',
    'status 2',
    'status 3',
    'status 4',
    "the fee's counter sale: KU, 12.55",
    'the prescription names its sale: true, paid: true',
  ]);
});

test('examples/wholesaler-day.ts: a wholesaler works with the clinic for a day', async () => {
  expect(await runExample('wholesaler-day', empty())).toEqual([
    'token of the scope wholesaler',
    'registered as available wholesaler 51, Esimerkin Tukku',
    'wholesaler.created: credential set 902, customer number 40118',
    'catalog.processed: partially_accepted, 2 rows accepted, 1 rejected',
    '  line 4: invalid_value: wholesale_price must be a number with a decimal point, from 0 to 999999999999.',
    'the clinic imports the catalog: 2 new items',
    'order.placed: order 6101, 4 x Amoxin 50 mg 20 tablets, 4 x Elastic bandage 5 cm',
    'reference number ET-6101 set',
    'marked delivered: order_status 2, all_delivered true',
    'receipts: 2 accepted, 1 rejected',
    '  ET-6101-1: accepted, order 6101, matched by product_code',
    '  ET-6101-2: accepted, order 6101, matched by barcode',
    '  ET-6101-3: rejected, invalid_quantity',
  ]);
});
