// The journal of requests and answers: its contents, hidden secrets, search, and checks for tests.
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { ShownExchange } from '../../src/journal/exchange.ts';
import { type Controlled, start } from './support.ts';

const now = () => new Date('2026-05-20T12:00:00Z');
const requests = async (api: Controlled, query = ''): Promise<ShownExchange[]> =>
  (await api.control('GET', `requests${query}`)).json.requests;
const newest = async (api: Controlled): Promise<ShownExchange> => (await requests(api)).at(-1)!;
/** A valid prepayment. */
const prepayment = ({ ref }: Controlled) => ({
  ...{ department: ref('department', 11), client: ref('client', 2001), payment_type: 7, paid: '5.00' },
});
const form = 'application/x-www-form-urlencoded';

describe('what the journal has of a request', () => {
  test('all of it', async () => {
    const api = await start({ now });
    const reply = await api.send('POST', 'unallocatedpayment/?x=1', prepayment(api));
    expect(await requests(api)).toEqual([
      {
        ...{ id: 1, at: '2026-05-20T12:00:00.000Z', method: 'POST', path: '/4711/api/0.1/unallocatedpayment/' },
        ...{ query: 'x=1', action: 'unallocatedpayment.create', application: 'accounting', status: 201 },
        ...{ request_body: JSON.stringify(prepayment(api)), request_body_cut: false },
        ...{ response_body: reply.text, response_body_cut: false, faults: [], nearest: null },
        duration_ms: expect.any(Number),
        headers: expect.objectContaining({ authorization: '[replaced]', 'content-type': 'application/json' }),
      },
    ]);
  });

  test.each([
    ['a token', 'POST', '/4711/oauth2/token/', 'oauth2.token', 401],
    ['a payment page', 'GET', '/4711/pay/nothing', 'pay.show', 404],
    ['a payment page that is submitted', 'POST', '/4711/pay/nothing', 'pay.submit', 404],
    ['an upload', 'POST', '/storage/4711/', 'storage.upload', 412],
    ['a report of an upload', 'GET', '/storage/4711/reports/nothing.csv', 'storage.report', 404],
    ['no credentials', 'GET', '/4711/api/0.1/invoice/', 'invoice.list', 401],
    ['another method', 'DELETE', '/4711/api/0.1/invoice/', null, 401],
    ['a path that is unknown', 'GET', '/4711/api/0.1/nothing/', null, 404],
    ['a query that cannot be read', 'GET', '/4711/api/0.1/invoice/?a=%ff', 'invoice.list', 400],
    ['another installation', 'GET', '/4712/api/0.1/invoice/', 'invoice.list', 404],
    ['no installation', 'GET', '/invoice/', null, 404],
  ])('%s: %s %s', async (_, method, path, action, status) => {
    const api = await start();
    expect((await fetch(`${api.sandbox.url}${path}`, { method })).status).toBe(status);
    expect(await requests(api)).toMatchObject([
      { method, path: path.split('?')[0], action, status, application: null },
    ]);
  });

  test.each(['/sandbox/quirks', '/4711/sandbox/quirks', '/sandbox/nothing', '/docs/', '/schema/', '/favicon.ico'])(
    'not %s',
    async (path) => {
      const api = await start();
      await fetch(`${api.sandbox.url}${path}`);
      expect(await requests(api)).toEqual([]);
    },
  );

  test('the body also of a request that is refused unread', async () => {
    const api = await start();
    const authorization = 'Bearer nonsense';
    await api.send('POST', 'unallocatedpayment/', { paid: '5.00' }, { authorization });
    await api.send('POST', 'unallocatedpayment/', '<paid>5.00</paid>', { 'content-type': 'text/xml' });
    await expect
      .poll(async () => (await requests(api)).map((one) => [one.status, one.request_body]))
      .toEqual([
        [401, '{"paid":"5.00"}'],
        [415, '<paid>5.00</paid>'],
      ]);
  });

  test('a body in many pieces reaches the endpoint and the journal', async () => {
    const api = await start();
    const body = JSON.stringify(prepayment(api));
    const socket = connect(api.sandbox.port, '127.0.0.1');
    socket.write(
      `POST /4711/api/0.1/unallocatedpayment/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer sandbox-token\r\n` +
        `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    for (const character of body) {
      socket.write(`1\r\n${character}\r\n`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    socket.end('0\r\n\r\n');
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(/^HTTP\/1\.1 201 /);
    expect((await newest(api)).request_body).toBe(body);
  });

  test('a form and its application', async () => {
    const api = await start();
    const authorization = `Basic ${btoa('wholesaler-client:wholesaler-secret')}`;
    const headers = { authorization, 'content-type': form };
    await fetch(`${api.sandbox.url}/4711/oauth2/token/`, {
      ...{ method: 'POST', headers, body: 'grant_type=client_credentials' },
    });
    const [exchange] = await requests(api);
    expect(exchange).toMatchObject({ application: 'wholesaler', request_body: 'grant_type=client_credentials' });
    expect(JSON.parse(exchange!.response_body!)).toMatchObject({ access_token: '[replaced]', token_type: 'Bearer' });
  });

  test.each([
    ['http500', {}, 500, 'Server error'],
    ['http503Html', {}, 503, '<h1>Maintenance'],
    ['notJson', {}, 200, '<h1>Maintenance'],
    ['spurious429', {}, 429, 'throttled'],
    ['unauthorizedOnce', {}, 401, 'Invalid or expired'],
    ['timeoutMs', { ms: 30 }, 200, '"results"'],
    ['truncatedBody', { honestLength: true }, 200, '"results"'],
    ['truncatedBody', {}, 200, null],
    ['connectionReset', {}, null, null],
    ['connectionReset', { when: 'after' }, null, null],
  ])('the fault %s %j', async (name, settings, status, body) => {
    const api = await start();
    api.sandbox.setFaults({ [name]: { count: 1, ...settings } });
    await api.get('invoice/').catch(() => {});
    const all = await requests(api);
    expect(all).toMatchObject([{ status, faults: [name], action: 'invoice.list', application: 'accounting' }]);
    if (body === null) expect(all[0]?.response_body).toBeNull();
    else expect(all[0]?.response_body).toContain(body);
    if (name === 'timeoutMs') expect(all[0]?.duration_ms).toBeGreaterThanOrEqual(29);
  });

  test('a request that hangs stands there at once', async () => {
    const api = await start({ faults: { timeoutMs: { count: 1, ms: 60_000 } } });
    const stop = new AbortController();
    const hanging = fetch(`${api.sandbox.url}/4711/api/0.1/invoice/`, {
      ...{ headers: { authorization: 'Bearer sandbox-token' }, signal: stop.signal },
    });
    await expect
      .poll(() => requests(api))
      .toMatchObject([{ status: null, duration_ms: null, action: 'invoice.list', faults: ['timeoutMs'] }]);
    stop.abort();
    await expect(hanging).rejects.toThrow();
    await expect.poll(async () => (await newest(api)).duration_ms).not.toBeNull();
  });
});

describe('what the journal hides', () => {
  const secret = 'a-very-secret-text';
  test.each([
    ['JSON', 'application/json', `{"client_secret": "${secret}", "a": 1}`, '{"client_secret": "[replaced]", "a": 1}'],
    ['JSON with quotes', 'application/json', `{"client_secret":"\\"${secret}"}`, '{"client_secret":"[replaced]"}'],
    ['JSON that ends early', 'application/json', `{"client_secret":"${secret}`, '{"client_secret":"[replaced]"'],
    ['a number', 'application/json', '{"client_secret":12345}', '{"client_secret":"[replaced]"}'],
    ['null, which is none', 'application/json', '{"client_secret":null}', '{"client_secret":null}'],
    ['a salt', 'application/json', `{"verification_salt":"${secret}"}`, '{"verification_salt":"[replaced]"}'],
    ['a form', form, `client_secret=${secret}&a=1`, 'client_secret=[replaced]&a=1'],
    ['the end of a form', form, `a=1&client_secret=${secret}`, 'a=1&client_secret=[replaced]'],
    [
      'a form in parts',
      'multipart/form-data; boundary=x',
      `--x\r\ncontent-disposition: form-data; name="client_secret"\r\n\r\n${secret}\r\n--x--\r\n`,
      '--x\r\ncontent-disposition: form-data; name="client_secret"\r\n\r\n[replaced]\r\n--x--\r\n',
    ],
  ])('a secret in %s', async (_, type, body, shown) => {
    const api = await start();
    const headers = {
      'content-type': type,
      cookie: `session=${secret}`,
      authorization: `Basic ${btoa(`x:${secret}`)}`,
    };
    const url = `${api.sandbox.url}/4711/oauth2/token/?client_secret=${secret}&x=1`;
    await fetch(url, { method: 'POST', headers, body });
    await expect.poll(async () => (await newest(api)).request_body).toBe(shown);
    const { text } = await api.control('GET', 'requests');
    expect(text).not.toContain(secret);
    expect(text).not.toContain(btoa(`x:${secret}`));
    expect(await newest(api)).toMatchObject({
      query: 'client_secret=[replaced]&x=1',
      headers: { cookie: '[replaced]', authorization: '[replaced]' },
    });
  });
});

describe('limits', () => {
  test('of each body the first 10,000 bytes are kept', async () => {
    const api = await start();
    const last_name = 'ä'.repeat(20_000);
    await api.send('POST', 'client/', { last_name });
    await api.get('invoice/', { page_size: 1000 });
    const [post, get] = await requests(api);
    expect(Buffer.byteLength(post!.request_body!)).toBeLessThan(10_004);
    expect(post).toMatchObject({ request_body_cut: true, request_body: expect.stringContaining('{"last_name":"ää') });
    expect([get!.response_body_cut, Buffer.byteLength(get!.response_body!)]).toEqual([true, 10_000]);
  });

  test('the newest thousand requests are kept, and 8 MB of them', async () => {
    const api = await start({ invoices: 1 });
    for (let n = 0; n < 1003; n++) await api.get('species/', { page_size: 1 });
    const all = await requests(api);
    expect([all.length, all[0]!.id, all.at(-1)!.id]).toEqual([1000, 4, 1003]);
    const body = JSON.stringify({ last_name: 'x'.repeat(10_000) });
    for (let n = 0; n < 800; n++) await api.send('POST', 'nothing/', body);
    await expect.poll(async () => (await requests(api)).length, { timeout: 60_000 }).toBeLessThan(800);
    expect((await newest(api)).id).toBe(1803);
  });
});

describe('GET /sandbox/requests', () => {
  const filled = async () => {
    const api = await start();
    await api.get('invoice/', { page_size: 1 });
    await api.get('client/1/');
    await api.send('POST', 'unallocatedpayment/', prepayment(api));
    await api.send('GET', 'client/', undefined, { authorization: 'Bearer explorer-token' });
    await api.get('invoices/');
    return api;
  };

  test.each([
    ['', [1, 2, 3, 4, 5]],
    ['?method=POST', [3]],
    ['?method=post', [3]],
    ['?path=/invoice/', [1]],
    ['?path=/4711/api/0.1/invoice/', [1]],
    ['?path=/client/*', [2, 4]],
    ['?path=/inv*', [1, 5]],
    ['?path=/4711/*', [1, 2, 3, 4, 5]],
    ['?action=invoice.list', [1]],
    ['?application=explorer', [4]],
    ['?status=404', [2, 5]],
    ['?status=404&path=/client/*', [2]],
    ['?after=3', [4, 5]],
    ['?after=1&limit=2', [2, 3]],
    ['?limit=1&method=POST', [3]],
  ])('%s', async (query, ids) => {
    const found = await requests(await filled(), query);
    expect(found.map(({ id }) => id)).toEqual(ids);
  });

  test.each(['?limit=0', '?limit=1001', '?limit=x', '?after=-1', '?status=ok', '?method=1', '?paths=/', '?path='])(
    '%s is refused',
    async (query) => {
      const api = await start({ invoices: 1 });
      expect((await api.control('GET', `requests${query}`)).status).toBe(400);
    },
  );

  test('each installation has its own, and unknown ones are in the first', async () => {
    const api = await start({ others: [{ installation: 4712, invoices: 1 }] });
    await fetch(`${api.sandbox.url}/4712/api/0.1/invoice/`);
    await fetch(`${api.sandbox.url}/api/0.1/invoice/`);
    expect((await api.control('GET', '/4712/sandbox/requests')).json.requests).toHaveLength(1);
    expect((await requests(api)).map(({ path }) => path)).toEqual(['/api/0.1/invoice/']);
  });

  test.each([
    ['DELETE', 'requests'],
    ['POST', 'reset'],
  ])('%s /sandbox/%s empties it; ids go on', async (method, path) => {
    const api = await filled();
    expect((await api.control(method, path)).status).toBe(200);
    expect(await requests(api)).toEqual([]);
    await api.get('invoice/', { page_size: 1 });
    expect((await requests(api)).map(({ id }) => id)).toEqual([6]);
  });
});

describe('an unmatched request is named the nearest endpoint', () => {
  test.each([
    ['POST', '/4711/api/0.1/invoicepayments/', 'POST /4711/api/0.1/invoicepayment/'],
    ['GET', '/4711/api/0.1/invoices/', 'GET /4711/api/0.1/invoice/'],
    ['GET', '/4711/api/0.1/clients/12/', 'GET /4711/api/0.1/client/{id}/'],
    ['POST', '/4711/api/0.1/invoice/12/full-refund/', 'POST /4711/api/0.1/invoice/{id}/full_refund/'],
    ['GET', '/4711/api/0.2/invoice/', 'GET /4711/api/0.1/invoice/'],
    ['GET', '/api/0.1/invoice/', 'GET /4711/api/0.1/invoice/'],
    ['GET', '/invoice/', 'GET /4711/api/0.1/invoice/'],
    ['POST', '/oauth2/token/', 'POST /4711/oauth2/token/'],
    ['GET', '/4711/oauth2/token/', 'POST /4711/oauth2/token/'],
    ['PATCH', '/4711/api/0.1/invoicepayments/', 'POST /4711/api/0.1/invoicepayment/'],
    ['DELETE', '/4711/api/0.1/wholesalers/', null],
    ['GET', '/wp-login.php', null],
    ['GET', `/${'x'.repeat(190)}`, null],
  ])('%s %s: %s', async (method, path, expected) => {
    const api = await start({ invoices: 1 });
    const answer = await fetch(`${api.sandbox.url}${path}`, { method });
    expect([answer.headers.get('x-sandbox-nearest'), (await newest(api)).nearest]).toEqual([expected, expected]);
    if (answer.status === 404) expect(await answer.text()).toBe('{"detail":"Not found."}');
  });

  test('a method that the path has not', async () => {
    const api = await start();
    const { status, headers } = await api.send('PUT', 'unallocatedpayment/1/', {});
    expect([status, headers.get('x-sandbox-nearest')]).toEqual([405, 'PATCH /4711/api/0.1/unallocatedpayment/{id}/']);
  });

  test('no record, and control paths, have none', async () => {
    const api = await start();
    expect((await api.get('client/1/')).headers.get('x-sandbox-nearest')).toBeNull();
    expect((await api.control('POST', 'resets')).headers.get('x-sandbox-nearest')).toBeNull();
  });
});
