import { beforeEach, describe, expect, test } from 'vitest';
import type { Invoice } from '../../src/index.ts';
import { useSandbox } from './harness.ts';

const now = '2026-05-20T12:00:00.000Z';
const api = useSandbox({ now: () => new Date(now), quirks: { timestamps: 'zulu' } });
const clinic = () => api().sandbox.clinic;
const rows = [
  { sum: '100.00', vat_percentage: '24', account_number: '3000', reporting_dimension_1: 'SURG' },
  { sum: '50.00', vat_percentage: '14', account_number: '3010' },
];
let invoice: Invoice;
const shown = async (id: number) => (await api().get('invoice/', { id__in: id })).json.results[0];
const paymentOf = (fields: object = {}) => ({
  invoice: api().ref('invoice', invoice.id),
  payment_type: 0,
  paid: '100.00',
  date_added: now,
  ...fields,
});

beforeEach(() => {
  invoice = clinic().createInvoice({ client: 2001, rows });
});

describe('practice-api "Invoice"', () => {
  test('a final invoice has its number, prefix, totals and payer snapshot', async () => {
    expect(await shown(invoice.id)).toMatchObject({
      status: 3,
      invoice_prefix: 'KU',
      invoice_date: '2026-05-20',
      total: 150,
      total_vat: 31,
      total_with_vat: 181,
      due_sum: 181,
      date_paid: null,
      credit_note: false,
      payer_country_code: expect.stringMatching(/^[A-Z]{2}$/),
    });
    expect(invoice.invoice_number).toBeGreaterThan(2 ** 32);
  });

  test('a draft has neither number nor prefix; the snapshot does not follow the client', async () => {
    const draft = clinic().createInvoice({ client: 2001, rows, status: 0 });
    expect(await shown(draft.id)).toMatchObject({ status: 0, invoice_number: null, invoice_prefix: '' });
    const client = clinic().clients.get(2001);
    if (client) clinic().update(clinic().clients, client, { payer: { ...client.payer, payer_city: 'Elsewhere' } });
    expect((await shown(draft.id)).payer_city).not.toBe('Elsewhere');
  });

  test('"Invoice row": the fields that are always present, amounts as they are', async () => {
    const { results } = (await api().get('invoicerow/', { invoice__is: invoice.id })).json;
    expect(results[0]).toMatchObject({
      account_number: '3000',
      reporting_dimension_1: 'SURG',
      reporting_dimension_2: null,
      reporting_dimension_3: null,
      invoice_row_extra: { account_number: null, reporting_dimension_1: null, reporting_dimension_2: null },
      sum: 100,
      sum_vat: 24,
      sum_total: 124,
    });
    const other = clinic().createInvoice({ rows });
    const several = (await api().get('invoicerow/', { invoice__in: `${invoice.id},${other.id}` })).json;
    expect(several.count).toBe(4);
  });
});

describe('practice-api "Invoice payment" and "Invoice status"', () => {
  test('a payment lowers due_sum; full payment sets date_paid; cancelling restores both by a negative record', async () => {
    const paid = await api().send('POST', 'invoicepayment/', paymentOf());
    expect([paid.status, paid.json.paid, paid.json.payment_type]).toEqual([201, '100.00', 0]);
    expect(await shown(invoice.id)).toMatchObject({ due_sum: 81, date_paid: null });
    await api().send('POST', 'invoicepayment/', paymentOf({ paid: 81, payment_type: 7 }));
    expect(await shown(invoice.id)).toMatchObject({ due_sum: 0, date_paid: '2026-05-20T12:00:00.000000Z' });
    const body = { info: 'wrong card', cancel_date: '2026-05-19T10:00:00Z' };
    const reversal = await api().send('POST', `invoicepayment/${paid.json.id}/cancel_payment/`, body);
    expect(reversal.json).toMatchObject({
      paid: '-100.00',
      date_added: '2026-05-19T10:00:00.000000Z',
      info: 'wrong card',
    });
    expect(await shown(invoice.id)).toMatchObject({ due_sum: 100, date_paid: null });
    const { results } = (await api().get('invoicepayment/', { invoice__is: invoice.id })).json;
    expect(results.map((payment: { paid: string }) => payment.paid)).toEqual(['100.00', '81.00', '-100.00']);
    expect((await api().send('POST', `invoicepayment/${paid.json.id}/cancel_payment/`, body)).status).toBe(400);
  });

  test.each([
    ['type 8 (Prepayment)', { payment_type: 8 }, 'payment_type'],
    ['an unknown type', { payment_type: 13 }, 'payment_type'],
    ['no amount', { paid: undefined }, 'paid'],
    ['an amount that is no number', { paid: 'ten' }, 'paid'],
    ['too many decimals', { paid: '1.005' }, 'paid'],
    ['an invoice that does not exist', { invoice: 'http://x/invoice/1/' }, 'invoice'],
  ])('"Errors": %s is refused', async (_case, fields, field) => {
    const refused = await api().send('POST', 'invoicepayment/', paymentOf(fields));
    expect(refused.status).toBe(400);
    expect(refused.json).toEqual({ [field]: [expect.any(String)] });
  });

  test.each([0, 1, 2, 4, 99])(
    '"Errors": a payment on an invoice of status %i is a validation error',
    async (status) => {
      clinic().updateInvoice(invoice.id, { status });
      const refused = await api().send('POST', 'invoicepayment/', paymentOf());
      expect([refused.status, Object.keys(refused.json)]).toEqual([400, ['invoice']]);
    },
  );

  test.each(['info', 'cancel_date'])('cancel_payment needs %s', async (missing) => {
    const payment = clinic().pay(invoice.id, { payment_type: 0 });
    const body: Record<string, string> = { info: 'x', cancel_date: now };
    delete body[missing];
    const refused = await api().send('POST', `invoicepayment/${payment.id}/cancel_payment/`, body);
    expect([refused.status, refused.json]).toEqual([400, { [missing]: ['This field is required.'] }]);
  });

  test('"Department settings": cancel_date is ignored while payment_cancel_set_date is off', async () => {
    await api().send('PATCH', 'settings/department/11/', { payment_cancel_set_date: false });
    const payment = clinic().pay(invoice.id, { payment_type: 0 });
    const body = { info: 'x', cancel_date: '2026-05-01T10:00:00Z' };
    const reversal = await api().send('POST', `invoicepayment/${payment.id}/cancel_payment/`, body);
    await api().send('PATCH', 'settings/department/11/', { payment_cancel_set_date: true });
    expect(reversal.json.date_added).toBe('2026-05-20T12:00:00.000000Z');
  });
});

describe('practice-api "Endpoints: Invoices, payments, prepayments": refunds', () => {
  test('full_refund makes a credit note of all rows and leaves the original alone', async () => {
    clinic().updateInvoice(invoice.id, { invoice_date: '2026-04-02' });
    const before = await shown(invoice.id);
    const note = await api().send('POST', `invoice/${invoice.id}/full_refund/`, { use_original_invoice_date: true });
    expect(note.status).toBe(201);
    expect(note.json).toMatchObject({
      credit_note: true,
      status: 3,
      invoice_date: '2026-04-02',
      total_with_vat: -181,
      credit_note_original_invoice: api().ref('invoice', invoice.id),
      payer_name: before.payer_name,
    });
    expect(await shown(invoice.id)).toEqual(before);
    const credited = (await api().get('invoicerow/', { invoice__is: note.json.id })).json.results;
    expect(credited.map((row: { sum_total: number }) => row.sum_total)).toEqual([-124, -57]);
  });

  test('partial_refund credits the selected rows, dated today; a credit note can be credited in turn', async () => {
    const second = clinic().invoiceRows.of(invoice.id)[1]?.id ?? 0;
    const body = { invoice_rows: [{ invoice_row: api().ref('invoicerow', second) }], use_original_invoice_date: false };
    const note = (await api().send('POST', `invoice/${invoice.id}/partial_refund/`, body)).json;
    expect(note).toMatchObject({ total: -50, total_vat: -7, total_with_vat: -57, invoice_date: '2026-05-20' });
    const row = (await api().get('invoicerow/', { invoice__is: note.id })).json.results[0];
    expect(row.credited_invoicerow).toBe(api().ref('invoicerow', second));
    const again = await api().send('POST', `invoice/${note.id}/full_refund/`, {});
    expect(again.json).toMatchObject({ credit_note: true, total_with_vat: 57, credit_note_original_invoice: note.url });
  });

  test('refused: a draft, no rows, a row of another invoice, an unknown invoice', async () => {
    const draft = clinic().createInvoice({ rows, status: 0 });
    expect((await api().send('POST', `invoice/${draft.id}/full_refund/`, {})).status).toBe(400);
    const partial = (invoice_rows: unknown) =>
      api().send('POST', `invoice/${invoice.id}/partial_refund/`, { invoice_rows });
    expect((await partial([])).json).toHaveProperty('invoice_rows');
    expect((await partial([{ invoice_row: api().ref('invoicerow', 50_001) }])).status).toBe(400);
    expect((await api().send('POST', 'invoice/1/full_refund/', {})).status).toBe(404);
  });
});

describe('practice-api "Unallocated payment (prepayment)"', () => {
  const prepaymentOf = (fields: object = {}) => ({
    department: api().ref('department', 11),
    client: api().ref('client', 2001),
    payment_type: 7,
    paid: '200.00',
    ...fields,
  });

  test('starts unused, is lowered by use and refund, and always carries external_info', async () => {
    const created = await api().send('POST', 'unallocatedpayment/', prepaymentOf());
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({ unused_amount: '200.00', fully_used: false, refunds: null });
    const { id, url } = created.json;
    clinic().applyPrepayment(id, invoice.id, '81.00');
    const used = (await api().get('invoicepayment/', { invoice__is: invoice.id })).json.results[0];
    expect(used).toMatchObject({ payment_type: 8, paid: '81.00' });
    const tooMuch = await api().send('POST', 'unallocatedpayment/', prepaymentOf({ paid: '-119.01', refunds: url }));
    expect([tooMuch.status, Object.keys(tooMuch.json)]).toEqual([400, ['paid']]);
    const refund = await api().send('POST', 'unallocatedpayment/', prepaymentOf({ paid: '-119.00', refunds: url }));
    expect(refund.json).toMatchObject({ paid: '-119.00', refunds: url });
    const original = (await api().get(`unallocatedpayment/${id}/`)).json;
    expect(original).toMatchObject({ unused_amount: '0.00', fully_used: true, external_info: { external_id: null } });
  });

  test('a refund must name what it refunds; type 8 is refused', async () => {
    const unnamed = await api().send('POST', 'unallocatedpayment/', prepaymentOf({ paid: '-1.00' }));
    expect(unnamed.json).toEqual({ refunds: ['This field is required.'] });
    expect((await api().send('POST', 'unallocatedpayment/', prepaymentOf({ payment_type: 8 }))).status).toBe(400);
  });

  test('PATCH of external_info.external_id keeps every other key and moves modified', async () => {
    const prepayment = clinic().takePrepayment({
      payment_type: 0,
      paid: '10',
      external_info: { till: 'K2', booking: { n: 1 } },
    });
    clinic().updateQuietly(clinic().prepayments, prepayment, { modified: prepayment.modified - 5000 });
    const before = (await api().get(`unallocatedpayment/${prepayment.id}/`)).json.modified;
    const body = { external_info: { external_id: '4711/prepayment/1' } };
    const patched = await api().send('PATCH', `unallocatedpayment/${prepayment.id}/`, body);
    expect(patched.json.external_info).toEqual({ external_id: '4711/prepayment/1', till: 'K2', booking: { n: 1 } });
    expect(Date.parse(patched.json.modified)).toBe(Date.parse(before) + 5000);
    expect((await api().get('unallocatedpayment/', { id__in: prepayment.id })).json.results).toEqual([patched.json]);
  });

  test('field notes: some installations write external_info through a sub-resource only', async () => {
    const prepayment = clinic().takePrepayment({ payment_type: 0, paid: '10' });
    const path = `unallocatedpayment/${prepayment.id}/`;
    expect((await api().get(`${path}external_info/`)).status).toBe(404);
    api().sandbox.setQuirks({ externalInfo: 'subresource' });
    try {
      expect((await api().send('PATCH', path, { external_info: { external_id: 'a' } })).status).toBe(405);
      expect((await api().get(`${path}external_info/`)).json.results).toEqual([]);
      const created = await api().send('POST', `${path}external_info/`, { external_id: 'a', till: 'K1' });
      expect(created.status).toBe(201);
      const changed = await api().send('PATCH', `${path}external_info/${created.json.id}/`, { external_id: 'b' });
      expect(changed.json).toEqual({ id: created.json.id, external_id: 'b', till: 'K1' });
      expect((await api().get(path)).json.external_info).toEqual({ external_id: 'b', till: 'K1' });
    } finally {
      api().sandbox.setQuirks({ externalInfo: 'patch' });
    }
  });

  test('the list filters by client__is and modified__gte', async () => {
    const prepayment = clinic().takePrepayment({ payment_type: 0, paid: '10', client: 2100 });
    const mine = (await api().get('unallocatedpayment/', { client__is: 2100, modified__gte: now })).json.results;
    expect(mine.map((record: { id: number }) => record.id)).toContain(prepayment.id);
    expect((await api().get('unallocatedpayment/', { modified__gte: '2026-05-20T12:00:01Z' })).json.count).toBe(0);
  });
});
