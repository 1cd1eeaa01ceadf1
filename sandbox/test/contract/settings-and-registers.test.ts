import { describe, expect, test } from 'vitest';
import { useSandbox } from './harness.ts';

const api = useSandbox({ now: () => new Date('2026-05-20T12:00:00.000Z') });

describe('practice-api "Department settings" and "Errors": the period lock', () => {
  test('payments, cancellations and credit notes dated before financial_period_lock_date are refused', async () => {
    const { clinic } = api().sandbox;
    const invoice = clinic.createInvoice({ invoice_date: '2026-04-30', rows: [{ sum: '10.00' }] });
    const payment = clinic.pay(invoice.id, { payment_type: 0, paid: '1.00' });
    const locked = await api().send('PATCH', 'settings/department/11/', { financial_period_lock_date: '2026-05-01' });
    expect([locked.status, locked.json.financial_period_lock_date]).toEqual([200, '2026-05-01']);
    const pay = (date_added: string) =>
      api().send('POST', 'invoicepayment/', {
        invoice: api().ref('invoice', invoice.id),
        payment_type: 1,
        paid: '1.00',
        date_added,
      });
    expect((await pay('2026-04-30T23:59:59+03:00')).json).toHaveProperty('date_added');
    expect((await pay('2026-05-01T00:00:00+03:00')).status).toBe(201);
    const cancel = { info: 'x', cancel_date: '2026-04-30' };
    expect((await api().send('POST', `invoicepayment/${payment.id}/cancel_payment/`, cancel)).status).toBe(400);
    const refund = (use_original_invoice_date: boolean) =>
      api().send('POST', `invoice/${invoice.id}/full_refund/`, { use_original_invoice_date });
    expect((await refund(true)).status).toBe(400);
    expect((await refund(false)).status).toBe(201);
    await api().send('PATCH', 'settings/department/11/', { financial_period_lock_date: null });
  });

  test('while automatic locking is enabled the lock date advances automatically and cannot be set', async () => {
    const settings = (await api().get('settings/department/13/')).json;
    expect(settings).toMatchObject({
      automatic_financial_period_lock_enabled: true,
      financial_period_lock_date: '2026-05-01',
    });
    const refused = await api().send('PATCH', 'settings/department/13/', { financial_period_lock_date: '2026-01-01' });
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, ['financial_period_lock_date']]);
  });

  test('field notes: the settings can answer 403 to a working token', async () => {
    api().sandbox.setQuirks({ departmentSettings: '403' });
    expect((await api().get('settings/department/11/')).status).toBe(403);
    api().sandbox.setQuirks({ departmentSettings: 'ok' });
    expect((await api().get('settings/department/99/')).status).toBe(404);
  });
});

describe('practice-api "Endpoints: Accounting reports, account numbers, alternative payers, alternative pricings"', () => {
  test('an account number equal in number, description and department is returned and unarchived', async () => {
    const body = { number: '4100', description: 'Laser', department: api().ref('department', 12) };
    const first = await api().send('POST', 'accountnumber/', body);
    expect([first.status, first.json.archived]).toEqual([201, false]);
    await api().send('PATCH', `accountnumber/${first.json.id}/`, { archived: true });
    const again = await api().send('POST', 'accountnumber/', body);
    expect(again.json).toMatchObject({ id: first.json.id, archived: false });
    const elsewhere = await api().send('POST', 'accountnumber/', { ...body, department: api().ref('department', 11) });
    const renamed = await api().send('POST', 'accountnumber/', { ...body, description: 'Laser therapy' });
    expect(new Set([first.json.id, elsewhere.json.id, renamed.json.id]).size).toBe(3);
  });

  test('retrieve, PUT and PATCH of an account number; no delete', async () => {
    const { id } = (await api().send('POST', 'accountnumber/', { number: '4200', description: 'a' })).json;
    expect((await api().send('PUT', `accountnumber/${id}/`, { description: 'b' })).json).toEqual({
      number: ['This field is required.'],
    });
    const replaced = await api().send('PUT', `accountnumber/${id}/`, { number: '4200', description: 'b' });
    expect([replaced.status, replaced.json.description]).toEqual([200, 'b']);
    await api().send('PATCH', `accountnumber/${id}/`, { description: 'c' });
    expect((await api().get(`accountnumber/${id}/`)).json).toMatchObject({
      number: '4200',
      description: 'c',
      department: null,
    });
    expect((await api().send('DELETE', `accountnumber/${id}/`)).status).toBe(405);
  });

  test.each(['alternative_payer', 'alternativepricing'])('%s: create, read, change, delete', async (name) => {
    const created = await api().send('POST', `${name}/`, { name: 'One' });
    expect(created.status).toBe(201);
    const path = `${name}/${created.json.id}/`;
    expect((await api().send('PATCH', path, { name: 'Two' })).json.name).toBe('Two');
    expect((await api().send('PUT', path, { name: 'Three' })).json.name).toBe('Three');
    expect((await api().get(path)).json.name).toBe('Three');
    const deleted = await api().send('DELETE', path);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await api().get(path)).json).toEqual({ detail: 'Not found.' });
  });

  test('Conventions 3: forms are accepted as well as JSON', async () => {
    const form = new URLSearchParams({ number: '4300', description: 'Ä & co' }).toString();
    const urlencoded = await api().send('POST', 'accountnumber/', form, {
      'content-type': 'application/x-www-form-urlencoded',
    });
    const multipart =
      '--b\r\nContent-Disposition: form-data; name="number"\r\n\r\n4300\r\n--b\r\nContent-Disposition: form-data; name="description"\r\n\r\nÄ & co\r\n--b--\r\n';
    const same = await api().send('POST', 'accountnumber/', multipart, {
      'content-type': 'multipart/form-data; boundary=b',
    });
    expect(urlencoded.json.description).toBe('Ä & co');
    expect(same.json.id).toBe(urlencoded.json.id);
    expect((await api().send('POST', 'accountnumber/', '{"number": ')).status).toBe(400);
  });

  test('accounting reports can be listed and retrieved only', async () => {
    const report = (await api().get('accountingreport/', { page_size: 1 })).json.results[0];
    expect((await api().get(`accountingreport/${report.id}/`)).json).toEqual(report);
    expect((await api().send('POST', 'accountingreport/', {})).status).toBe(405);
  });
});
