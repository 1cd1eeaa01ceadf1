import { afterEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/index.ts';
import type { Prepayment } from '../../src/records.ts';
import { useSandbox } from './harness.ts';

let now = '2026-05-20T12:00:00.000Z';
const api = useSandbox({ invoices: 40, now: () => new Date(now), quirks: { timestamps: 'zulu' } });
const clinic = () => api().sandbox.clinic;
const ref = (path: string, id: number) => api().ref(path, id);
const rows: Parameters<Sandbox['clinic']['createInvoice']>[0]['rows'] = [
  { sum: '100.00', vat_percentage: '25.50', account_number: '3000' },
];
const settings = (department: number, changes: object) =>
  api().send('PATCH', `settings/department/${department}/`, changes);
const shown = async (id: number) => (await api().get('invoice/', { id__in: id })).json.results[0];

afterEach(async () => {
  now = '2026-05-20T12:00:00.000Z';
  await settings(11, { automatic_financial_period_lock_enabled: false });
  await settings(11, { financial_period_lock_date: null });
});

describe('practice-api "Online prescriptions": the counter sale that collects the prescription fee', () => {
  test('fee item from the settings, sale, item, finalize, payment', async () => {
    const fee = (await api().get('department/12/settings/')).json.prescription_fee_item;
    const created = await api().send('POST', 'countersale/', { department: ref('department', 12) });
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({ status: 0, countersale: true, client: null, total_with_vat: 0 });
    const { id } = created.json;
    const row = await api().send('POST', `countersale/${id}/items/`, { item: fee, quantity: 1 });
    expect(row.status).toBe(201);
    expect(row.json).toMatchObject({ name: 'Prescription fee', sum_total: 12.55, account_number: '3300' });
    const early = { invoice: ref('invoice', id), payment_type: 0, paid: '12.55', date_added: now };
    expect((await api().send('POST', 'invoicepayment/', early)).json).toHaveProperty('invoice');
    const next = clinic().departments.get(12)?.next_invoice_number;
    const done = await api().send('POST', `countersale/${id}/finalize/`);
    expect(done.status).toBe(200);
    expect(done.json).toMatchObject({ status: 3, invoice_prefix: 'RA', invoice_number: next, due_sum: 12.55 });
    expect((await api().send('POST', 'invoicepayment/', early)).status).toBe(201);
    expect(await shown(id)).toMatchObject({ due_sum: 0, date_paid: '2026-05-20T12:00:00.000000Z' });
    expect((await api().get('invoice/', { countersale__is: 'true', id__gt: id - 1 })).json.count).toBe(1);
  });

  test('refused: what the counter does not sell, an unknown item or department, no items, a second finalize', async () => {
    const { id } = (
      await api().send('POST', 'countersale/', { department: ref('department', 11), client: ref('client', 2001) })
    ).json;
    const add = (fields: object) => api().send('POST', `countersale/${id}/items/`, { quantity: '1', ...fields });
    expect((await api().send('POST', `countersale/${id}/finalize/`)).json).toHaveProperty('non_field_errors');
    const surgery = clinic()
      .registers.items.all()
      .find((item) => item.name === 'Anaesthesia');
    expect((await add({ item: ref('item', surgery?.id ?? 0) })).json).toHaveProperty('item');
    expect((await add({ item: ref('item', 1) })).json).toHaveProperty('item');
    expect((await add({})).json).toEqual({ item: ['This field is required.'] });
    const food = clinic()
      .registers.items.all()
      .find((item) => item.name === 'Diet food, tin');
    expect((await add({ item: ref('item', food?.id ?? 0), quantity: '-1' })).json).toHaveProperty('quantity');
    expect((await add({ item: ref('item', food?.id ?? 0), vat_percentage: '24' })).json).toHaveProperty(
      'vat_percentage',
    );
    expect((await add({ item: ref('item', food?.id ?? 0), vat_percentage: '25.5' })).json.vat_percentage).toBe(25.5);
    expect((await api().send('POST', `countersale/${id}/finalize/`)).status).toBe(200);
    expect((await api().send('POST', `countersale/${id}/finalize/`)).json).toHaveProperty('non_field_errors');
    expect((await add({ item: ref('item', food?.id ?? 0) })).json).toHaveProperty('non_field_errors');
    expect((await api().send('POST', 'countersale/', { department: ref('department', 99) })).json).toHaveProperty(
      'department',
    );
    expect(
      (await api().send('POST', 'countersale/', { department: ref('department', 11), client: ref('client', 1) })).json,
    ).toHaveProperty('client');
    const ordinary = clinic().createInvoice({ rows, status: 0 });
    expect((await api().send('POST', `countersale/${ordinary.id}/finalize/`)).status).toBe(404);
  });
});

describe('practice-api "Invoice"', () => {
  test('numbers are sequential in each department and follow its prefix; drafts have none', async () => {
    const [first, second, other] = [11, 11, 12].map((department) => clinic().createInvoice({ department, rows }));
    expect(second?.invoice_number).toBe((first?.invoice_number ?? 0) + 1);
    expect([first?.invoice_prefix, other?.invoice_prefix]).toEqual(['KU', 'RA']);
    const draft = clinic().createInvoice({ department: 11, rows, status: 0 });
    expect(await shown(draft.id)).toMatchObject({ invoice_number: null, invoice_prefix: '' });
    clinic().finaliseDraft(draft.id);
    expect((await shown(draft.id)).invoice_number).toBe((second?.invoice_number ?? 0) + 1);
  });

  test('invoice_date is writable on drafts, invoice_due_date on every invoice; a number cannot be set', async () => {
    const draft = clinic().createInvoice({ rows, status: 0 });
    const dates = { invoice_date: '2026-05-04', invoice_due_date: '2026-06-01', invoice_number: 7 };
    const patched = await api().send('PATCH', `invoice/${draft.id}/`, dates);
    expect(patched.status).toBe(200);
    expect(patched.json).toMatchObject({
      invoice_date: '2026-05-04',
      invoice_due_date: '2026-06-01',
      invoice_number: null,
    });
    const final = clinic().createInvoice({ rows });
    const refused = await api().send('PATCH', `invoice/${final.id}/`, { invoice_date: '2026-05-04' });
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, ['invoice_date']]);
    const due = await api().send('PATCH', `invoice/${final.id}/`, { invoice_due_date: '2026-07-01' });
    expect(due.json).toMatchObject({ invoice_date: '2026-05-20', invoice_due_date: '2026-07-01' });
    expect((await api().send('PATCH', 'invoice/1/', { invoice_due_date: '2026-07-01' })).status).toBe(404);
    expect((await api().get(`invoice/${final.id}/`)).status).toBe(405);
  });

  test('date_paid is set when fully paid or overpaid, and taken back with the payment', async () => {
    const { id } = clinic().createInvoice({ rows });
    const pay = (paid: string) => clinic().pay(id, { payment_type: 0, paid });
    pay('100.00');
    expect((await shown(id)).date_paid).toBeNull();
    const second = pay('30.00');
    expect(await shown(id)).toMatchObject({ due_sum: -4.5, date_paid: '2026-05-20T12:00:00.000000Z' });
    expect((await api().get('invoice/', { date_paid__gte: now, id__gt: id - 1 })).json.count).toBe(1);
    clinic().cancelPayment(second.id, 'Typing error');
    expect(await shown(id)).toMatchObject({ due_sum: 25.5, date_paid: null });
  });
});

describe('practice-api "Department settings" and "Errors": the period lock', () => {
  const locked = '2026-04-30';
  const yesterdays: [string, string, () => Promise<{ status: number; json: object }>][] = [
    [
      'a payment',
      'date_added',
      () => {
        const invoice = ref('invoice', clinic().createInvoice({ rows }).id);
        const date_added = `${locked}T12:00:00Z`;
        return api().send('POST', 'invoicepayment/', { invoice, payment_type: 0, paid: '1', date_added });
      },
    ],
    [
      "a payment's cancellation",
      'cancel_date',
      () => {
        const { id } = clinic().pay(clinic().createInvoice({ rows }).id, { payment_type: 0 });
        const body = { info: 'x', cancel_date: `${locked}T12:00:00Z` };
        return api().send('POST', `invoicepayment/${id}/cancel_payment/`, body);
      },
    ],
    [
      'a credit note of all rows',
      'invoice_date',
      () => {
        const { id } = clinic().createInvoice({ rows, invoice_date: locked });
        return api().send('POST', `invoice/${id}/full_refund/`, { use_original_invoice_date: true });
      },
    ],
    [
      'a credit note of some rows',
      'invoice_date',
      () => {
        const { id } = clinic().createInvoice({ rows, invoice_date: locked });
        const invoice_rows = clinic()
          .invoiceRows.of(id)
          .map((row) => ({ invoice_row: ref('invoicerow', row.id) }));
        return api().send('POST', `invoice/${id}/partial_refund/`, { invoice_rows, use_original_invoice_date: true });
      },
    ],
    [
      "a draft's date",
      'invoice_date',
      () => {
        const { id } = clinic().createInvoice({ rows, status: 0 });
        return api().send('PATCH', `invoice/${id}/`, { invoice_date: locked });
      },
    ],
    [
      'a draft that is finalised',
      'invoice_date',
      () => {
        const sale = { countersale: true, status: 0, invoice_date: locked };
        return api().send('POST', `countersale/${clinic().createInvoice({ rows, ...sale }).id}/finalize/`);
      },
    ],
  ];

  test.each(yesterdays)('%s before the automatic lock date is refused', async (_kind, field, attempt) => {
    await settings(11, { automatic_financial_period_lock_enabled: true, automatic_financial_period_lock_day: 10 });
    const refused = await attempt();
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, [field]]);
    expect(JSON.stringify(refused.json)).toContain('2026-05-01');
  });

  test.each(yesterdays)('%s is accepted where nothing is locked', async (_kind, _field, attempt) => {
    expect((await attempt()).status).toBeLessThan(300);
  });

  const todays: [string, () => Promise<{ status: number }>][] = [
    ['a counter sale', () => api().send('POST', 'countersale/', { department: ref('department', 11) })],
    [
      'a prepayment',
      () =>
        api().send('POST', 'unallocatedpayment/', {
          department: ref('department', 11),
          client: ref('client', 2001),
          payment_type: 0,
          paid: '5',
        }),
    ],
    [
      "a prepayment's refund",
      () => {
        const { id, client, department } = clinic().prepayments.all()[0] as Prepayment;
        const body = {
          ...{ department: ref('department', department), client: ref('client', client), payment_type: 0 },
          ...{ paid: '-0.01', refunds: ref('unallocatedpayment', id) },
        };
        return api().send('POST', 'unallocatedpayment/', body);
      },
    ],
  ];

  test.each(todays)('%s, dated today, is refused where today is locked', async (_kind, attempt) => {
    await settings(11, { financial_period_lock_date: '2026-05-21' });
    expect((await attempt()).status).toBe(400);
  });

  test.each([
    // The day on which the lock advances, today, and the expected lock date.
    [10, '2026-05-09', '2026-04-01'],
    [10, '2026-05-10', '2026-05-01'],
    [1, '2026-05-01', '2026-05-01'],
    [10, '2026-01-09', '2025-12-01'],
    [31, '2026-05-30', '2026-04-01'],
    [31, '2026-05-31', '2026-05-01'],
    [31, '2026-02-27', '2026-01-01'],
    [31, '2026-02-28', '2026-02-01'],
  ])('automatic locking on day %i: on %s the lock date is %s', async (day, today, lockDate) => {
    now = `${today}T12:00:00.000Z`;
    const answer = await settings(11, {
      automatic_financial_period_lock_enabled: true,
      automatic_financial_period_lock_day: day,
    });
    expect(answer.json).toMatchObject({
      automatic_financial_period_lock_day: day,
      financial_period_lock_date: lockDate,
    });
  });

  test.each([0, 32, 'x'])('no day of the month: %s', async (day) => {
    const refused = await settings(11, { automatic_financial_period_lock_day: day });
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, ['automatic_financial_period_lock_day']]);
  });

  test('while locking is automatic its date cannot be set; switched off, the date that it reached stays', async () => {
    await settings(11, { automatic_financial_period_lock_enabled: true, automatic_financial_period_lock_day: 10 });
    expect((await settings(11, { financial_period_lock_date: '2026-01-01' })).status).toBe(400);
    const off = await settings(11, { automatic_financial_period_lock_enabled: false });
    expect(off.json.financial_period_lock_date).toBe('2026-05-01');
    const set = await settings(11, { financial_period_lock_date: '2026-03-01' });
    expect(set.json.financial_period_lock_date).toBe('2026-03-01');
  });
});
