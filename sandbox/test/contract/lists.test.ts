import { beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/index.ts';
import { callApi, exactly, useSandbox } from './harness.ts';

describe('practice-api "Conventions that hold for all endpoints"', () => {
  const api = useSandbox({ invoices: 300 });

  test('2: references are absolute URLs of the form {api}/<resource>/<id>/', async () => {
    const row = (await api().get('invoicerow/', { page_size: 1 })).json.results[0];
    expect(row.invoice).toBe(api().ref('invoice', Number(row.invoice.split('/').at(-2))));
    expect(row.url).toBe(api().ref('invoicerow', row.id));
  });

  test('4: dates are YYYY-MM-DD, timestamps ISO 8601, decimals strings or exact numbers', async () => {
    const invoice = (await api().get('invoice/', { page_size: 1 })).json.results[0];
    expect(invoice.invoice_date).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(invoice.modified).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+0[23]:00$/);
    const rows = await api().get('invoicerow/', { page_size: 500 });
    for (const row of (exactly(rows.text) as { results: Record<string, string>[] }).results) {
      expect(row.sum_total).toMatch(/^#-?\d+\.\d{1,4}$/);
    }
    const payment = (await api().get('invoicepayment/', { page_size: 1 })).json.results[0];
    expect(payment.paid).toMatch(/^-?\d+\.\d\d$/);
  });

  test('5: a list carries count, num_pages, next, previous and results', async () => {
    const first = (await api().get('invoice/', { page_size: 100, status__is: 3 })).json;
    expect(first).toMatchObject({ count: 300, num_pages: 3, previous: null });
    expect(first.results).toHaveLength(100);
    const second = await fetch(first.next, { headers: { authorization: 'Bearer sandbox-token' } });
    expect(await second.json()).toMatchObject({ count: 300, previous: expect.stringContaining('page=1') });
    expect((await api().get('invoice/', { page: 99 })).status).toBe(404);
  });

  test('5: page_size is at most 1000; without one a page holds 50 (field notes)', async () => {
    expect((await api().get('invoicerow/')).json.results).toHaveLength(50);
    const large = (await api().get('invoicerow/', { page_size: 5000 })).json;
    expect(large.results.length).toBe(Math.min(1000, large.count));
  });

  test('6: several filters are combined with AND', async () => {
    const { results } = (await api().get('invoice/', { department__is: 11, countersale__is: 'true', page_size: 1000 }))
      .json;
    expect(results.length).toBeGreaterThan(0);
    for (const invoice of results)
      expect(invoice).toMatchObject({ department: api().ref('department', 11), countersale: true });
  });

  test('6: filter_type=or combines the name filters of clients with OR', async () => {
    const names = { firstname__icontains: 'ain', lastname__icontains: 'kallio', page_size: 1000 };
    const both = (await api().get('client/', names)).json;
    const either = (await api().get('client/', { ...names, filter_type: 'or' })).json;
    expect(either.count).toBeGreaterThan(both.count);
    for (const client of either.results) expect(`${client.firstname}|${client.lastname}`).toMatch(/Ain|Kallio/);
  });

  test('8: modified__gte returns only records changed since that timestamp', async () => {
    const all = (await api().get('invoice/', { page_size: 1000 })).json.results as { id: number; modified: string }[];
    const since = all.map((invoice) => invoice.modified).sort((a, b) => Date.parse(a) - Date.parse(b))[200] as string;
    const expected = all
      .filter((invoice) => Date.parse(invoice.modified) >= Date.parse(since))
      .map((invoice) => invoice.id);
    const changed = (await api().get('invoice/', { modified__gte: since, page_size: 1000 })).json.results;
    expect(changed.map((invoice: { id: number }) => invoice.id).sort()).toEqual(expected.sort());
    const zulu = new Date(since).toISOString();
    expect((await api().get('invoice/', { modified__gte: zulu })).json.count).toBe(expected.length);
  });

  test('9: invoicerow_vat_group comes only with its bare expose flag', async () => {
    const plain = (await api().get('invoicerow/', { page_size: 1 })).json.results[0];
    expect(plain).not.toHaveProperty('invoicerow_vat_group');
    expect(plain).toHaveProperty('invoice_row_extra.account_number');
    const exposed = (await api().get('invoicerow/?expose_invoicerow_vat_group&page_size=1')).json.results[0];
    expect(exposed.invoicerow_vat_group).toEqual({
      name: expect.any(String),
      percentage: exposed.vat_percentage,
      account_number: expect.stringMatching(/^29/),
    });
  });
});

describe('practice-api "Invoice": each filter of the list', () => {
  const api = useSandbox({ now: () => new Date('2026-05-20T12:00:00Z') });
  const everything = async () =>
    (await api().get('invoice/', { page_size: 1000 })).json.results as Record<string, unknown>[];
  beforeAll(() => {
    api().sandbox.clinic.createInvoice({ client: 2240, rows: [{ sum: '10.00' }] });
  });
  const middle = '2026-02-01';
  const cases: [string, string | number, (invoice: Record<string, unknown>) => boolean][] = [
    ['status__is', 3, (invoice) => invoice.status === 3],
    ['invoice_date__gte', middle, (invoice) => String(invoice.invoice_date) >= middle],
    ['invoice_date__lte', middle, (invoice) => String(invoice.invoice_date) <= middle],
    ['date_paid__gte', `${middle}T00:00:00Z`, (invoice) => Date.parse(String(invoice.date_paid)) >= Date.parse(middle)],
    ['client__is', 2240, (invoice) => String(invoice.client).endsWith('/client/2240/')],
    ['department__is', 12, (invoice) => String(invoice.department).endsWith('/department/12/')],
    ['credit_note__is', 'true', (invoice) => invoice.credit_note === true],
    ['countersale__is', 'false', (invoice) => invoice.countersale === false],
    ['id__gt', 10_100, (invoice) => Number(invoice.id) > 10_100],
    ['id__lt', 10_020, (invoice) => Number(invoice.id) < 10_020],
    ['id__in', '10003,10001,99999', (invoice) => [10_001, 10_003].includes(Number(invoice.id))],
  ];
  test.each(cases)('%s=%s', async (name, value, holds) => {
    const { results, count } = (await api().get('invoice/', { [name]: value, page_size: 1000 })).json;
    const expected = (await everything()).filter(holds);
    expect(results).toEqual(expected);
    expect(count).toBe(expected.length);
    expect(count).toBeGreaterThan(0);
  });

  test('field notes: an unsupported filter is silently ignored', async () => {
    const plain = (await api().get('invoice/')).json.count;
    expect((await api().get('invoice/', { colour__is: 'red', total__gte: 5, id__regex: 'x' })).json.count).toBe(plain);
  });

  test('field notes: a "+" that was not escaped makes a timestamp malformed', async () => {
    const refused = await api().get('invoice/?modified__gte=2026-01-01T00:00:00+02:00');
    expect([refused.status, refused.json]).toEqual([400, { modified__gte: ['Enter a valid date/time.'] }]);
    expect((await api().get('invoice/?modified__gte=2026-01-01T00:00:00%2B02:00')).status).toBe(200);
  });

  test('field notes: a path without its trailing slash answers 301', async () => {
    const moved = await api().get('invoice', { page_size: 2 });
    expect([moved.status, moved.headers.get('location')]).toEqual([301, '/4711/api/0.1/invoice/?page_size=2']);
    expect((await api().get('nowhere')).json).toEqual({ detail: 'Not found.' });
  });
});

describe('practice-api "Limits"', () => {
  test('an offset above 10,000 is refused; id__gt goes on from there', async () => {
    const sandbox = await startSandbox({ invoices: 6000, rateWindowSeconds: 0 });
    try {
      const api = callApi(sandbox);
      expect((await api.get('invoicerow/', { page: 11, page_size: 1000 })).status).toBe(200);
      const refused = await api.get('invoicerow/', { page: 12, page_size: 1000 });
      expect([refused.status, refused.json.detail]).toEqual([400, expect.stringContaining('id__gt')]);
      const seen: number[] = [];
      for (let last = 0; ; ) {
        const ids = (await api.get('invoicerow/', { id__gt: last, page_size: 1000 })).json.results.map(
          (row: { id: number }) => row.id,
        );
        if (ids.length === 0) break;
        seen.push(...ids);
        last = ids.at(-1);
      }
      expect(seen).toEqual(sandbox.clinic.invoiceRows.all().map((row) => row.id));
      expect(seen.length).toBeGreaterThan(11_000);
    } finally {
      await sandbox.stop();
    }
  });

  test('a list weighs ceil(page_size / default); 429 carries Retry-After and a refused request takes no slot', async () => {
    let nowMs = Date.parse('2026-05-20T12:00:00Z');
    const sandbox = await startSandbox({ invoices: 60, now: () => new Date(nowMs) });
    try {
      const api = callApi(sandbox);
      const ask = async (page_size: number) => {
        const reply = await api.get('invoice/', { page_size });
        return reply.status === 429 ? `429 after ${reply.headers.get('retry-after')}` : reply.status;
      };
      expect(await ask(1000)).toBe(200);
      nowMs += 10_000;
      expect(await ask(1000)).toBe(200);
      expect(await ask(951)).toBe(200);
      expect(await ask(1)).toBe('429 after 50');
      nowMs += 49_500;
      expect(await ask(50)).toBe('429 after 1');
      nowMs += 500;
      expect(await ask(1000)).toBe(200);
      expect(await ask(50)).toBe('429 after 10');
      expect((await api.get('invoicerow/', { page_size: 1000 })).status).toBe(200);
      expect(sandbox.stats().byAction['invoice.list']).toEqual({ requests: 4, weight: 80, throttled: 3 });
    } finally {
      await sandbox.stop();
    }
  });
});
