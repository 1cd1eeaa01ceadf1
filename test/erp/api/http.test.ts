import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Money } from '../../../src/domain/money.ts';
import { asAmount, FormError, toAmount } from '../../../src/erp/targets/api/form.ts';
import { ErpHttp } from '../../../src/erp/targets/api/http.ts';
import { LimitsLeft } from '../../../src/erp/targets/api/limits-left.ts';
import { readJson, stringifyJson } from '../../../src/records/json.ts';

const received: { verb?: string; url?: string; type?: string; body: string }[] = [];
let answered: { headers?: Record<string, string>; body: string | Uint8Array } = { body: '{}' };
const server = createServer(async (message: IncomingMessage, response) => {
  let body = '';
  for await (const chunk of message) body += Buffer.from(chunk).toString('latin1');
  const { method: verb, url, headers } = message;
  received.push({
    ...(verb && { verb }),
    ...(url && { url }),
    ...(headers['content-type'] && { type: headers['content-type'] }),
    body,
  });
  response.writeHead(200, { 'x-daylimit-remaining': '17', ...answered.headers }).end(answered.body);
});
let http: ErpHttp;
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  http = new ErpHttp({ url, timeoutSeconds: 5 }, 'ERP', { debug() {}, info() {}, warn() {} });
});
afterAll(() => {
  http.close();
  server.close();
});

describe('a request to an ERP', () => {
  const { signal } = new AbortController();
  const json = 'application/json';
  test.each([
    [
      { verb: 'GET', path: '/r', query: { from: '2026-01-01', name: 'a&b ä' }, body: '' },
      { verb: 'GET', url: '/api/r?from=2026-01-01&name=a%26b+%C3%A4', body: '' },
    ],
    [
      { verb: 'PUT', path: '/r/1/approve', body: '' },
      { verb: 'PUT', url: '/api/r/1/approve', body: '' },
    ],
    [
      { verb: 'DELETE', path: '/r/1', body: '' },
      { verb: 'DELETE', url: '/api/r/1', body: '' },
    ],
    [
      { path: '/r', body: '{"a":1.10}' },
      { verb: 'POST', url: '/api/r', type: json, body: '{"a":1.10}' },
    ],
    [
      { path: '/token', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=b' },
      { verb: 'POST', url: '/api/token', type: 'application/x-www-form-urlencoded', body: 'a=b' },
    ],
  ] as const)('%j', async (sent, expected) => {
    received.length = 0;
    const { headers } = await http.send({ headers: {}, method: 'test', ...sent }, { signal });
    expect(received).toEqual([expected]);
    expect(headers?.['x-daylimit-remaining']).toBe('17');
  });

  test('has headers that state what is left of a limit, once for each answer', async () => {
    const limits = [
      { per_seconds: 60, n: 60, weight: 1, left_header: 'X-MinLimit-Remaining' },
      { per_seconds: 86_400, n: 5_000, weight: 1, left_header: 'X-DayLimit-Remaining' },
      { per_seconds: 5, n: 25, weight: 1 },
    ];
    const left = new LimitsLeft({ in_flight_per_company: 1, limits, errors_allowed: null });
    left.note(await http.send({ headers: {}, method: 'test', path: '/r', body: '' }, { signal }));
    expect(left.take()).toEqual([{ perSeconds: 86_400, left: 17 }]);
    expect(left.take()).toEqual([]);
    left.note({ headers: { 'x-daylimit-remaining': '-1', 'x-minlimit-remaining': ['3', '4'] } });
    expect(left.take()).toEqual([]);
  });
});

describe('the encoding', () => {
  const { signal } = new AbortController();
  const get = { verb: 'GET', path: '/r', headers: {}, body: '', method: 'test' } as const;

  test('of a body is the one that the request names', async () => {
    received.length = 0;
    const headers = { 'content-type': 'text/xml' };
    const sent = { path: '/r', headers, body: '<a>Hyvää €</a>', encoding: 'iso-8859-15', method: 'test' } as const;
    await http.send(sent, { signal });
    expect(received).toMatchObject([{ type: 'text/xml', body: '<a>Hyv\xe4\xe4 \xa4</a>' }]);
  });

  test('of an address with a query is as it was given', async () => {
    received.length = 0;
    await http.send({ ...get, path: '/r?ids=1,2' }, { signal });
    expect(received).toMatchObject([{ url: '/api/r?ids=1,2' }]);
  });

  const euro = Uint8Array.of(0xa4);
  const declared = (name: string) => Buffer.concat([Buffer.from(`<?xml version="1.0" encoding="${name}"?>`), euro]);
  test.each([
    ['a header', { 'content-type': 'text/xml; charset=ISO-8859-15' }, euro, '€'],
    ['an XML declaration', {}, declared('iso-8859-15'), '€'],
    ['a header before a declaration', { 'content-type': 'text/xml; charset="latin1"' }, declared('iso-8859-15'), '¤'],
    ['neither', {}, Buffer.from('€'), '€'],
    ['an unknown name', { 'content-type': 'text/xml; charset=ebcdic-37' }, Buffer.from('€'), '€'],
  ])('of an answer is in %s', async (_, headers, body, text) => {
    answered = { headers, body };
    expect((await http.send(get, { signal })).text.at(-1)).toBe(text);
  });
});

describe('an amount as a JSON number', () => {
  test.each([
    ['1.1', '1.10'],
    ['-0.05', '-0.05'],
    ['100', '100.00'],
    ['12345678901234567890.12', '12345678901234567890.12'],
    ['0.005', '0.005'],
  ])('%s is written with all its digits, %s, and read again', (amount, written) => {
    const text = stringifyJson({ amount: toAmount(new Money(amount), 2) });
    expect(text).toBe(`{"amount":${written}}`);
    const { amount: read } = readJson(text) as { amount: unknown };
    expect(asAmount(read).toFixed()).toBe(amount);
  });

  test.each(['1.10', null, true, {}])('%j is none', (value) => expect(() => asAmount(value)).toThrow(FormError));
});
