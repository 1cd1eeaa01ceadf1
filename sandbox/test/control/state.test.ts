// Reset, snapshots and fixtures of a running sandbox.
import { expect, test } from 'vitest';
import { type Controlled, start } from './support.ts';

const now = () => new Date('2026-05-20T12:00:00Z');
const lists = ['client/', 'invoice/', 'invoicerow/', 'invoicepayment/', 'unallocatedpayment/', 'patient/'];

/** The contents of the API's lists. */
const held = async (api: Controlled): Promise<string[]> =>
  Promise.all(lists.map(async (path) => (await api.get(path, { page_size: 1000 })).text));

const pay = (api: Controlled, paid: string) => {
  const invoice = api.sandbox.clinic.createInvoice({ client: 2001, rows: [{ sum: '100.00' }] });
  return api.sandbox.clinic.pay(invoice.id, { payment_type: 0, paid });
};

test('reset: clinic, clock, quirks, faults and receivers are as at the start; ids begin anew', async () => {
  const api = await start({ now, quirks: { order: 'id_desc' } });
  const before = await held(api);
  pay(api, '40.00');
  await api.control('POST', 'live?events=20');
  await api.control('POST', 'clock', { advance: 'P1M' });
  await api.control('POST', 'quirks', { order: 'id', defaultPageSize: 10 });
  await api.control('POST', 'faults', { http500: { count: 5 } });
  await api.control('POST', 'subscriptions', [{ url: 'http://127.0.0.1:9/' }]);
  expect((await api.control('POST', 'reset')).status).toBe(200);
  expect(await held(api)).toEqual(before);
  expect((await api.control('GET', 'quirks')).json).toMatchObject({ order: 'id_desc', defaultPageSize: 50 });
  expect((await api.control('GET', 'faults')).json.http500).toBeNull();
  expect((await api.control('GET', 'clock')).json.now).toBe('2026-05-20T12:00:00.000Z');
  api.sandbox.live(3);
  expect((await api.control('GET', 'subscriptions')).json.waiting).toBe(0);
});

test('after a reset the clinic lives as after a start: the same events of the same seed', async () => {
  const [one, other] = [await start({ now, wholeLife: true }), await start({ now, wholeLife: true })];
  one.sandbox.live(40);
  await one.control('POST', 'reset');
  const texts = (api: Controlled) => api.sandbox.live(40).map(({ text }) => text);
  expect(texts(one)).toEqual(texts(other));
});

test('snapshots: the clinic and its clock come back as they were, as often as is asked', async () => {
  const api = await start({ now });
  await api.control('POST', 'clock', { advance: 'P10D', runs: false });
  expect((await api.control('POST', 'snapshots', { name: 'month-end' })).json).toMatchObject({ name: 'month-end' });
  const kept = await held(api);
  for (const events of [5, 50]) {
    await api.control('POST', `live?events=${events}`);
    await api.control('POST', 'clock', { advance: 'P1D' });
    expect(await held(api)).not.toEqual(kept);
    const { json } = await api.control('POST', 'snapshots/month-end/restore');
    expect(json).toMatchObject({ now: '2026-05-30T12:00:00.000Z', runs: false });
    expect(await held(api)).toEqual(kept);
  }
  expect((await api.control('GET', 'snapshots')).json.snapshots).toHaveLength(1);
  expect((await api.control('DELETE', 'snapshots/month-end')).status).toBe(200);
  expect((await api.control('POST', 'snapshots/month-end/restore')).status).toBe(404);
  expect((await api.control('POST', 'snapshots', { name: 'no spaces' })).json.name[0]).toMatch(/^Send 1 to 64/);
});

test('snapshots: twenty at most', async () => {
  const api = await start({ now, invoices: 1 });
  for (let n = 0; n < 20; n++) expect((await api.control('POST', 'snapshots', { name: `s${n}` })).status).toBe(200);
  const refused = await api.control('POST', 'snapshots', { name: 's20' });
  expect([refused.status, refused.json.name]).toEqual([400, ['There are 20 snapshots. Delete one first.']]);
  expect((await api.control('POST', 'snapshots', { name: 's0' })).status).toBe(200);
});

test('fixtures: this client, her cat, this open invoice of 120.00, this deposit', async () => {
  const api = await start({ now });
  const { status, json } = await api.control('POST', 'fixtures', {
    clients: [{ ref: 'anna', firstname: 'Anna', lastname: 'Kivi', email: 'anna@example.org' }],
    patients: [{ ref: 'misu', client: 'anna', name: 'Misu', species: 'Cat' }],
    invoices: [
      { ref: 'open', client: 'anna', rows: [{ name: 'Visit', total_with_vat: '120.00', vat_percentage: '25.50' }] },
      { client: 'anna', rows: [{ total_with_vat: '50.00', vat_percentage: '14' }], payments: [{ paid: '20.00' }] },
      { rows: [{ total_with_vat: '9.90' }], status: 0, countersale: true },
    ],
    prepayments: [{ client: 2001, paid: '75.00', payment_type: 7, description: 'Deposit' }],
  });
  expect(status).toBe(200);
  expect(Object.keys(json.invoices)).toEqual(['1', '2', 'open']);
  const invoice = async (name: string) =>
    (await api.get('invoice/', { id__gt: json.invoices[name].id - 1, page_size: 1 })).json.results[0];
  // 120.00 / 1.255 = 95.6175 without VAT, so the VAT is 24.38.
  expect(await invoice('open')).toMatchObject({
    ...{ url: json.invoices.open.url, client: json.clients.anna.url, status: 3, payer_name: 'Anna Kivi' },
    ...{ total: 95.62, total_vat: 24.38, total_with_vat: 120, due_sum: 120 },
  });
  expect(await invoice('1')).toMatchObject({ total_with_vat: 50, due_sum: 30 });
  expect(await invoice('2')).toMatchObject({ status: 0, client: null, countersale: true });
  expect((await api.get('patient/', { client__is: json.clients.anna.id })).json.results[0]).toMatchObject({
    name: 'Misu',
  });
  const deposits = (await api.get('unallocatedpayment/', { client__is: 2001 })).json.results;
  expect(deposits.at(-1)).toMatchObject({ paid: '75.00', unused_amount: '75.00', payment_type: 7 });
});

test.each([
  ['an unknown client', { invoices: [{ client: 'nobody', rows: [{ total_with_vat: '1.00' }] }] }, 'invoices[0]'],
  ['an unknown department', { invoices: [{ department: 99, rows: [{ total_with_vat: '1.00' }] }] }, 'invoices[0]'],
  ['a client without a name', { clients: [{ email: 'a@example.org' }] }, 'clients[0]'],
  ['a species that does not exist', { patients: [{ client: 2001, name: 'X', species: 999 }] }, 'patients[0]'],
  [
    'a payment on a draft',
    { invoices: [{ status: 0, rows: [{ total_with_vat: '1.00' }], payments: [{}] }] },
    'invoices[0]',
  ],
  ['a number for an amount', { invoices: [{ rows: [{ total_with_vat: 120 }] }] }, 'invoices'],
  ['an unknown field', { client: [] }, 'client'],
])('fixtures with %s are refused by the record at fault, and change nothing', async (_, wrong, field) => {
  const api = await start({ now });
  const before = await held(api);
  const clients = [{ ref: 'anna', firstname: 'Anna' }, ...((wrong as { clients?: object[] }).clients ?? [])];
  const inLists = 'clients' in wrong ? { clients: clients.reverse() } : { clients, ...wrong };
  const { status, json } = await api.control('POST', 'fixtures', inLists);
  expect([status, Object.keys(json)]).toEqual([400, [field]]);
  expect(await held(api)).toEqual(before);
});
