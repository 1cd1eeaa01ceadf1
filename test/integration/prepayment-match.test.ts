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

/** Each line of the payment's entries as `posted 2400 client:1 119.00`, including reversals. */
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

test('without a match it stands under the invoice’s client, remarked and unproven; a match found later posts it anew', async () => {
  const [a, b] = clinic.clinic.clients.all().map(({ id }) => id) as [number, number];
  const [first, second] = [invoiceTo(b), invoiceTo(b)];
  const prepayment = prepaidBy(a);
  // Two uses appear as one decrease of the unused amount, which equals neither.
  const [one, two] = [
    clinic.clinic.applyPrepayment(prepayment, first, '119.00').id,
    clinic.clinic.applyPrepayment(prepayment, second, '81.00').id,
  ];
  await window();
  const wrong = [`posted prepayment_liability client:${b} 119`, `posted receivable client:${b} -119`];
  expect(await booked(one)).toEqual(wrong);
  expect(await e3()).toEqual({
    ok: true,
    clients: [
      { client: `client ${b}`, ledger: '-200.00', source: '0.00', unproven: [`payment ${one}`, `payment ${two}`] },
      { client: `client ${a}`, ledger: '200.00', source: '0.00', unproven: [`payment ${one}`, `payment ${two}`] },
    ],
  });

  // The accountant knows the first use, and the remaining decrease equals the second.
  const match = (...words: string[]) =>
    vetledger(['problems', 'match', ...words, '--config', clinic.config, '--by', 'M. Virtanen'], clinic.env);
  const said = ['--reason', 'receipt 881'];
  expect(await match(`${clinic.id}/payment/${one}`, '--prepayment', '999999', ...said)).toMatchObject({ code: 1 });
  expect(await match(`${clinic.id}/payment/999999`, '--prepayment', String(prepayment), ...said)).toMatchObject({
    code: 1,
  });
  expect(await match(`${clinic.id}/payment/${one}`, ...said)).toMatchObject({ code: 2 });
  const done = await match(`${clinic.id}/payment/${one}`, '--prepayment', String(prepayment), ...said, '--json');
  expect(done.json()).toEqual({
    ...{ payment: `${clinic.id}/payment/${one}`, prepayments: [prepayment], client: a },
    ...{ by: 'M. Virtanen', reason: 'receipt 881' },
  });
  await window();
  const matched = [
    `prepayment_matched prepayment_liability client:${b} -119`,
    `prepayment_matched receivable client:${b} 119`,
    `prepayment_matched prepayment_liability client:${a} 119`,
    `prepayment_matched receivable client:${b} -119`,
  ];
  expect(await booked(one)).toEqual([...wrong, ...matched]);
  clinic.clinic.mergeExternalInfo(prepayment, { till: 'K1' });
  await window();
  expect((await booked(two)).slice(2, 4)).toEqual([
    `prepayment_matched prepayment_liability client:${b} -81`,
    `prepayment_matched receivable client:${b} 81`,
  ]);
  expect(await e3()).toEqual({ ok: true, clients: [] });
  expect(
    await query(
      db,
      `select u.state, a.acted_by, a.reason, a.input from prepayment_use u left join action_done a on a.id = u.action_id
       where u.installation = ? order by u.payment_id`,
      [clinic.id],
    ),
  ).toEqual([
    { state: 'set', acted_by: 'M. Virtanen', reason: 'receipt 881', input: expect.any(String) },
    { state: 'matched', acted_by: null, reason: null, input: null },
  ]);

  // The match was wrong and is removed.
  await match(`${clinic.id}/payment/${one}`, '--none', '--reason', 'receipt 881 was another one');
  await window();
  expect((await booked(one)).at(-2)).toBe(`prepayment_matched prepayment_liability client:${b} 119`);
});
