import { readFileSync } from 'node:fs';
import { Decimal } from 'decimal.js';
import { afterAll, describe, expect, test } from 'vitest';
import { text } from '../../src/db/columns.ts';
import { rows } from '../../src/db/rows.ts';
import { reconcile } from '../../src/reconcile/index.ts';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';

// VAT on prepayments at receipt in a first load: the remaining VAT in the books equals that of the clinic's
// `unused_amount`, or E8 lists every cent of the difference.

const { db, url } = useDatabase();
const from = '2026-07-23';
const rate = '25.5';
const finland = readFileSync(new URL('../../mappings/finland.yaml', import.meta.url), 'utf8')
  .replace('  prepayment_liability:', '  prepayment_vat: "1848"\n  prepayment_liability:')
  .replace('vat:\n', `vat:\n  "VAT ${rate} %": {"${rate}": "2939"}\n`)
  .replace(
    'policies:\n',
    `policies:\n  prepayment_vat: {at_receipt: ${from}, group: {name: "VAT ${rate} %", rate: ${rate}}}\n`,
  )
  .replace('chart: charts/finland.csv', '');

const clinics: MirroredClinic[] = [];
afterAll(() => {
  for (const clinic of clinics) clinic.remove();
});

/**
 * VAT × unused / paid of each prepayment that is money and was received since the day, from the clinic's records;
 * exact.
 */
function figureOf({ clinic }: MirroredClinic): { figure: Decimal; originals: number } {
  let figure = new Decimal(0);
  let originals = 0;
  for (const { refunds, paid, unused_amount, status, created } of clinic.prepayments.all()) {
    const day = new Date(created).toLocaleDateString('sv-SE', { timeZone: 'Europe/Helsinki' });
    if (refunds !== null || !['Ready', 'Fully used'].includes(status) || day < from) continue;
    const vat = new Decimal(paid).times(rate).dividedBy(new Decimal(rate).plus(100)).toDecimalPlaces(2);
    figure = figure.plus(vat.times(unused_amount).dividedBy(paid));
    originals += 1;
  }
  return { figure, originals };
}

/** The balance of `prepayment_vat`. */
async function left(installation: number): Promise<Decimal> {
  const found = await rows(
    db,
    { balance: text },
    `select coalesce(sum(case l.side when 'debit' then l.amount else -l.amount end), 0)::text as balance
     from entry e join entry_line l on l.entry_id = e.id where e.installation = ? and l.role = 'prepayment_vat'`,
    [installation],
  );
  return new Decimal(found[0]!.balance);
}

async function reportOf(clinic: MirroredClinic) {
  const { id, currency, decimals, timezone, startDate, dialect, mapping } = clinic.installation;
  const input = { id, currency, decimals, timezone, startDate, dialect, mapping };
  const report = await reconcile(db, [{ ...input, refundLowersUnused: 'auto', sourceCounts: {}, today: '2026-09-13' }]);
  return report.installations[0]!;
}

/**
 * Uses that no rule can match: one prepayment on invoices of two clients, and another one twice on invoices of another
 * client.
 */
function disturb({ clinic }: MirroredClinic): { known: number; stranger: number[] } {
  const [a, b] = clinic.clients.all().map(({ id }) => id) as [number, number];
  const prepaid = (paid: string) =>
    clinic.takePrepayment({ client: a, department: 11, payment_type: 1, paid, status: 'Ready' }).id;
  const use = (prepayment: number, client: number, amount: string) => {
    const rows = [{ sum: '500.00', vat_percentage: '0', account_number: '3000' }];
    const invoice = clinic.createInvoice({ client, department: 11, status: 3, rows });
    return clinic.applyPrepayment(prepayment, invoice.id, amount).id;
  };
  const [first, second] = [prepaid('100.00'), prepaid('300.00')];
  return {
    known: use(first, a, '60.00'),
    stranger: [use(first, b, '40.00'), use(second, b, '119.10'), use(second, b, '80.90')],
  };
}

async function loaded(id: number, seed: number, invoices: number) {
  const options = { id, seed, invoices, now: '2026-09-13T12:00:00Z', historyDays: 200 };
  const clinic = new MirroredClinic(db, url, options);
  clinics.push(clinic);
  await clinic.configure(finland, { start_date: from });
  return clinic;
}

/**
 * The remaining VAT in the books less the differences that E8 lists; it must equal the clinic's figure to a cent per
 * original.
 */
async function judged(clinic: MirroredClinic) {
  await clinic.pull();
  await clinic.post();
  const { figure, originals } = figureOf(clinic);
  const report = await reportOf(clinic);
  const documents = report.equations.E8!.documents;
  const named = documents.reduce((sum, { difference }) => sum.plus(difference), new Decimal(0));
  const books = await left(clinic.id);
  expect(originals).toBeGreaterThan(2);
  expect(books.minus(named).minus(figure).abs().toNumber()).toBeLessThanOrEqual(originals * 0.01);
  return { report, documents, named, books, figure };
}

describe('the demo’s clinic on 2026-09-13, with the Finnish mapping and VAT at receipt from its start date', () => {
  test.each([
    [1, 2600],
    [2, 700],
    [3, 700],
    [4, 700],
    [5, 700],
  ])('seed %i with %i invoices: a first load gives the clinic’s own figure', async (seed, invoices) => {
    const clinic = await loaded(4900 + seed, seed, invoices);
    const { report, books, figure } = await judged(clinic);
    expect(report.equations.E8).toMatchObject({ ok: true, documents: [] });
    if (seed === 1) expect([figure.toFixed(2), books.toFixed(2)]).toEqual(['480.69', '480.70']);
  });

  test('the VAT report and the checklist of a close print each difference; matches are proposed, and set they settle it', async () => {
    const clinic = await loaded(4910, 9, 200);
    const { known, stranger } = disturb(clinic);
    const [byB, first, second] = stranger as [number, number, number];
    const { documents } = await judged(clinic);
    const run = (line: string, ...more: string[]) =>
      vetledger([...line.split(' '), ...more, '--config', clinic.config], clinic.env);
    const vat = await run('report vat --month 2026-09');
    const close = await run('ledger close --through 2026-09-12 --dry-run');
    expect(documents).toHaveLength(2);
    for (const { document, message } of documents) {
      expect(vat.stdout).toContain(`${document}: ${message}`);
      expect(close.stdout).toContain(`${document}: ${message}`);
    }
    const json = (await run('report vat --month 2026-09 --json')).json();
    expect(json.installations[0].prepayment_vat_differences).toEqual(documents);
    const { installations } = (await run('ledger close --through 2026-09-12 --dry-run --json')).json();
    const { equations } = installations[0].checklist.differences;
    expect(equations).toContainEqual({ equation: 'E8', difference: '60.96', documents: 2, each: documents });

    const [a, b] = documents.map(({ document }) => Number(document.split(' ')[1])) as [number, number];
    const proposed = (await run('problems match --json')).json().proposals;
    const told = proposed.map((each: { payment: string; proposed: object[]; others: object[] }) => ({
      payment: Number(each.payment.split('/')[2]),
      own: each.proposed.map((of) => Object.values(of).slice(0, 3)),
      others: each.others.map((of) => Object.values(of).slice(0, 3)),
    }));
    const client = clinic.clinic.prepayments.get(a)!.client;
    expect(told).toEqual([
      { payment: known, own: [[a, client, '60.00']], others: [] },
      {
        payment: byB,
        own: [],
        others: [
          [a, client, '40.00'],
          [b, client, '200.00'],
        ],
      },
      { payment: first, own: [], others: [[b, client, '200.00']] },
      { payment: second, own: [], others: [[b, client, '200.00']] },
    ]);
    const printed = (await run('problems match')).stdout;
    expect(printed).toContain(`vetledger problems match 4910/payment/${known} --prepayment ${a} --reason "…"`);
    for (const [payment, prepayment] of [
      [known, a],
      [byB, a],
      [first, b],
      [second, b],
    ]) {
      const words = `problems match 4910/payment/${payment} --prepayment ${prepayment} --by M.Virtanen --reason`;
      expect(await run(words, 'as proposed')).toMatchObject({ code: 0 });
    }
    await clinic.post();
    expect((await reportOf(clinic)).equations.E8).toMatchObject({ ok: true });
    expect((await run('report vat --month 2026-09')).stdout).not.toContain('(E8)');
    expect((await run('problems match')).stdout).toContain('the prepayment of each use is known');
  });

  test.each([6, 7, 8])('seed %i, with uses that cannot be matched: E8 names every cent above it', async (seed) => {
    const clinic = await loaded(4900 + seed, seed, 200);
    const { known, stranger } = disturb(clinic);
    const { report, documents, named } = await judged(clinic);
    expect(report.equations.E8).toMatchObject({ ok: false });
    // The VAT of 100.00 and 300.00 is 20.32 and 60.96. All of the first and 200.00 of the second were used.
    expect(named.toFixed(2)).toBe('60.96');
    expect(documents.map(({ difference }) => difference)).toEqual(['20.32', '40.64']);
    expect(documents[0]!.message).toContain(`has uses without a match: payment ${known} (60.00)`);
    const remarks = report.listed.prepayment_vat!.map(({ document }) => document);
    expect(remarks).toEqual(expect.arrayContaining(stranger.map((id) => `payment ${id}`)));
    expect(remarks).not.toContain(`payment ${known}`);
  });
});
