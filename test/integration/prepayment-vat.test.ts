import { readFileSync } from 'node:fs';
import { Decimal } from 'decimal.js';
import { afterAll, expect, test } from 'vitest';
import { text } from '../../src/db/columns.ts';
import { execute, rows } from '../../src/db/rows.ts';
import { reconcile } from '../../src/reconcile/index.ts';
import { prepayments } from '../../src/reports/prepayments.ts';
import { useDatabase } from '../support/database.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';

const { db, owner, url } = useDatabase();
const demo = readFileSync(new URL('../../mappings/demo.yaml', import.meta.url), 'utf8');
const withVat = demo
  .replace(', rate: 25.5, kind: domestic}', ', rate: 25.5, kind: domestic, account: "2931"}')
  .replace(
    'policies:\n',
    'policies:\n  prepayment_vat: {at_receipt: 2026-02-15, group: {name: "VAT 25.5 %", rate: 25.5}}\n',
  );
const clinics: MirroredClinic[] = [];
afterAll(() => {
  for (const clinic of clinics) clinic.remove();
});

async function reportOf(clinic: MirroredClinic) {
  const { id, currency, decimals, timezone, startDate, dialect, mapping } = clinic.installation;
  const input = {
    ...{ id, currency, decimals, timezone, startDate, dialect, mapping },
    refundLowersUnused: true,
    sourceCounts: {},
    today: '2026-03-11',
  };
  return (await reconcile(db, [input])).installations[0]!;
}

/** `prepayment_vat` per original, from the lines of all its entries, debit positive. */
async function suspended(installation: number): Promise<Decimal> {
  const [found] = await rows(
    db,
    { balance: text },
    `select coalesce(sum(case l.side when 'debit' then l.amount else -l.amount end), 0)::text as balance
     from entry e join entry_line l on l.entry_id = e.id where e.installation = ? and l.role = 'prepayment_vat'`,
    [installation],
  );
  return new Decimal(found!.balance);
}

test('what a clinic takes in advance has its VAT at receipt, and gives it back with each refund and use', async () => {
  const clinic = new MirroredClinic(db, url, { id: 4801, seed: 5, invoices: 120 });
  clinics.push(clinic);
  await clinic.configure(withVat);
  await clinic.pull();
  await clinic.post();
  for (let round = 0; round < 3; round++) {
    clinic.live(40);
    await clinic.pull();
    await clinic.post();
  }
  const report = await reportOf(clinic);
  expect(report.equations.E8).toMatchObject({ ok: true, documents: [] });
  expect(Object.values(report.equations).every(({ ok }) => ok)).toBe(true);
  const used = await rows(
    db,
    { kind: text },
    'select distinct kind from entry e join entry_share s on s.entry_id = e.id order by kind',
    [],
  );
  expect(used.map(({ kind }) => kind)).toEqual(['payment', 'prepayment']);

  // From the source's records: VAT × unused / paid of what was received with VAT, to half a cent each.
  let expected = new Decimal(0);
  let received = 0;
  for (const { refunds, paid, unused_amount, status, created } of clinic.clinic.prepayments.all()) {
    const isMoney = status === 'Ready' || status === 'Fully used';
    const day = new Date(created).toLocaleDateString('sv-SE', { timeZone: 'Europe/Helsinki' });
    if (refunds !== null || !isMoney || day < '2026-02-15') continue;
    received += 1;
    const vat = new Decimal(paid).times(25.5).dividedBy(125.5).toDecimalPlaces(2, Decimal.ROUND_HALF_EVEN);
    expected = expected.plus(vat.times(unused_amount).dividedBy(paid));
  }
  expect(received).toBeGreaterThan(2);
  expect(report.listed.prepayment_vat).toContainEqual({
    document: 'prepayment 701',
    message: '80.00 of it was used or refunded; it was received without VAT, so it gives no VAT back',
  });
  const left = await suspended(4801);
  const { mapping, dialect, timezone, decimals, startDate } = clinic.installation;
  const input = { id: 4801, mapping, dialect, timezone, decimals, startDate };
  const [lines] = await prepayments(db, input, { from: null, through: '2100-12-31' });
  expect(lines!.total.vat_left?.toFixed(2)).toBe(left.toFixed(2));
  expect(left.minus(expected).abs().lessThan(new Decimal(received).times('0.01'))).toBe(true);
});

/** A prepayment of 200.00 by mobile, of which 119.00 is used on an invoice of its client and 30.00 refunded. */
function used(clinic: MirroredClinic) {
  const { clinic: source } = clinic;
  const { id: client } = source.clients.all()[0]!;
  const invoice = source.createInvoice({
    ...{ department: 11, client, invoice_date: '2026-03-10', status: 3 },
    rows: [{ sum: '200.00', vat_percentage: '0.00', account_number: '3000' }],
  });
  const prepayment = source.takePrepayment({
    department: 11,
    client,
    payment_type: 7,
    paid: '200.00',
    status: 'Ready',
  });
  const payment = source.applyPrepayment(prepayment.id, invoice.id, '119.00');
  const refund = source.refundPrepayment(prepayment.id, '30.00', {});
  return { prepayment, payment, refund };
}

/** The VAT of a document's entries in force, by role, debit positive. */
async function vatOf(installation: number, kind: string, id: number): Promise<string> {
  const found = await rows(
    db,
    { role: text, balance: text },
    `select l.role, round(sum(case l.side when 'debit' then l.amount else -l.amount end), 2)::text as balance
     from document d join entry_line l on l.entry_id = d.entry_id
     where d.installation = ? and d.kind = ? and d.id = ? and l.role in ('vat', 'prepayment_vat') group by l.role order by l.role`,
    [installation, kind, id],
  );
  return found.map(({ role, balance }) => `${role} ${balance}`).join(', ');
}

test('what was used before its prepayment had VAT gives it back once it has; and takes it again when that is gone', async () => {
  const clinic = new MirroredClinic(db, url, { id: 4802, seed: 6, invoices: 5 });
  clinics.push(clinic);
  // The prepayment is held and its uses are posted, while the mapping has no VAT on prepayments.
  await clinic.configure(demo.replace('mobile_clearing: "1921"', 'mobile_clearing: ""'));
  const { prepayment, payment, refund } = used(clinic);
  clinic.clinic.update(clinic.clinic.prepayments, refund, { payment_type: 1 });
  await clinic.pull();
  await clinic.post();
  const all = async () => [
    await vatOf(4802, 'prepayment', prepayment.id),
    await vatOf(4802, 'payment', payment.id),
    await vatOf(4802, 'prepayment', refund.id),
  ];
  expect(await all()).toEqual(['', '', '']);
  await clinic.configure(withVat);
  await clinic.post();
  // 200.00 × 25.5 / 125.5 = 40.64. The share of 119.00 is 24.18, of 30.00 6.10, of both 30.28.
  expect(await all()).toEqual([
    'prepayment_vat 40.64, vat -40.64',
    'prepayment_vat -24.18, vat 24.18',
    'prepayment_vat -6.10, vat 6.10',
  ]);
  expect((await suspended(4802)).toFixed(2)).toBe('10.36');

  clinic.clinic.update(clinic.clinic.prepayments, prepayment, { status: 'Aborted' });
  await clinic.pull();
  await clinic.post();
  expect(await all()).toEqual(['', '', '']);
  expect((await suspended(4802)).toFixed(2)).toBe('0.00');
});

test('E8 names the prepayment whose VAT is not what belongs to its rest', async () => {
  const clinic = new MirroredClinic(db, url, { id: 4803, seed: 7, invoices: 5 });
  clinics.push(clinic);
  await clinic.configure(withVat);
  const { prepayment, payment } = used(clinic);
  await clinic.pull();
  await clinic.post();
  expect((await reportOf(clinic)).equations.E8).toMatchObject({ ok: true });
  // The books are changed directly: the use gave back 20.00 instead of 24.18, and the journal agrees.
  await owner.transaction(async (trx) => {
    await execute(trx, 'set local session_replication_role = replica');
    const entry = `(select entry_id from document where installation = 4803 and kind = 'payment' and id = ${payment.id})`;
    await execute(trx, `update entry_share set vat = 20.00 where entry_id = ${entry}`);
    await execute(
      trx,
      `update entry_line set amount = 20.00 where entry_id = ${entry} and role in ('vat', 'prepayment_vat')`,
    );
  });
  // The remaining VAT is 40.64 - 20.00 - 6.10 = 14.54. Of the 200.00, 51.00 are unused, with a VAT of 10.36.
  expect((await reportOf(clinic)).equations.E8).toMatchObject({
    ok: false,
    difference: '4.18',
    documents: [
      {
        document: `prepayment ${prepayment.id}`,
        message: `14.54 of its VAT is left, but 10.36 belongs to the unused amount of 51.00: the difference is 4.18 of VAT; client ${prepayment.client} has no use without a match`,
      },
    ],
  });
});
