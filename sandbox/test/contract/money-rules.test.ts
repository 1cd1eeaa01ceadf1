// The sandbox's choices for payments, prepayments and credit notes where the specification is silent
// (sandbox/src/money-rules.ts).
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Invoice, Prepayment } from '../../src/records.ts';
import { refTo, useSandbox } from './harness.ts';

const now = '2026-05-20T12:00:00Z';
const api = useSandbox({ invoices: 40, now: () => new Date(now) });
const clinic = () => api().sandbox.clinic;
const post = async (path: string, body: object) => {
  const { status, json } = await api().send('POST', path, body);
  return { status, json };
};
const refused = (field: string) => ({ status: 400, json: { [field]: [expect.any(String)] } });
const accepted = { status: 201, json: expect.any(Object) };

let invoice: Invoice;
beforeEach(() => {
  invoice = clinic().createInvoice({
    ...{ department: 11, client: 2001 },
    rows: [{ sum: '100.00' }, { sum: '50.00' }, { sum: '7.00' }],
  });
});
afterEach(() => api().sandbox.setQuirks({ overpayments: true, repeatedCredits: false, creditedCreditNotes: true }));

describe('payments', () => {
  const pay = (paid: string, fields: object = {}, id = invoice.id) =>
    post('invoicepayment/', { invoice: refTo('invoice', id), payment_type: 0, paid, date_added: now, ...fields });

  test.each([
    ['zero', '0', {}],
    ['less than nothing', '-10.00', {}],
    ['less than nothing, in cash', '-157.00', { payment_type: 1 }],
    ['a rounding of zero', '0.00', { payment_type: 3 }],
  ])('%s is refused', async (_case, paid, fields) => {
    expect(await pay(paid, fields)).toEqual(refused('paid'));
    expect(invoice.due_sum).toBe('157.00');
  });

  test('a rounding and a credit invoice have either sign', async () => {
    expect(await pay('-0.02', { payment_type: 3 })).toEqual(accepted);
    expect(await pay('0.02', { payment_type: 3 })).toEqual(accepted);
    expect(await pay('-5.00', { payment_type: 12 })).toEqual(accepted);
    expect(await pay('5.00', { payment_type: 6 })).toEqual(accepted);
    expect(invoice.due_sum).toBe('157.00');
  });

  test('a credit note is paid back by a negative amount', async () => {
    const note = clinic().credit(invoice.id);
    expect(await pay('157.00', {}, note.id)).toEqual(refused('paid'));
    expect(await pay('-157.00', {}, note.id)).toEqual(accepted);
    expect(note.due_sum).toBe('0.00');
  });

  test('more than is due is accepted, and refused with overpayments off', async () => {
    expect(await pay('160.00')).toEqual(accepted);
    expect([invoice.due_sum, invoice.date_paid]).toEqual(['-3.00', Date.parse(now)]);
    api().sandbox.setQuirks({ overpayments: false });
    expect(await pay('0.01')).toEqual(refused('paid'));
    const other = clinic().createInvoice({ rows: [{ sum: '10.00' }] });
    expect(await pay('10.01', {}, other.id)).toEqual(refused('paid'));
    expect(await pay('10.00', {}, other.id)).toEqual(accepted);
    const note = clinic().credit(other.id);
    expect(await pay('-10.01', {}, note.id)).toEqual(refused('paid'));
    expect(await pay('-10.00', {}, note.id)).toEqual(accepted);
  });

  test('a cancellation, a cancelled payment and a payment by a consolidated invoice are not cancelled', async () => {
    const cancel = (id: number) => post(`invoicepayment/${id}/cancel_payment/`, { info: 'x', cancel_date: now });
    const { id } = (await pay('157.00')).json;
    const cancellation = await cancel(id);
    expect(cancellation).toEqual(accepted);
    expect(await cancel(id)).toEqual(refused('non_field_errors'));
    expect(await cancel(cancellation.json.id)).toEqual(refused('non_field_errors'));
    const collected = clinic().createInvoice({ department: 11, client: 2001, rows: [{ sum: '10.00' }] });
    clinic().consolidate([collected.id]);
    const payment = clinic().invoicePayments.of(collected.id)[0]?.id ?? 0;
    expect(await cancel(payment)).toEqual(refused('non_field_errors'));
    expect(collected.due_sum).toBe('0.00');
  });
});

describe('prepayments', () => {
  let original: Prepayment;
  beforeEach(() => {
    original = clinic().takePrepayment({ department: 11, client: 2001, payment_type: 0, paid: '100.00' });
  });
  const refund = (fields: object = {}) =>
    post('unallocatedpayment/', {
      ...{ department: refTo('department', 11), client: refTo('client', 2001), payment_type: 0, paid: '-40.00' },
      ...{ refunds: refTo('unallocatedpayment', original.id), ...fields },
    });

  test.each([
    ['of another client', { client: refTo('client', 2002) }, 'client'],
    ['of another department', { department: refTo('department', 12) }, 'department'],
    ['with a positive amount', { paid: '40.00' }, 'paid'],
    ['of nothing', { paid: '0.00' }, 'paid'],
    ['of more than is unused', { paid: '-100.01' }, 'paid'],
    ['of a prepayment that does not exist', { refunds: refTo('unallocatedpayment', 1) }, 'refunds'],
    ['without naming the prepayment', { refunds: null }, 'refunds'],
  ])('a refund %s is refused', async (_case, fields, field) => {
    expect(await refund(fields)).toEqual(refused(field));
    expect(original.unused_amount).toBe('100.00');
  });

  test('a refund of a refund is refused', async () => {
    const first = await refund();
    expect(await refund({ refunds: first.json.url })).toEqual(refused('refunds'));
  });

  test.each(['Pending', 'Failed', 'Aborted'] as const)(
    'a refund of a prepayment that is %s is refused',
    async (status) => {
      clinic().update(clinic().prepayments, original, { status });
      expect(await refund()).toEqual(refused('refunds'));
    },
  );

  test('in parts, and by another type than it was paid', async () => {
    expect(await refund({ payment_type: 2 })).toEqual(accepted);
    expect(await refund({ paid: '-60.00' })).toEqual(accepted);
    expect(await refund({ paid: '-0.01' })).toEqual(refused('paid'));
  });
});

describe('credit notes', () => {
  const rowsOf = (id: number) =>
    clinic()
      .invoiceRows.of(id)
      .map((row) => row.id);
  const full = (id = invoice.id) => post(`invoice/${id}/full_refund/`, {});
  const partial = (...at: number[]) =>
    post(`invoice/${invoice.id}/partial_refund/`, {
      invoice_rows: at.map((n) => ({ invoice_row: refTo('invoicerow', rowsOf(invoice.id)[n] ?? 0) })),
    });

  test('a row is credited once', async () => {
    expect(await partial(0)).toEqual(accepted);
    expect(await partial(0)).toEqual(refused('invoice_rows'));
    expect(await partial(1, 0)).toEqual(refused('invoice_rows'));
    expect(await full()).toEqual(refused('non_field_errors'));
    expect(await partial(1, 2)).toEqual(accepted);
    expect(await partial(2)).toEqual(refused('invoice_rows'));
  });

  test('an invoice is refunded in full once', async () => {
    expect(await full()).toEqual(accepted);
    expect(await full()).toEqual(refused('non_field_errors'));
    expect(await partial(0)).toEqual(refused('invoice_rows'));
  });

  test('a row named twice in one request is credited once', async () => {
    expect((await partial(0, 0)).json.total_with_vat).toBe(-100);
  });

  test('a credit that was credited, or voided, counts no more', async () => {
    const note = await full();
    expect(await full(note.json.id)).toEqual(accepted);
    expect(await full(note.json.id)).toEqual(refused('non_field_errors'));
    const second = await full();
    expect(second).toEqual(accepted);
    clinic().voidInvoice(second.json.id);
    expect(await full()).toEqual(accepted);
  });

  test('the quirks', async () => {
    api().sandbox.setQuirks({ repeatedCredits: true, creditedCreditNotes: false });
    expect(await partial(0)).toEqual(accepted);
    const note = await full();
    expect(note).toEqual(accepted);
    expect(await full(note.json.id)).toEqual(refused('non_field_errors'));
  });
});
