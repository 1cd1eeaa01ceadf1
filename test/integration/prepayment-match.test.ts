import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { reconcile } from '../../src/reconcile/index.ts';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';

const { db, url } = useDatabase();
let nextId = 8200;
let clinic: MirroredClinic;

beforeEach(async () => {
  clinic = new MirroredClinic(db, url, { id: nextId++, seed: 14, invoices: 0 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'));
});
afterEach(() => clinic.remove());

/** An invoice of 200.00 to a client. */
const invoiceTo = (client: number) =>
  clinic.clinic.createInvoice({ client, rows: [{ sum: '200.00', vat_percentage: '0', account_number: '3000' }] }).id;
const prepaidBy = (client: number, paid = '200.00') =>
  clinic.clinic.takePrepayment({ client, department: 11, payment_type: 1, paid, status: 'Ready' }).id;
const window = async () => {
  await clinic.pull();
  await clinic.post();
  expect(await clinic.wrongBooks()).toEqual([]);
};

/** `posted 2400 client:1 119.00`, a line for each line of the payment's entries, reversals too. */
async function booked(payment: number): Promise<string[]> {
  const found = await query<{ text: string }>(
    db,
    `select e.reason || ' ' || l.role || ' ' || l.party_code || ' '
       || case l.side when 'debit' then l.amount else -l.amount end as text
     from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.kind = 'payment' and e.document_id = ? order by e.n, l.line`,
    [clinic.id, payment],
  );
  return found.map(({ text }) => text);
}

async function e3() {
  const { id, currency, decimals, timezone, startDate, dialect } = clinic.installation;
  const input = { id, currency, decimals, timezone, startDate, dialect, today: '2026-04-10' };
  const report = await reconcile(db, [{ ...input, refundLowersUnused: true, sourceCounts: {} }]);
  const { equations, listed } = report.installations[0]!;
  return { ok: equations.E3.ok, clients: listed.prepayment_clients };
}

test('example 14 without VAT: the payer becomes another one, and the prepayment stays its client’s', async () => {
  const [a, b, c] = clinic.clinic.clients.all().map(({ id }) => id) as [number, number, number];
  const [prepayment, invoice] = [prepaidBy(a), invoiceTo(b)];
  const payment = clinic.clinic.applyPrepayment(prepayment, invoice, '119.00').id;
  await window();
  const first = [`posted prepayment_liability client:${a} 119`, `posted receivable client:${b} -119`];
  expect(await booked(payment)).toEqual(first);
  clinic.clinic.changePayer(invoice, c);
  await window();
  expect(await booked(payment)).toEqual([
    ...first,
    `source_changed prepayment_liability client:${a} -119`,
    `source_changed receivable client:${b} 119`,
    `source_changed prepayment_liability client:${a} 119`,
    `source_changed receivable client:${c} -119`,
  ]);
  expect(await e3()).toEqual({ ok: true, clients: [] });
});
