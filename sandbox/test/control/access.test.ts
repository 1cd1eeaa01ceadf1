// Access to the control endpoints, and their refusals.
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { start } from './support.ts';

/** The status of a request with headers that a browser would set. */
const statusWith = (url: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } });
    sent.on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end('{}');
  });

describe('a page of another site cannot control the sandbox', () => {
  test.each([
    ['no Origin, as programs send', {}, 200],
    ["the sandbox's own pages", { origin: 'OWN' }, 200],
    ['a page of another site', { origin: 'https://evil.example' }, 403],
    ['a page without an origin, such as a file', { origin: 'null' }, 403],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }, 403],
    ["a name that another's DNS gives to this machine", { host: 'evil.example' }, 403],
    ['the same with its own Origin', { host: 'evil.example:80', origin: 'http://evil.example:80' }, 403],
    ['localhost by name', { host: 'localhost:8090' }, 200],
    ['localhost by IPv6', { host: '[::1]:8090' }, 200],
  ])('%s', async (_, headers: Record<string, string>, status) => {
    const { sandbox } = await start({ invoices: 1 });
    const own = { ...headers, ...(headers.origin === 'OWN' ? { origin: sandbox.url } : {}) };
    expect(await statusWith(`${sandbox.url}/sandbox/quirks`, own)).toBe(status);
    expect(await statusWith(`${sandbox.url}/4711/sandbox/quirks`, own)).toBe(status);
  });
});

describe('control requests are validated, and what they refuse changes nothing', () => {
  test.each([
    ['quirks', { order: 'upwards' }],
    ['quirks', { defaultPageSize: 0 }],
    ['quirks', { lateCommitShare: 2 }],
    ['quirks', { orders: 'id' }],
    ['quirks', []],
    ['faults', { http500: { probability: 7 } }],
    ['faults', { http500: true }],
    ['faults', { http501: {} }],
    ['faults', { timeoutMs: { when: 'after' } }],
    ['snapshots', {}],
    ['applications', { name: 'x' }],
    ['applications', { name: 'x', client_id: 'x', client_secret: 'y', permissions: ['Everything'] }],
    ['legacy_key', { key: '' }],
    ['subscriptions', [{ url: 'ftp://x/' }]],
    ['subscriptions', [{ url: 'http://127.0.0.1/', triggers: [5] }]],
    ['live?events=ten', undefined],
    ['fixtures', { invoices: [{ rows: [] }] }],
    ['orders', { wholesaler: 1, lines: [] }],
  ])('POST %s %j', async (path, body) => {
    const { control } = await start({ invoices: 1 });
    const state = async () => [
      (await control('GET', 'quirks')).text,
      (await control('GET', 'faults')).text,
      (await control('GET', 'applications')).text,
    ];
    const before = await state();
    const { status, text } = await control('POST', path, body);
    expect([status, text]).toEqual([400, expect.not.stringContaining('pattern')]);
    expect(await state()).toEqual(before);
  });
});

test('quirks and faults can be read, and put back', async () => {
  const { control, get } = await start({ invoices: 1 });
  const defaults = (await control('GET', 'quirks')).json;
  expect((await control('POST', 'quirks', { defaultPageSize: 7 })).json).toEqual({ ...defaults, defaultPageSize: 7 });
  expect((await control('DELETE', 'quirks')).json).toEqual(defaults);
  await control('POST', 'faults', { http500: { count: 2 } });
  expect((await get('invoice/')).status).toBe(500);
  expect((await control('GET', 'faults')).json.http500).toEqual({ count: 1 });
  expect(Object.values((await control('DELETE', 'faults')).json)).toEqual(Array(9).fill(null));
  expect((await get('invoice/')).status).toBe(200);
});

test('every control endpoint is described, apart from the API', async () => {
  const { control } = await start({ invoices: 1 });
  const described = (await control('GET', 'schema/')).json.paths as Record<string, object>;
  const { controlRoutes } = await import('../../src/http/control/index.ts');
  const served = controlRoutes.map(({ method, path }) => `${method} /sandbox/${path.replace(/:(\w+)/g, '{$1}')}`);
  const shown = Object.entries(described).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(shown.sort()).toEqual(served.sort());
  const paths = Object.keys((await control('GET', '/schema/')).json.paths);
  expect(paths.filter((path) => path.includes('sandbox'))).toEqual([]);
});

describe('what staff and administrators decide is reached in a running sandbox', () => {
  test('an application with few permissions, and the legacy API key', async () => {
    const { control, sandbox, ref } = await start({ invoices: 1 });
    await control('POST', 'applications', {
      ...{ name: 'clinic chain', client_id: 'chain', client_secret: 'secret', token: 'chain-token' },
      permissions: ['General: Patients and clients'],
    });
    await control('POST', 'legacy_key', { key: 'old-key' });
    const status = async (path: string, authorization: string) =>
      (await fetch(ref(path, 0).replace('0/', ''), { headers: { authorization } })).status;
    expect(await status('client', 'Bearer chain-token')).toBe(200);
    expect(await status('invoice', 'Bearer chain-token')).toBe(403);
    expect(await status('invoice', 'Token old-key')).toBe(200);
    expect(await status('available_wholesaler', 'Token old-key')).toBe(401);
    const { applications } = (await control('GET', 'applications')).json;
    expect(applications.map((one: { client_id: string }) => one.client_id)).toContain('chain');
    expect(JSON.stringify(applications)).not.toContain('secret');
    await control('POST', 'reset');
    expect(await status('client', 'Bearer chain-token')).toBe(401);
    expect(sandbox.installation).toBe(4711);
  });

  test('a consultation goes from 5 Ready for Discharge to 10 Finalized', async () => {
    const { control, get, send, ref } = await start({ invoices: 1 });
    const [patient] = (await get('patient/', { archived__is: 'false', deceased__is_null: 'true', page_size: 1 })).json
      .results;
    const { json } = await send('POST', 'consultation/', {
      ...{ client: patient.client, patients: [patient.url], department: ref('department', 11), complaint: 'Cough' },
      ...{ started: '2026-01-01T10:00:00Z', type: 1 },
    });
    const id = Number(json.url.split('/').at(-2));
    await send('POST', `consultation/${id}/update_status/`, { status: 8 });
    expect((await control('POST', `consultations/${id}/ready`)).json.status).toBe(5);
    expect((await send('POST', `consultation/${id}/update_status/`, { status: 10 })).json.status).toBe(10);
  });

  test('staff finalise a draft and void an invoice', async () => {
    const { control, sandbox } = await start({ invoices: 1 });
    const { id } = sandbox.clinic.createInvoice({ department: 11, rows: [{ sum: '5.00' }], status: 0 });
    expect((await control('PATCH', `invoices/${id}`, { status: 3 })).json).toMatchObject({ id, status: 3 });
    expect((await control('PATCH', `invoices/${id}`, { status: 99 })).json).toMatchObject({ id, status: 99 });
    expect((await control('PATCH', 'invoices/999999', { status: 99 })).status).toBe(404);
  });

  test('a receipt line whose department cannot be settled', async () => {
    const { control, sandbox } = await start({ invoices: 1, quirks: { loopbackCallbacks: true } });
    const headers = { authorization: 'Bearer wholesaler-token', 'content-type': 'application/json' };
    const api = `${sandbox.url}/4711/api/0.1`;
    const registered = await fetch(`${api}/available_wholesaler/`, {
      ...{ method: 'POST', headers },
      body: JSON.stringify({
        ...{ name: 'Tukku', webhook_callback_url: 'http://127.0.0.1:9/', verification_salt: 'x'.repeat(16) },
      }),
    });
    const { id } = (await registered.json()) as { id: number };
    const { json: wholesaler } = await control('POST', 'wholesalers', { available_wholesaler: id });
    await control('PATCH', 'organisation', { default_department: null });
    const answer = await fetch(`${api}/wholesaler/${wholesaler.id}/receipts/`, {
      ...{ method: 'POST', headers },
      body: JSON.stringify({ receipt_lines: [{ id: 'a', quantity: '1', product_number: 'P1' }] }),
    });
    expect(((await answer.json()) as { receipt_lines: object[] }).receipt_lines).toMatchObject([
      { status: 'rejected', reason: 'department_unresolved' },
    ]);
  });
});

test('several installations: clinics, limits, tokens, clocks and quirks of their own', async () => {
  const other = { installation: 4712, seed: 2, invoices: 5, token: 'other-token', rateWindowSeconds: 60 };
  const { control, get, sandbox } = await start({ invoices: 5, others: [other] });
  const page = (token: string, installation = 4712) =>
    fetch(`${sandbox.url}/${installation}/api/0.1/invoice/?page_size=1000`, {
      headers: { authorization: `Bearer ${token}` },
    });
  expect([(await page('other-token')).status, (await page('sandbox-token')).status]).toEqual([200, 401]);
  expect((await page('other-token', 4713)).status).toBe(404);
  await control('POST', '/4712/sandbox/clock', { advance: 'P1D' });
  await control('POST', '/4712/sandbox/quirks', { order: 'id_desc' });
  await control('POST', '/4712/sandbox/live?events=5');
  // The path has an id beside the installation.
  expect(
    (await control('PATCH', '/4712/sandbox/departments/11', { automatic_financial_period_lock_enabled: true })).status,
  ).toBe(200);
  expect((await control('GET', 'quirks')).json.order).toBe('id');
  const [mine, theirs] = await Promise.all([get('invoice/'), page('other-token')]);
  expect(Date.parse(theirs.headers.get('date') ?? '') - Date.parse(mine.headers.get('date') ?? '')).toBeGreaterThan(
    8e7,
  );
  expect((await page('other-token')).status).toBe(200);
  expect((await page('other-token')).status).toBe(429);
  expect((await get('invoice/')).status).toBe(200);
  expect((await control('POST', '/9999/sandbox/reset')).status).toBe(404);
});
