// Checks the sums of the seeded clinic. The test computes with whole ten-thousandths, independently of the sandbox's
// arithmetic.
import { describe, expect, test } from 'vitest';
import { type Invoice, type InvoiceRow, type Sandbox, startSandbox } from '../src/index.ts';

const nowMs = Date.parse('2026-05-20T12:00:00Z');
const now = () => new Date(nowMs);
const stopped = async (options: Parameters<typeof startSandbox>[0]): Promise<Sandbox> => {
  const sandbox = await startSandbox({ now, ...options });
  await sandbox.stop();
  return sandbox;
};

const units = (text: string): bigint => {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  return BigInt(whole + fraction.padEnd(4, '0')) * (text.startsWith('-') ? -1n : 1n);
};
const halfEven = (tenThousandths: bigint, decimals: number): bigint => {
  const step = 10n ** BigInt(4 - decimals);
  const size = tenThousandths < 0n ? -tenThousandths : tenThousandths;
  const [quotient, rest] = [size / step, size % step];
  const up = rest * 2n > step || (rest * 2n === step && quotient % 2n === 1n);
  return (quotient + (up ? 1n : 0n)) * step * (tenThousandths < 0n ? -1n : 1n);
};

const everything = ({ clinic }: Sandbox) =>
  JSON.stringify(
    [clinic.invoices, clinic.invoiceRows, clinic.invoicePayments, clinic.prepayments, clinic.clients].map((table) =>
      table.all(),
    ),
  );

const expectProofs = ({ clinic }: Sandbox, decimals: number) => {
  const sum = (rows: readonly InvoiceRow[], field: 'sum' | 'sum_vat' | 'sum_total') =>
    halfEven(
      rows.reduce((total, row) => total + units(row[field]), 0n),
      decimals,
    );
  const wrong: [number, string][] = [];
  for (const invoice of clinic.invoices.all()) {
    const rows = clinic.invoiceRows.of(invoice.id);
    const paid = clinic.invoicePayments.of(invoice.id).reduce((total, payment) => total + units(payment.paid), 0n);
    if (sum(rows, 'sum') !== units(invoice.total)) wrong.push([invoice.id, 'total']);
    if (sum(rows, 'sum_vat') !== units(invoice.total_vat)) wrong.push([invoice.id, 'total_vat']);
    if (sum(rows, 'sum_total') !== units(invoice.total_with_vat)) wrong.push([invoice.id, 'total_with_vat']);
    if (units(invoice.due_sum) !== units(invoice.total_with_vat) - paid) wrong.push([invoice.id, 'due_sum']);
    if (rows.some((row) => units(row.sum) + units(row.sum_vat) !== units(row.sum_total)))
      wrong.push([invoice.id, 'row']);
  }
  for (const prepayment of clinic.prepayments.all()) {
    const used = clinic.invoicePayments.all().filter((payment) => payment.prepayment === prepayment.id);
    const refunds = clinic.prepayments.all().filter((other) => other.refunds === prepayment.id);
    const left = [...used].reduce((total, payment) => total - units(payment.paid), units(prepayment.paid));
    const expected =
      prepayment.refunds === null ? refunds.reduce((total, refund) => total + units(refund.paid), left) : 0n;
    if (units(prepayment.unused_amount) !== expected) wrong.push([prepayment.id, 'unused_amount']);
  }
  expect(wrong).toEqual([]);
};

describe('the seeded clinic', () => {
  test('the same seed and now give the same clinic and the same life; another seed another', async () => {
    const [first, second, other] = await Promise.all([1, 1, 2].map((seed) => stopped({ seed, invoices: 200 })));
    if (!first || !second || !other) throw new Error('no sandbox');
    expect(everything(first)).toBe(everything(second));
    expect(everything(first)).not.toBe(everything(other));
    expect(first.live(50)).toEqual(second.live(50));
    expect(everything(first)).toBe(everything(second));
  });

  test.each([
    [2, 2],
    [0, 3],
  ])(
    'with %i decimals (seed %i), ACCOUNTING P1 and P3 hold, in its history and after it has lived on',
    async (decimals, seed) => {
      const sandbox = await stopped({ seed, decimals, invoices: 800 });
      expectProofs(sandbox, decimals);
      sandbox.live(400);
      expectProofs(sandbox, decimals);
    },
  );

  test('it has as many final invoices as asked for, all of the past, ids and times in one order', async () => {
    const { clinic } = await stopped({ invoices: 1234, historyDays: 90 });
    const invoices = clinic.invoices.all();
    expect(invoices.filter((invoice) => invoice.status === 3)).toHaveLength(1234);
    const start = nowMs - 90 * 86_400_000;
    for (const table of [clinic.invoices, clinic.invoiceRows, clinic.invoicePayments, clinic.prepayments]) {
      let last = { id: 0, created: start };
      for (const record of table.all()) {
        expect(record.id > last.id && record.created >= last.created).toBe(true);
        expect(record.modified >= record.created && record.modified < nowMs).toBe(true);
        last = record;
      }
    }
  });

  test('a history of some hundred invoices holds every situation', async () => {
    const { clinic } = await stopped({ invoices: 400 });
    const invoices = clinic.invoices.all();
    const payments = clinic.invoicePayments.all();
    const rows = clinic.invoiceRows.all();
    const prepayments = clinic.prepayments.all();
    const original = (invoice: Invoice) => clinic.invoices.get(invoice.credit_note_original_invoice ?? 0);
    const situations = {
      statuses: new Set(invoices.map((invoice) => invoice.status)).size >= 4,
      creditNote: invoices.some((invoice) => invoice.credit_note && invoice.total_with_vat.startsWith('-')),
      creditOfCredit: invoices.some((invoice) => original(invoice)?.credit_note),
      creditNoteOfPositiveTotal: invoices.some(
        (invoice) => invoice.credit_note && !invoice.total_with_vat.startsWith('-'),
      ),
      negativeInvoice: invoices.some((invoice) => !invoice.credit_note && invoice.total_with_vat.startsWith('-')),
      collector: invoices.some((invoice) => invoice.consolidated_invoices.length > 1),
      counterSaleWithoutClient: invoices.some((invoice) => invoice.countersale && invoice.client === null),
      partPaid: invoices.some(
        (invoice) => units(invoice.due_sum) > 0n && units(invoice.due_sum) < units(invoice.total_with_vat),
      ),
      paymentTypes: [0, 1, 2, 3, 6, 7, 8, 9, 10, 12, 15].every((type) =>
        payments.some((payment) => payment.payment_type === type),
      ),
      cancelledPayment: payments.some((payment) => payment.cancels !== null),
      zeroRow: rows.some((row) => units(row.sum_total) === 0n),
      negativeRow: rows.some((row) => row.account_number === '3900'),
      minusZeroRow: rows.some((row) => row.sum_total === '-0.0'),
      fourDecimals: rows.some((row) => /\.\d{4}$/.test(row.sum)),
      dimensions: rows.some((row) => row.reporting_dimension_1 !== null),
      rowExtra: rows.some((row) => row.invoice_row_extra.account_number !== null),
      rates: new Set(rows.map((row) => row.vat_percentage)).size >= 4,
      prepaymentRefund: prepayments.some(
        (prepayment) => prepayment.refunds !== null && prepayment.paid.startsWith('-'),
      ),
      prepaymentNotMoney: prepayments.some((prepayment) =>
        ['Pending', 'Failed', 'Aborted'].includes(prepayment.status),
      ),
      otherExternalInfo: prepayments.some((prepayment) => 'till' in prepayment.external_info),
      euCompany: invoices.some(
        (invoice) => /^(DE|FR|EE)$/.test(invoice.payer_country_code) && invoice.payer_vat_number !== '',
      ),
      nightInvoice: invoices.some(
        (invoice) => new Date(invoice.created).toISOString().slice(0, 10) < invoice.invoice_date,
      ),
    };
    expect(Object.entries(situations).filter(([, isThere]) => !isThere)).toEqual([]);
  });

  test('credit_settlement nets to zero over each invoice and its credit note', async () => {
    const { clinic } = await stopped({ invoices: 800 });
    const settled = (id: number) =>
      clinic.invoicePayments
        .of(id)
        .filter((payment) => payment.payment_type === 12)
        .reduce((sum, payment) => sum + units(payment.paid), 0n);
    const notes = clinic.invoices.all().filter((invoice) => invoice.credit_note && settled(invoice.id) !== 0n);
    expect(notes.length).toBeGreaterThan(2);
    for (const note of notes) expect(settled(note.id) + settled(note.credit_note_original_invoice ?? 0)).toBe(0n);
  });

  test("every change moves the invoice's modified", async () => {
    let time = nowMs;
    const { clinic } = await stopped({ invoices: 20, now: () => new Date(time++) });
    const invoice = clinic.createInvoice({ rows: [{ sum: '10.00' }], status: 0 });
    const moved = (act: () => unknown): boolean => {
      const before = invoice.modified;
      act();
      return invoice.modified > before;
    };
    const changes = {
      finalise: moved(() => clinic.finalise(invoice.id)),
      addRow: moved(() => clinic.addRow(invoice.id, { sum: '5.00' })),
      updateRow: moved(() =>
        clinic.updateRow(clinic.invoiceRows.of(invoice.id)[0]?.id ?? 0, { account_number: '3005' }),
      ),
      pay: moved(() => clinic.pay(invoice.id, { payment_type: 0 })),
      cancel: moved(() => clinic.cancelPayment(clinic.invoicePayments.of(invoice.id)[0]?.id ?? 0, 'x')),
      changePayer: moved(() => clinic.changePayer(invoice.id, 2002)),
      deleteRow: moved(() => clinic.deleteRecord('invoicerow', clinic.invoiceRows.of(invoice.id)[0]?.id ?? 0)),
      void: moved(() => clinic.voidInvoice(invoice.id)),
    };
    expect(Object.values(changes)).toEqual(Object.values(changes).map(() => true));
    clinic.quirks.paymentTouchesInvoice = false;
    clinic.updateInvoice(invoice.id, { status: 3 });
    expect(moved(() => clinic.pay(invoice.id, { payment_type: 0 }))).toBe(false);
  });
});
