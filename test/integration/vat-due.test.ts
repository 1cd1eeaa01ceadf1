import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { text } from '../../src/db/columns.ts';
import { rows } from '../../src/db/rows.ts';
import { reconcile } from '../../src/reconcile/index.ts';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';

// VAT on payment (ACCOUNTING R13) with the database.

const { db, url } = useDatabase();
const demo = readFileSync(new URL('../../mappings/demo.yaml', import.meta.url), 'utf8');
const onPayment = (policy: string) =>
  demo
    .replace('vat: same', 'vat: {"VAT 25.5 %": "2931", "VAT 14 %": "2932", "VAT 10 %": "2933", "*": "2930"}')
    .replace('policies:\n', `policies:\n  vat_due: ${policy}\n`);

const clinics: MirroredClinic[] = [];
afterAll(() => {
  for (const clinic of clinics) clinic.remove();
});

async function clinicOf(id: number, policy: string, settings = {}, invoices = 0) {
  const clinic = new MirroredClinic(db, url, { id, seed: 5, invoices });
  clinics.push(clinic);
  await clinic.configure(onPayment(policy), settings);
  return clinic;
}

async function reportOf(clinic: MirroredClinic) {
  const { id, currency, decimals, timezone, startDate, dialect, mapping } = clinic.installation;
  const input = { id, currency, decimals, timezone, startDate, dialect, mapping };
  const report = await reconcile(db, [{ ...input, refundLowersUnused: true, sourceCounts: {}, today: '2026-03-11' }]);
  return report.installations[0]!;
}

/** An invoice of example 1, at the rates of the sandbox's clinic. */
function invoice1001({ clinic }: MirroredClinic, date = '2026-03-10') {
  return clinic.createInvoice({
    ...{ department: 11, client: clinic.clients.all()[0]!.id, invoice_date: date, status: 3 },
    rows: [
      { sum: '100.00', vat_percentage: '25.50', account_number: '3000' },
      { sum: '50.00', vat_percentage: '14.00', account_number: '3010' },
    ],
  }).id;
}

/** The VAT lines of a document's entry in force, as `role account amount`, and the reasons of its entries. */
async function vatOf(installation: number, kind: string, id: number): Promise<string[]> {
  const found = await rows(
    db,
    { line: text },
    `select l.role || ' ' || round(case l.side when 'debit' then l.amount else -l.amount end, 2)
       || coalesce(' base ' || round(l.vat_base, 2), '') as line
     from document d join entry_line l on l.entry_id = d.entry_id
     where d.installation = ? and d.kind = ? and d.id = ? and l.role in ('vat', 'vat_not_due', 'opening_vat_not_due')
     order by l.role, l.vat_rate`,
    [installation, kind, id],
  );
  return found.map(({ line }) => line);
}

async function balanceOf(installation: number, role: string): Promise<string> {
  const [found] = await rows(
    db,
    { balance: text },
    `select round(coalesce(sum(case l.side when 'debit' then l.amount else -l.amount end), 0), 2)::text as balance
     from entry e join entry_line l on l.entry_id = e.id where e.installation = ? and l.role = ?`,
    [installation, role],
  );
  return found!.balance;
}

test('a payment moves VAT; a payment before its invoice and a void are posted anew', async () => {
  const clinic = await clinicOf(4861, '{payment: 2026-01-01}');
  const invoice = invoice1001(clinic);
  const card = clinic.clinic.pay(invoice, { payment_type: 0, paid: '100.00' }).id;
  await clinic.pull();
  await clinic.post();
  // 182.50 in total: 25.50 × 100 / 182.50 = 13.97, and 7.00 × 100 / 182.50 = 3.84.
  expect(await vatOf(4861, 'payment', card)).toEqual([
    'vat -3.84 base 27.40',
    'vat -13.97 base 54.79',
    'vat_not_due 3.84',
    'vat_not_due 13.97',
  ]);
  const rest = clinic.clinic.pay(invoice, { payment_type: 1, paid: '82.50' }).id;
  await clinic.pull();
  await clinic.post();
  expect(await vatOf(4861, 'payment', rest)).toEqual([
    'vat -3.16 base 22.60',
    'vat -11.53 base 45.21',
    'vat_not_due 3.16',
    'vat_not_due 11.53',
  ]);
  expect(await balanceOf(4861, 'vat_not_due')).toBe('0.00');
  const found = clinic.clinic.invoices.get(invoice)!;
  clinic.clinic.update(clinic.clinic.invoices, found, { status: 99 });
  await clinic.pull();
  await clinic.post();
  expect(await vatOf(4861, 'payment', card)).toEqual([]);
  expect([await balanceOf(4861, 'vat'), await balanceOf(4861, 'vat_not_due')]).toEqual(['0.00', '0.00']);
  const reasons = await rows(
    db,
    { reason: text },
    `select reason from entry where installation = 4861 and kind = 'payment' and document_id = ? order by n`,
    [card],
  );
  expect(reasons.map(({ reason }) => reason)).toEqual(['posted', 'vat_due_changed', 'vat_due_changed']);
});

test('the payments of a collector move the VAT of its members', async () => {
  const clinic = await clinicOf(4862, '{payment: 2026-01-01}');
  const members = [invoice1001(clinic), invoice1001(clinic)];
  const collector = clinic.clinic.consolidate(members).id;
  const half = clinic.clinic.pay(collector, { payment_type: 2, paid: '182.50' }).id;
  await clinic.pull();
  await clinic.post();
  expect(await vatOf(4862, 'payment', half)).toHaveLength(8);
  expect(await balanceOf(4862, 'vat_not_due')).toBe('-32.50');
  clinic.clinic.pay(collector, { payment_type: 2, paid: '182.50' });
  await clinic.pull();
  await clinic.post();
  expect(await balanceOf(4862, 'vat_not_due')).toBe('0.00');
});

test('the latest day is posted once it is over, and later payments move nothing', async () => {
  const clinic = await clinicOf(4863, '{payment: 2025-01-01, latest: {months: 12}}');
  const invoice = invoice1001(clinic, '2025-02-10');
  const card = clinic.clinic.pay(invoice, {
    payment_type: 0,
    paid: '100.00',
    date_added: Date.parse('2025-02-11T10:00:00Z'),
  }).id;
  await clinic.pull();
  await clinic.post(undefined, () => new Date('2026-03-11T09:00:00Z'));
  expect(await vatOf(4863, 'payment', card)).toHaveLength(4);
  expect(await vatOf(4863, 'vat_due', invoice)).toEqual([
    'vat -3.16 base 22.60',
    'vat -11.53 base 45.21',
    'vat_not_due 3.16',
    'vat_not_due 11.53',
  ]);
  const late = clinic.clinic.pay(invoice, { payment_type: 0, paid: '82.50' }).id;
  await clinic.pull();
  await clinic.post(undefined, () => new Date('2026-03-11T09:00:00Z'));
  expect(await vatOf(4863, 'payment', late)).toEqual([]);
  expect(await balanceOf(4863, 'vat_not_due')).toBe('0.00');
});

test('an invoice before the start date moves its opening balance', async () => {
  const clinic = await clinicOf(4864, '{payment: 2026-01-01}', { start_date: '2026-03-01' });
  const invoice = invoice1001(clinic, '2026-02-20');
  clinic.clinic.invoices.get(invoice)!.created = Date.parse('2026-02-20T10:00:00Z');
  clinic.clinic.pay(invoice, { payment_type: 0, paid: '100.00', date_added: Date.parse('2026-02-21T10:00:00Z') });
  const rest = clinic.clinic.pay(invoice, { payment_type: 1, paid: '82.50' }).id;
  await clinic.pull();
  await clinic.post();
  expect(await vatOf(4864, 'payment', rest)).toEqual([
    'opening_vat_not_due 3.16',
    'opening_vat_not_due 11.53',
    'vat -3.16 base 22.60',
    'vat -11.53 base 45.21',
  ]);
});

test('a clinic at work: the VAT on all accounts is that of its invoices', async () => {
  const clinic = await clinicOf(4865, '{payment: 2026-01-01}', {}, 120);
  await clinic.pull();
  await clinic.post();
  for (let round = 0; round < 3; round++) {
    clinic.live(40);
    await clinic.pull();
    await clinic.post();
  }
  const owed = clinic.clinic.invoices
    .all()
    .filter(({ status, consolidated_invoices }) => status === 3 && consolidated_invoices.length === 0)
    .reduce((sum, { total_vat }) => sum + Math.round(Number(total_vat) * 100), 0);
  const booked = Number(await balanceOf(4865, 'vat')) + Number(await balanceOf(4865, 'vat_not_due'));
  expect(Math.round(booked * 100)).toBe(-owed);
  const { equations, listed } = await reportOf(clinic);
  expect(Object.entries(equations).filter(([, { ok }]) => !ok)).toEqual([]);
  expect([equations.E11?.ok, listed.vat_due]).toEqual([true, []]);
});

test('E11 names the invoice whose payment moved another VAT', async () => {
  const clinic = await clinicOf(4866, '{payment: 2026-01-01}');
  const invoice = invoice1001(clinic);
  const first = clinic.clinic.pay(invoice, { payment_type: 0, paid: '100.00' }).id;
  const second = clinic.clinic.pay(invoice, { payment_type: 0, paid: '182.50' }).id;
  await clinic.pull();
  await clinic.post();
  expect((await reportOf(clinic)).equations.E11).toMatchObject({ ok: true });
  await db.raw(`update document set entry_id = null where installation = 4866 and kind = 'payment' and id = ?`, [
    first,
  ]);
  // Without the first payment, the second one must move 32.50 instead of 14.69.
  expect((await reportOf(clinic)).equations.E11).toMatchObject({
    ok: false,
    documents: [
      { document: `invoice ${invoice}`, difference: '17.81', message: expect.stringContaining(`payment ${second}`) },
    ],
  });
});

test('explain shows what a payment moved, with the formula', async () => {
  const clinic = await clinicOf(4867, '{payment: 2026-01-01}');
  const invoice = invoice1001(clinic);
  const card = clinic.clinic.pay(invoice, { payment_type: 0, paid: '100.00' }).id;
  await clinic.pull();
  await clinic.post();
  const run = (...more: string[]) =>
    vetledger(['explain', 'payment', String(card), ...more, '--config', clinic.config], clinic.env);
  expect((await run()).stdout).toContain(
    'VAT 25.5 % 25.5 %: 25.50 × 100.00 paid / 182.50 = 13.97, less 0.00 that was due before: 13.97 (base 54.79)',
  );
  expect((await run('--json')).json().vat_due).toHaveLength(2);
});

test('the VAT report names the VAT of insurance and financing companies, which is due before the money comes', async () => {
  const clinic = await clinicOf(4868, '{payment: 2026-01-01}');
  const invoice = invoice1001(clinic);
  const report = (month: string) =>
    vetledger(['report', 'vat', '--month', month, '--config', clinic.config], clinic.env);
  const pay = async (payment_type: number, paid: string) => {
    clinic.clinic.pay(invoice, { payment_type, paid, date_added: Date.parse('2026-03-11T08:00:00Z') });
    await clinic.pull();
    await clinic.post();
  };
  await pay(0, '50.00');
  expect((await report('2026-03')).stdout).not.toContain('insurance');
  // After 150.00 of 182.50, 20.96 and 5.75 are due; after 50.00 they were 6.99 and 1.92.
  await pay(15, '100.00');
  const { stdout } = await report('2026-03');
  expect(stdout).toContain(
    'Of this VAT, 17.80 EUR is due with payments of type 10 or 15 (financing companies, insurance), before the money comes.',
  );
  expect((await report('2026-02')).stdout).not.toContain('insurance');
});

test('report cutover has the VAT of earlier invoices that was not due, which their payments then move', async () => {
  const clinic = await clinicOf(4869, '{payment: 2026-01-01}', { start_date: '2026-03-01' });
  const before = { date_added: Date.parse('2026-02-20T10:00:00Z') };
  const [partly, unpaid, paid] = [1, 2, 3].map(() => {
    const id = invoice1001(clinic, '2026-02-10');
    clinic.clinic.invoices.get(id)!.created = before.date_added;
    return id;
  }) as [number, number, number];
  clinic.clinic.pay(partly, { payment_type: 0, paid: '100.00', ...before });
  clinic.clinic.pay(paid, { payment_type: 0, paid: '182.50', ...before });
  invoice1001(clinic);
  await clinic.pull();
  await clinic.post();
  const { code, json } = await vetledger(['report', 'cutover', '--json', '--config', clinic.config], clinic.env);
  expect(code).toBe(0);
  const { vat_not_due: found } = json().installations[0].sections;
  // Partly paid: 25.50 - 13.97 and 7.00 - 3.84. Unpaid: 25.50 and 7.00.
  expect(found.figures.map(({ rate, vat, not_due }: Record<string, string>) => [rate, vat, not_due])).toEqual([
    ['14', '14.00', '10.16'],
    ['25.5', '51.00', '37.03'],
  ]);
  expect(found.total.not_due).toBe('47.19');
  // The balance of the account is zero once all is paid: the payments have moved as much.
  for (const [invoice, rest] of [
    [partly, '82.50'],
    [unpaid, '182.50'],
  ] as const)
    clinic.clinic.pay(invoice, { payment_type: 0, paid: rest, date_added: Date.parse('2026-03-10T10:00:00Z') });
  await clinic.pull();
  await clinic.post();
  expect(await balanceOf(4869, 'opening_vat_not_due')).toBe('47.19');
});
