import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { text } from '../../src/db/columns.ts';
import { rows } from '../../src/db/rows.ts';
import { balancesOf, differences } from '../support/balances.ts';
import { useDatabase } from '../support/database.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { repostAll } from '../support/reposting.ts';

// Books depend on documents, mapping and decisions, and never on the way there (ACCOUNTING R5, R8).

const { db, url } = useDatabase();
const demo = readFileSync(new URL('../../mappings/demo.yaml', import.meta.url), 'utf8').replace(
  ', rate: 25.5, kind: domestic}',
  ', rate: 25.5, kind: domestic, account: "2931"}',
);
const withVat = (policy: string) => demo.replace('policies:\n', `policies:\n  prepayment_vat: ${policy}\n`);
const atReceipt = withVat('{at_receipt: 2026-01-01, group: {name: "VAT 25.5 %", rate: 25.5}}');

const clinics: MirroredClinic[] = [];
let nextId = 4900;
afterAll(() => {
  for (const clinic of clinics) clinic.remove();
});

async function clinicOf(mapping: string, options: { seed: number; invoices: number }): Promise<MirroredClinic> {
  const clinic = new MirroredClinic(db, url, { id: nextId++, ...options });
  clinics.push(clinic);
  await clinic.configure(mapping);
  return clinic;
}

async function window(clinic: MirroredClinic): Promise<void> {
  await clinic.pull();
  await clinic.post();
}

/** A prepayment of 200.00, used with 119.00 and 51.00, and 30.00 of it paid back; a window after each. */
async function used(clinic: MirroredClinic) {
  const { clinic: source } = clinic;
  const { id: client } = source.clients.all()[0]!;
  const invoice = source.createInvoice({
    ...{ department: 11, client, invoice_date: '2026-03-10', status: 3 },
    rows: [{ sum: '200.00', vat_percentage: '0.00', account_number: '3000' }],
  });
  const received = { department: 11, client, payment_type: 7, paid: '200.00', status: 'Ready' } as const;
  const prepayment = source.takePrepayment(received);
  await window(clinic);
  const payments: { id: number }[] = [];
  for (const paid of ['119.00', '51.00']) {
    payments.push(source.applyPrepayment(prepayment.id, invoice.id, paid));
    await window(clinic);
  }
  const refund = source.refundPrepayment(prepayment.id, '30.00', {});
  await window(clinic);
  return { prepayment, payments, refund };
}

/** `prepayment_vat` of the entry in force of a document, debit positive; empty without such a line. */
async function suspendedOf(installation: number, kind: string, id: number): Promise<string> {
  const found = await rows(
    db,
    { balance: text },
    `select round(sum(case l.side when 'debit' then l.amount else -l.amount end), 2)::text as balance
     from document d join entry_line l on l.entry_id = d.entry_id
     where d.installation = ? and d.kind = ? and d.id = ? and l.role = 'prepayment_vat' having count(*) > 0`,
    [installation, kind, id],
  );
  return found[0]?.balance ?? '';
}

test('VAT at receipt, switched on later: repost brings the uses and the refund, too, and leaves nothing to a window', async () => {
  const clinic = await clinicOf(demo, { seed: 6, invoices: 5 });
  const { prepayment, payments, refund } = await used(clinic);
  await clinic.configure(atReceipt);
  const outcomes = await repostAll(db, clinic);
  const documents = [
    ['prepayment', prepayment.id],
    ...payments.map(({ id }) => ['payment', id]),
    ['prepayment', refund.id],
  ] as [string, number][];
  const all = () => Promise.all(documents.map(([kind, id]) => suspendedOf(clinic.id, kind, id)));
  // 200.00 × 25.5 / 125.5 = 40.64. Of 119.00 are 24.18, of 170.00 34.54, of 200.00 40.64.
  expect(await all()).toEqual(['40.64', '-24.18', '-10.36', '-6.10']);
  expect([...new Set(outcomes.values())].toSorted()).toEqual(['corrected', 'same']);
  expect([...new Set((await repostAll(db, clinic)).values())]).toEqual(['same']);
  await clinic.post();
  expect(await all()).toEqual(['40.64', '-24.18', '-10.36', '-6.10']);
  // Another rate, and off again.
  await clinic.configure(
    withVat('{at_receipt: 2026-01-01, group: {name: "VAT 14 %", rate: 14}}').replace(
      '"VAT 14 %", rate: 14, kind: domestic}',
      '"VAT 14 %", rate: 14, kind: domestic, account: "2932"}',
    ),
  );
  await repostAll(db, clinic);
  // 200.00 × 14 / 114 = 24.56; of 119.00 are 14.61, of 170.00 20.88.
  expect(await all()).toEqual(['24.56', '-14.61', '-6.27', '-3.68']);
  await clinic.configure(demo);
  await repostAll(db, clinic);
  expect(await all()).toEqual(['', '', '', '']);
});

test.each([
  ['listed, then at receipt', demo, atReceipt],
  ['at receipt, then listed', atReceipt, demo],
])('a whole clinic: %s', async (_, first, then) => {
  const options = { seed: 5, invoices: 120 };
  const [one, other] = [await clinicOf(first, options), await clinicOf(then, options)];
  for (const clinic of [one, other]) {
    await clinic.pull();
    await clinic.post();
    clinic.live(60);
    await clinic.pull();
    await clinic.post();
  }
  await one.configure(then);
  await repostAll(db, one);
  await one.post();
  expect(differences(await balancesOf(db, one.id), await balancesOf(db, other.id), '0.01')).toEqual([]);
});
