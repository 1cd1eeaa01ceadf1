// Behaviour that the contract leaves open, and intended failures: quirks, late commits, faults, control, state file.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../src/index.ts';
import { callApi, exactly, type TestApi } from './contract/harness.ts';

const started: Sandbox[] = [];
const start = async (options: SandboxOptions = {}): Promise<TestApi> => {
  const sandbox = await startSandbox({ invoices: 60, rateWindowSeconds: 0, checkAnswers: true, ...options });
  started.push(sandbox);
  return callApi(sandbox);
};
afterEach(async () => {
  await Promise.all(started.splice(0).map((sandbox) => sandbox.stop()));
});
const idsOf = async (api: TestApi, path: string, query: Record<string, string | number> = {}) =>
  (await api.get(path, { page_size: 1000, ...query })).json.results.map(
    (record: { id: number }) => record.id,
  ) as number[];

describe('quirks', () => {
  test('order: descending, by modified, or another at each request', async () => {
    const api = await start();
    const ascending = await idsOf(api, 'invoice/');
    api.sandbox.setQuirks({ order: 'id_desc' });
    expect(await idsOf(api, 'invoice/')).toEqual(ascending.toReversed());
    api.sandbox.setQuirks({ order: 'random' });
    const [first, second] = [await idsOf(api, 'invoice/'), await idsOf(api, 'invoice/')];
    expect(first).not.toEqual(second);
    expect(first.toSorted((a, b) => a - b)).toEqual(ascending);
    api.sandbox.setQuirks({ order: 'modified' });
    const times = (await api.get('invoice/', { page_size: 1000 })).json.results.map((invoice: { modified: string }) =>
      Date.parse(invoice.modified),
    );
    expect(times).toEqual(times.toSorted((a: number, b: number) => a - b));
  });

  test('an ignored filter brings the whole list', async () => {
    const api = await start({ quirks: { ignoredFilters: ['id__gt', 'invoice__in'] } });
    const all = await idsOf(api, 'invoicerow/');
    expect(await idsOf(api, 'invoicerow/', { id__gt: 50_010 })).toEqual(all);
    expect(await idsOf(api, 'invoicerow/', { invoice__in: '10001' })).toEqual(all);
    expect(await idsOf(api, 'invoicerow/', { id__lt: 50_003 })).toEqual([50_001, 50_002]);
  });

  test('decimals and timestamps in other styles, unknown fields, references behind a proxy, count as text', async () => {
    const api = await start({ now: () => new Date('2026-05-20T22:30:00Z') });
    api.sandbox.clinic.createInvoice({
      client: 2001,
      rows: [{ sum: '33.3333', vat_percentage: '24', sum_vat: '8.0000' }],
    });
    const newest = async (path: string) => {
      const reply = await api.get(path, {
        id__gt:
          path === 'invoice/' ? api.sandbox.clinic.invoices.nextId - 2 : api.sandbox.clinic.invoiceRows.nextId - 2,
      });
      return exactly(reply.text) as { count: string; results: Record<string, string>[] };
    };
    expect((await newest('invoicerow/')).results[0]).toMatchObject({
      sum: '#33.3333',
      sum_vat: '#8.0000',
      sum_total: '#41.3333',
    });
    expect((await newest('invoice/')).results[0]).toMatchObject({
      invoice_date: '2026-05-21',
      modified: '2026-05-21T01:30:00.000000+03:00',
    });
    api.sandbox.setQuirks({
      decimals: 'string',
      timestamps: 'naive',
      invoiceDateAsDatetime: true,
      extraFields: true,
      countAsString: true,
    });
    expect(await newest('invoice/')).toMatchObject({
      count: '1',
      results: [
        {
          total_with_vat: '41.33',
          modified: '2026-05-21T01:30:00.000000',
          invoice_date: '2026-05-21T00:00:00.000000',
          x_flags: ['a', null, { nested: true }],
        },
      ],
    });
    api.sandbox.setQuirks({ timestamps: 'zulu', urlReferences: 'otherHost' });
    const invoice = (await newest('invoice/')).results[0];
    expect(invoice?.invoice_date).toBe('2026-05-20T21:00:00.000000Z');
    expect(invoice?.client).toBe('https://app.internal/4711/api/0.1/client/2001/');
    api.sandbox.setQuirks({ dateHeader: false, decimals: 'number' });
    const payments = await api.get('unallocatedpayment/', { page_size: 1 });
    expect(payments.headers.get('date')).toBeNull();
    expect((exactly(payments.text) as { results: { paid: string }[] }).results[0]?.paid).toMatch(/^#/);
  });

  test("the Date header is the clinic's clock", async () => {
    const api = await start({ now: () => new Date('2026-05-20T22:30:00Z') });
    for (const path of ['invoice/', 'invoice', 'nowhere/']) {
      expect((await api.get(path)).headers.get('date')).toBe('Wed, 20 May 2026 22:30:00 GMT');
    }
  });

  test('a refund leaves unused_amount alone where the quirk says so', async () => {
    const { clinic } = (await start({ quirks: { refundLowersUnused: false } })).sandbox;
    const prepayment = clinic.takePrepayment({ payment_type: 7, paid: '50.00' });
    clinic.refundPrepayment(prepayment.id, '20.00');
    expect(prepayment.unused_amount).toBe('50.00');
  });

  test('late commits: a transaction is on lists, whole, only after its time; lower ids and older modified then appear', async () => {
    let nowMs = Date.parse('2026-05-20T12:00:00Z');
    const api = await start({ now: () => new Date(nowMs) });
    const { clinic } = api.sandbox;
    const old = clinic.createInvoice({ rows: [{ sum: '10.00' }] });
    api.sandbox.setQuirks({ lateCommitShare: 1, lateCommitMs: 5000 });
    const late = clinic.createInvoice({ rows: [{ sum: '10.00' }] });
    clinic.pay(old.id, { payment_type: 0 });
    api.sandbox.setQuirks({ lateCommitShare: 0 });
    nowMs += 1000;
    const prompt = clinic.createInvoice({ rows: [{ sum: '10.00' }] });
    expect(await idsOf(api, 'invoice/', { id__gt: old.id })).toEqual([prompt.id]);
    expect(await idsOf(api, 'invoicerow/', { invoice__is: late.id })).toEqual([]);
    expect((await api.get('invoice/', { id__in: old.id })).json.results[0].due_sum).toBe(10);
    nowMs += 4000;
    expect(await idsOf(api, 'invoice/', { id__gt: old.id })).toEqual([late.id, prompt.id]);
    expect(await idsOf(api, 'invoicerow/', { invoice__is: late.id })).toHaveLength(1);
    const paid = (await api.get('invoice/', { id__in: old.id })).json.results[0];
    expect([paid.due_sum, Date.parse(paid.modified)]).toEqual([0, nowMs - 5000]);
  });

  test('a transaction under way when the clock is put back is committed all the same', async () => {
    let nowMs = Date.parse('2026-05-20T12:00:00Z');
    const api = await start({ now: () => new Date(nowMs) });
    const { clinic } = api.sandbox;
    const old = clinic.createInvoice({ rows: [{ sum: '10.00' }] });
    api.sandbox.setQuirks({ lateCommitShare: 1, lateCommitMs: 5000 });
    const late = clinic.createInvoice({ rows: [{ sum: '10.00' }] });
    expect(await idsOf(api, 'invoice/', { id__gt: old.id })).toEqual([]);
    nowMs -= 3_600_000;
    expect(await idsOf(api, 'invoice/', { id__gt: old.id })).toEqual([late.id]);
  });
});

describe('faults', () => {
  test.each([
    ['http500', {}, 'http 500 json'],
    ['http503Html', {}, 'http 503 html'],
    ['notJson', {}, 'http 200 html'],
    ['connectionReset', {}, 'connection lost'],
    ['truncatedBody', {}, 'connection lost'],
    ['truncatedBody', { honestLength: true }, 'half a JSON'],
    ['spurious429', { seconds: 7 }, 'http 429 after 7'],
    ['spurious429', { retryAfter: 'date', seconds: 2 }, 'http 429 after a date'],
    ['spurious429', { retryAfter: 'missing' }, 'http 429 after null'],
    ['unauthorizedOnce', {}, 'http 401 json'],
  ])('%s %o: %s, once, on the action that is named', async (name, settings, expected) => {
    const api = await start();
    const outcome = async (path: string): Promise<string> => {
      try {
        const reply = await api.get(path);
        if (reply.status === 429)
          return `http 429 after ${reply.headers.get('retry-after')?.replace(/^.*GMT$/, 'a date') ?? null}`;
        const kind = reply.headers.get('content-type')?.includes('html') ? 'html' : 'json';
        return reply.status === 200 && kind === 'json' ? 'fine' : `http ${reply.status} ${kind}`;
      } catch (error) {
        return error instanceof SyntaxError ? 'half a JSON' : 'connection lost';
      }
    };
    api.sandbox.setFaults({ [name]: { count: 1, skip: 1, action: 'invoice.list', ...settings } });
    expect(await outcome('invoicerow/')).toBe('fine');
    expect(await outcome('invoice/')).toBe('fine');
    expect(await outcome('invoice/')).toBe(expected);
    expect(await outcome('invoice/')).toBe('fine');
  });

  test('timeoutMs: the answer hangs', async () => {
    const api = await start({ faults: { timeoutMs: { count: 1, ms: 60_000 } } });
    const url = `${api.sandbox.url}/4711/api/0.1/invoice/`;
    const hanging = fetch(url, {
      headers: { authorization: 'Bearer sandbox-token' },
      signal: AbortSignal.timeout(150),
    });
    await expect(hanging).rejects.toThrow(/timeout/);
    expect((await api.get('invoice/')).status).toBe(200);
  });

  test('when "after", the request has taken effect although its answer is lost', async () => {
    const api = await start();
    const { id } = api.sandbox.clinic.takePrepayment({ payment_type: 7, paid: '50.00' });
    const patch = () => api.send('PATCH', `unallocatedpayment/${id}/`, { external_info: { external_id: 'x' } });
    api.sandbox.setFaults({ connectionReset: { count: 1, when: 'after' } });
    await expect(patch()).rejects.toThrow();
    expect(api.sandbox.clinic.prepayments.get(id)?.external_info.external_id).toBe('x');
  });

  test('probability strikes the same requests for the same seed', async () => {
    const pattern = async (seed: number) => {
      const api = await start({ seed, faults: { http500: { probability: 0.3 } } });
      const statuses: number[] = [];
      for (let request = 0; request < 30; request++) statuses.push((await api.get('client/', { page_size: 1 })).status);
      return statuses.join();
    };
    const [first, again] = [await pattern(5), await pattern(5)];
    expect(first).toContain('500');
    expect(again).toBe(first);
  });
});

describe('control and state', () => {
  test('POST /sandbox/live, GET /sandbox/stats, POST /sandbox/quirks and /sandbox/faults', async () => {
    const api = await start();
    const post = (path: string, body?: object) =>
      fetch(`${api.sandbox.url}/sandbox/${path}`, { method: 'POST', ...(body ? { body: JSON.stringify(body) } : {}) });
    const before = await idsOf(api, 'invoice/');
    const { events } = (await (await post('live?events=20')).json()) as { events: object[] };
    expect(events).toHaveLength(20);
    expect(events[0]).toEqual(
      expect.objectContaining({ at: expect.any(String), kind: expect.any(String), text: expect.any(String) }),
    );
    expect((await idsOf(api, 'invoice/')).length).toBeGreaterThan(before.length);
    await post('quirks', { order: 'id_desc' });
    expect((await idsOf(api, 'invoice/')).at(-1)).toBe(before[0]);
    await post('faults', { http500: { count: 1 } });
    expect((await api.get('invoice/')).status).toBe(500);
    const stats = (await (await fetch(`${api.sandbox.url}/sandbox/stats`)).json()) as object;
    expect(stats).toMatchObject({ requests: 4, weight: 61, byAction: { 'invoice.list': { requests: 4, weight: 61 } } });
    expect((await post('live?events=-1')).status).toBe(400);
    expect((await post('nothing')).status).toBe(404);
  });

  test('a state file carries the clinic over a restart, where it goes on as it would have', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandbox-state-'));
    try {
      const stateFile = join(folder, 'clinic.ndjson');
      const now = () => new Date('2026-05-20T12:00:00Z');
      const first = await startSandbox({ invoices: 60, stateFile, now });
      first.live(30);
      await first.stop();
      const second = await startSandbox({ invoices: 5, seed: 9, stateFile, now });
      expect(second.clinic.invoices.all()).toEqual(first.clinic.invoices.all());
      expect(second.clinic.departments).toEqual(first.clinic.departments);
      expect(second.live(30)).toEqual(first.live(30));
      await second.stop();
      expect(readdirSync(folder)).toEqual(['clinic.ndjson']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
