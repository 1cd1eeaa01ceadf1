// Rules for every request: paths, methods, encodings, size limits, and error messages.
import { request } from 'node:http';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { StatsKeeper } from '../../src/http/stats.ts';
import { refTo, useSandbox } from './harness.ts';

const api = useSandbox({ invoices: 40, now: () => new Date('2026-05-20T12:00:00Z') });
const clinic = () => api().sandbox.clinic;

/** Sends a request exactly as written; fetch would normalise it. */
const raw = (
  method: string,
  path: string,
  {
    body,
    type = 'application/json',
    token = api().sandbox.token,
  }: { body?: Buffer | string; type?: string; token?: string } = {},
): Promise<{ status: number; headers: Record<string, string | string[] | undefined>; text: string }> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': type }) };
    const sent = request({ host: '127.0.0.1', port: api().sandbox.port, method, path, headers }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(pieces).toString() }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });

describe('ids in paths are digits', () => {
  test.each([
    '/4711/api/0.1/client/0x7d1/',
    '/4711/api/0.1/client/2001.0/',
    '/4711/api/0.1/client/2001e0/',
    '/4711/api/0.1/client/+2001/',
    '/4711/api/0.1/client/-2001/',
    '/4711/api/0.1/client/%32001/',
    '/4711/api/0.1/client/2001%20/',
    '/4711/api/0.1/client/2_001/',
    '/4711/api/0.1/client/9999999999999999999/',
    '/0x1267/api/0.1/client/2001/',
    '/4711.0/api/0.1/client/2001/',
    '/4711e0/api/0.1/client/2001/',
    '/+4711/api/0.1/client/2001/',
    '/%34711/api/0.1/client/2001/',
    '/4711/api/0%2E1/client/2001/',
    '/4711/api/0.1/clien%74/2001/',
    '//4711/api/0.1/client/2001/',
    '/4711/api/0.1/client/2001//',
    '/4711/api/0.1/Client/2001/',
  ])('%s is 404', async (path) => {
    expect([(await raw('GET', path)).status, path]).toEqual([404, path]);
  });

  test('digits are not read as another number', async () => {
    expect((await raw('GET', '/4711/api/0.1/client/2001/')).status).toBe(200);
  });
});

describe('methods', () => {
  test('HEAD answers as GET without a body', async () => {
    const got = await raw('GET', '/4711/api/0.1/client/?page_size=2');
    const head = await raw('HEAD', '/4711/api/0.1/client/?page_size=2');
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', got.headers['content-length']]);
    expect((await raw('HEAD', '/4711/api/0.1/client/1/')).status).toBe(404);
    expect((await raw('HEAD', '/4711/api/0.1/invoice/10001/full_refund/')).status).toBe(405);
    expect((await raw('HEAD', '/4711/api/0.1/client/', { token: 'no' })).status).toBe(401);
  });

  test('HEAD counts as its GET in the limits', async () => {
    const before = api().sandbox.stats().byAction['client.list']?.weight ?? 0;
    await raw('HEAD', '/4711/api/0.1/client/?page_size=1000');
    expect(api().sandbox.stats().byAction['client.list']?.weight).toBe(before + 20);
  });

  test.each([
    ['client/', 'GET, POST, HEAD, OPTIONS', 'Client List'],
    ['client/2001/', 'GET, PATCH, HEAD, OPTIONS', 'Client Instance'],
    ['accountnumber/101/', 'GET, PUT, PATCH, HEAD, OPTIONS', 'Accountnumber Instance'],
    ['invoice/10001/full_refund/', 'POST, OPTIONS', 'Full Refund'],
  ])('OPTIONS %s', async (path, allow, name) => {
    const answer = await raw('OPTIONS', `/4711/api/0.1/${path}`);
    expect([answer.status, answer.headers.allow]).toEqual([200, allow]);
    expect(JSON.parse(answer.text)).toEqual({
      ...{ name, description: expect.any(String), renders: ['application/json', 'text/html'] },
      parses: path.startsWith('accountnumber')
        ? ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data']
        : ['application/json'],
    });
    expect((await raw('OPTIONS', `/4711/api/0.1/${path}`, { token: 'no' })).status).toBe(401);
  });

  test('OPTIONS counts as one request of a separate action', async () => {
    const { byAction } = api().sandbox.stats();
    const before = byAction['client.metadata']?.weight ?? 0;
    await raw('OPTIONS', '/4711/api/0.1/client/?page_size=1000');
    const after = api().sandbox.stats().byAction;
    expect(after['client.metadata']?.weight).toBe(before + 1);
    expect(after['client.list']).toEqual(byAction['client.list']);
  });

  test.each(['PUT', 'DELETE', 'TRACE', 'QUERY', 'PROPFIND'])('%s of a list is 405 with Allow', async (method) => {
    const answer = await raw(method, '/4711/api/0.1/client/');
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, POST, HEAD, OPTIONS']);
  });

  test('the token endpoint takes POST', async () => {
    expect((await raw('GET', '/4711/oauth2/token/')).status).toBe(405);
    expect((await raw('HEAD', '/4711/oauth2/token/')).status).toBe(405);
    expect((await raw('OPTIONS', '/4711/oauth2/token/')).headers.allow).toBe('POST, OPTIONS');
  });
});

describe('encodings', () => {
  const phone = (number: Buffer) =>
    Buffer.concat([Buffer.from(`{"firstname":"`), number, Buffer.from('","lastname":"x"}')]);

  test.each([
    ['a byte that is no UTF-8', phone(Buffer.from([0xff]))],
    ['an overlong form', phone(Buffer.from([0xc0, 0xaf]))],
    ['a surrogate', phone(Buffer.from([0xed, 0xa0, 0x80]))],
    ['half a character', phone(Buffer.from([0xe2, 0x82]))],
    ['an escaped surrogate', phone(Buffer.from('\\ud800'))],
    ['UTF-16', Buffer.from('{"firstname":"x"}', 'utf16le')],
    ['a byte-order mark', Buffer.from('\ufeff{"firstname":"x"}')],
  ])('a body with %s is refused', async (_what, body) => {
    const before = clinic().clients.size;
    const answer = await raw('POST', '/4711/api/0.1/client/', { body });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      { detail: expect.stringContaining('JSON parse error') },
    ]);
    expect(clinic().clients.size).toBe(before);
  });

  test.each([
    ['number=%FF', 'application/x-www-form-urlencoded'],
    ['number=%zz', 'application/x-www-form-urlencoded'],
    [Buffer.from([0x6e, 0x3d, 0xff]), 'application/x-www-form-urlencoded'],
    ['--x\r\ncontent-disposition: form-data; name="number"\r\n\r\n', 'multipart/form-data; boundary=x'],
    ['x', 'multipart/form-data'],
  ])('a form %j (%s) is refused', async (body, type) => {
    const answer = await raw('POST', '/4711/api/0.1/accountnumber/', { body, type });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      { detail: expect.stringContaining('Form parse error') },
    ]);
  });

  test.each(['%FF', '%C0%AF', '%ED%A0%80', '%', '%zz'])('a query with %s is refused', async (text) => {
    const answer = await raw('GET', `/4711/api/0.1/client/?firstname__icontains=${text}`);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([400, { detail: expect.stringContaining('query') }]);
  });

  test.each(['%FF', '%zz', '%'])('a path with %s is refused', async (text) => {
    expect([400, 404]).toContain((await raw('GET', `/4711/api/0.1/client/${text}/`)).status);
  });
});

describe('size', () => {
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const many = (keys: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: keys }, (_, n) => [`k${n}`, n])));
  const prepayment = () => clinic().prepayments.all()[0]?.id as number;
  const everywhere: [string, string, string][] = [
    ['PATCH', '/4711/api/0.1/unallocatedpayment/701/', 'external_info'],
    ['POST', '/4711/api/0.1/client/', 'x'],
    ['POST', '/4711/api/0.1/wholesaler/901/receipts/', 'receipt_lines'],
    ['POST', '/4711/oauth2/token/', 'x'],
    ['POST', '/sandbox/quirks', 'x'],
    ['POST', '/sandbox/orders', 'x'],
  ];

  test.each(everywhere)('%s %s refuses JSON that is nested too deep', async (method, path, field) => {
    for (const levels of [100, 5000, 400_000]) {
      const answer = await raw(method, path, { body: `{"${field}":${nested(levels)}}`, token: 'explorer-token' });
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('nested')]);
    }
    const lists = await raw(method, path, { body: '['.repeat(2_000_000), token: 'explorer-token' });
    expect(lists.status).toBe(400);
  });

  test.each(everywhere)('%s %s refuses JSON of too many values', async (method, path, field) => {
    const answer = await raw(method, path, { body: `{"${field}":${many(200_000)}}`, token: 'explorer-token' });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('values')]);
  });

  test.each(everywhere)('%s %s refuses a body of more than 5 MB', async (method, path) => {
    const answer = await raw(method, path, { body: `"${'x'.repeat(5_000_001)}"`, token: 'explorer-token' });
    expect(answer.status).toBe(413);
  });

  test('a number that is too large for a double is refused', async () => {
    const answer = await raw('PATCH', `/4711/api/0.1/unallocatedpayment/${prepayment()}/`, {
      body: '{"external_info":{"a":1e400}}',
    });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('JSON parse error')]);
  });

  test('external_info has a size in all, however many requests it comes in', async () => {
    const write = (info: object) => api().send('PATCH', `unallocatedpayment/${prepayment()}/`, { external_info: info });
    expect((await write({ a: 'x'.repeat(30_000) })).status).toBe(200);
    const refused = await write({ b: 'x'.repeat(40_000) });
    expect([refused.status, refused.json]).toEqual([400, { external_info: [expect.stringContaining('65,536')] }]);
    expect((await write({ a: '', b: 'x'.repeat(30_000) })).status).toBe(200);
    expect((await write({ deep: JSON.parse(nested(11)) })).status).toBe(400);
    expect((await write({ a: null, b: null, deep: JSON.parse(nested(9)) })).status).toBe(200);
  });

  test('a form has a limit of fields', async () => {
    const body = Array.from({ length: 2000 }, (_, n) => `f${n}=1`).join('&');
    const answer = await raw('POST', '/4711/api/0.1/accountnumber/', {
      body,
      type: 'application/x-www-form-urlencoded',
    });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('Form parse error')]);
  });
});

describe('a mistake of the sandbox itself', () => {
  afterEach(() => vi.restoreAllMocks());

  test.each(['/4711/api/0.1/client/', '/sandbox/stats'])(
    '%s answers a plain 500; the stack goes to stderr',
    async (path) => {
      const secret = new Error('a secret of the program');
      vi.spyOn(clinic().clients, 'select').mockImplementation(() => {
        throw secret;
      });
      vi.spyOn(api().sandbox.installations[0]?.stats as StatsKeeper, 'read').mockImplementation(() => {
        throw secret;
      });
      const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
      const answer = await raw('GET', path);
      expect([answer.status, JSON.parse(answer.text)]).toEqual([500, { detail: 'Server error.' }]);
      expect(written.mock.calls.flat().join('')).toContain('a secret of the program');
      expect(written.mock.calls.flat().join('')).toContain('.ts:');
    },
  );
});

describe('errors say what to send', () => {
  const wrong = [null, true, 1, 1.5, '', 'x', '\u0000', [], {}, [[]], [{}], 'x'.repeat(20_000), 1e300, -1];
  const defaults =
    /Invalid input|Invalid option|Invalid string|must match pattern|expected |Too (big|small)|Unrecognized/;

  test('whatever is sent in a field', async () => {
    const { paths } = (await (await fetch(`${api().sandbox.url}/schema/`)).json()) as {
      paths: Record<string, Record<string, { requestBody?: unknown; parameters?: { in: string; name: string }[] }>>;
    };
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { requestBody, parameters = [] }] of Object.entries(methods)) {
        const at = `/4711/api/0.1${path.replace(/\{[a-z_]+\}/g, '1')}`;
        const ask = async (query: string, body?: unknown) => {
          const answer = await raw(method.toUpperCase(), `${at}${query}`, {
            token: 'explorer-token',
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          });
          expect([answer.status < 500, answer.text]).toEqual([true, expect.not.stringMatching(defaults)]);
        };
        const text = JSON.stringify(requestBody ?? {});
        const fields = new Set([...text.matchAll(/"(\w+)":\{/g)].map(([, name]) => name as string));
        if (requestBody) {
          for (const value of wrong) await ask('', Object.fromEntries([...fields].map((name) => [name, value])));
          for (const value of wrong) await ask('', value);
        }
        const query = parameters.filter((one) => one.in === 'query').map(({ name }) => name);
        for (const value of ['x', '', '-1', '1.5', '%00', '1,x']) {
          if (query.length > 0) await ask(`?${query.map((name) => `${name}=${value}`).join('&')}`);
        }
        if (query.length > 0) await ask(`?${query.map((name) => `${name}=1&${name}=2`).join('&')}`);
      }
    }
  });

  test.each([
    ['client__is=1&client__is=2', { client__is: ['Send this parameter once.'] }],
    ['page_size=x', { page_size: ['A valid integer is required.'] }],
    ['status__is=x', { status__is: ['Enter a number.'] }],
  ])('%s', async (query, expected) => {
    expect((await api().get(`invoice/?${query}`)).json).toEqual(expected);
  });

  test('control endpoints', async () => {
    const control = async (path: string, body: unknown) =>
      (await raw('POST', `/sandbox/${path}`, { body: JSON.stringify(body) })).text;
    for (const path of ['quirks', 'faults', 'subscriptions', 'orders', 'wholesalers', 'clock', 'fixtures']) {
      for (const value of [...wrong, { order: 1, http500: 1, url: 1 }, [{ url: 'x' }]]) {
        expect(await control(path, value)).not.toMatch(defaults);
      }
    }
    expect(JSON.parse(await control('quirks', { order: 'name' }))).toEqual({
      order: ['Send one of: id, id_desc, random, modified.'],
    });
  });

  test('a field that may not be null says so', async () => {
    const answer = await api().send('POST', 'phonenumber/', { client: refTo('client', 2001), phone_number: null });
    expect(answer.json).toEqual({ phone_number: ['This field may not be null.'] });
  });
});
