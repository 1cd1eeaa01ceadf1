// The header X-Sandbox-Fault, which sets a fault for one request.
import { describe, expect, test } from 'vitest';
import { type Controlled, start } from './support.ts';

/** The result of a request with the header, from the client's view. */
const outcome = async (url: string, fault: string | null, init: RequestInit = {}): Promise<string> => {
  const headers = {
    authorization: 'Bearer sandbox-token',
    ...(init.headers as Record<string, string>),
    ...(fault === null ? {} : { 'x-sandbox-fault': fault }),
  };
  const begin = performance.now();
  try {
    const answer = await fetch(url, { ...init, headers });
    const text = await answer.text();
    if (answer.headers.get('content-type')?.includes('html')) return `${answer.status} html`;
    JSON.parse(text);
    const retry = answer.headers.get('retry-after');
    const late = fault?.includes('timeoutMs') && performance.now() - begin >= 199 ? ' late' : '';
    return `${answer.status}${retry === null ? '' : ` after ${retry}`}${late}`;
  } catch (error) {
    return error instanceof SyntaxError ? 'half a JSON' : 'connection lost';
  }
};

const faults: [string, string][] = [
  ['http500', '500'],
  ['{"http500":{"when":"after"}}', '500'],
  ['http503Html', '503 html'],
  ['notJson', '200 html'],
  ['connectionReset', 'connection lost'],
  ['{"connectionReset":{"when":"after"}}', 'connection lost'],
  ['truncatedBody', 'connection lost'],
  ['{"truncatedBody":{"honestLength":true}}', 'half a JSON'],
  ['{"timeoutMs":{"ms":200}}', '200 late'],
  ['spurious429', '429 after 1'],
  ['{"spurious429":{"seconds":7}}', '429 after 7'],
  ['unauthorizedOnce', '401'],
  ['{"http500":{"count":1}}', '500'],
  ['{"http500":{"skip":1}}', '200'],
  ['{"http500":{"probability":0}}', '200'],
  ['{"http500":{"probability":1}}', '500'],
  ['{"http500":{"action":"client.list"}}', '200'],
  ['{"http500":null}', '200'],
  ['{}', '200'],
];

describe('it strikes the request that has it, and no other', () => {
  test.each(faults)('%s on the API: %s', async (fault, expected) => {
    const api = await start();
    const url = `${api.sandbox.url}/4711/api/0.1/invoice/`;
    expect([await outcome(url, fault), await outcome(url, null)]).toEqual([expected, '200']);
  });

  test.each(faults)('%s on the token endpoint: %s', async (fault, expected) => {
    const api = await start();
    const url = `${api.sandbox.url}/4711/oauth2/token/`;
    const asked = () => ({
      method: 'POST',
      headers: { authorization: `Basic ${btoa('sandbox-client:sandbox-secret')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    expect([await outcome(url, fault, asked()), await outcome(url, null, asked())]).toEqual([expected, '200']);
  });

  test('catalogUrl503', async () => {
    const api = await start();
    const token = { authorization: 'Bearer wholesaler-token', 'content-type': 'application/json' };
    const { json } = await api.send(
      'POST',
      'available_wholesaler/',
      {
        name: 'Tukku',
        webhook_callback_url: 'https://tukku.example/',
        verification_salt: 'salt-of-sixteen-characters',
      },
      token,
    );
    const wholesaler = await api.control('POST', 'wholesalers', { available_wholesaler: json.id });
    const ask = (headers = {}) =>
      api.send(
        'POST',
        `wholesaler/${wholesaler.json.id}/catalog_upload_url/`,
        { filename: 'a.csv', content_type: 'text/csv' },
        { ...token, ...headers },
      );
    expect((await ask({ 'x-sandbox-fault': 'catalogUrl503' })).status).toBe(503);
    expect((await ask()).status).toBe(200);
  });

  test('"after": it takes effect', async () => {
    const api = await start();
    const { id } = api.sandbox.clinic.takePrepayment({ payment_type: 7, paid: '50.00' });
    const body = { external_info: { external_id: 'x' } };
    const headers = { 'x-sandbox-fault': '{"connectionReset":{"when":"after"}}' };
    await expect(api.send('PATCH', `unallocatedpayment/${id}/`, body, headers)).rejects.toThrow();
    expect(api.sandbox.clinic.prepayments.get(id)?.external_info.external_id).toBe('x');
  });

  test('the faults of the installation pass it by, with their counts', async () => {
    const api = await start({ faults: { http500: { count: 2 }, notJson: { probability: 1 } } });
    const url = `${api.sandbox.url}/4711/api/0.1/invoice/`;
    expect(await outcome(url, '{}')).toBe('200');
    expect(await outcome(url, 'spurious429')).toBe('429 after 1');
    expect((await api.control('GET', 'faults')).json.http500).toEqual({ count: 2 });
    expect([await outcome(url, null), await outcome(url, null), await outcome(url, null)]).toEqual([
      ...['500', '500', '200 html'],
    ]);
  });

  test('a probability is drawn for each request, the same in each run', async () => {
    const run = async () => {
      const api = await start();
      const url = `${api.sandbox.url}/4711/api/0.1/invoice/`;
      const all: string[] = [];
      for (let n = 0; n < 30; n++) all.push(await outcome(url, '{"http500":{"probability":0.5}}'));
      return all;
    };
    const [one, again] = [await run(), await run()];
    expect(new Set(one)).toEqual(new Set(['200', '500']));
    expect(again).toEqual(one);
  });

  test('the journal has it', async () => {
    const api: Controlled = await start();
    await outcome(`${api.sandbox.url}/4711/oauth2/token/`, 'http500', { method: 'POST' });
    expect((await api.control('GET', 'requests')).json.requests).toMatchObject([{ faults: ['http500'], status: 500 }]);
  });
});

test.each([
  ['http501', 'Unrecognized key: "http501"'],
  ['', 'This is neither.'],
  ['http 500', 'This is neither.'],
  ['{"http500"', 'This is neither.'],
  ['[]', 'expected object'],
  ['"http500"', 'expected object'],
  ['{"http500":true}', 'at http500'],
  ['{"timeoutMs":{"ms":-1}}', 'at timeoutMs.ms'],
  ['{"timeoutMs":{"when":"after"}}', 'Unrecognized key: "when"'],
])('%j is refused, and changes nothing', async (fault, text) => {
  const api = await start();
  const before = api.sandbox.clinic.clients.size;
  const { status, json } = await api.send('POST', 'client/', { lastname: 'New' }, { 'x-sandbox-fault': fault });
  expect([status, Object.keys(json)]).toEqual([400, ['X-Sandbox-Fault']]);
  expect(json['X-Sandbox-Fault'][0]).toMatch(/^Send a fault \(http500, .*\), or JSON such as/);
  expect(json['X-Sandbox-Fault'][0]).toContain(text);
  expect(api.sandbox.clinic.clients.size).toBe(before);
});
