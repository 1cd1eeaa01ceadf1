import { request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import { type Receiver, startReceiver } from '../../src/http/webhooks.ts';

const secret = 'a-secret.of_the-test1';
let elapsed = 0;
const clock: Clock = { now: () => elapsed, elapsed: () => elapsed, sleep: async () => {} };

let receiver: Receiver;
let nudged: number[];
let reports: number[];

const start = (port = 0) =>
  startReceiver({
    host: '127.0.0.1',
    port,
    secret,
    installations: [4711, 4712],
    nudge: (installation) => void nudged.push(installation),
    clock,
    refused: (count) => void reports.push(count),
  });

beforeEach(async () => {
  elapsed = 0;
  nudged = [];
  reports = [];
  receiver = await start();
});

afterEach(() => receiver.close());

interface Call {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Sends one request with Node's client, which changes neither path nor headers. */
function call({ method = 'POST', path = `/4711/${secret}`, headers = {}, body = '' }: Call = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
    const { port } = new URL(receiver.url);
    const sent = request(
      { port, method, path: `/webhooks${path}`, headers: { 'content-length': Buffer.byteLength(body), ...headers } },
      async (answer) => {
        let text = '';
        for await (const chunk of answer) text += chunk;
        resolve({ status: answer.statusCode!, headers: answer.headers, text });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

test.each<[string, Call]>([
  ['JSON', { headers: json, body: '{"invoice_id": 11}' }],
  ['a form', { headers: form, body: 'invoicepayment_id=12' }],
  ['a prepayment as a form with a charset', { headers: { 'content-type': `${form['content-type']}; charset=utf-8` } }],
  ['no body', {}],
  ['a body without a type', { body: 'unallocatedpayment_id=3' }],
  ['JSON that is none', { headers: json, body: '{"invoice_id": ' }],
  ['a type that is none', { headers: { 'content-type': ';;=' }, body: 'x' }],
  ['a body that would be dangerous as data', { headers: json, body: '{"__proto__": {"invoice_id": 1}, "total": "9"}' }],
  ['a slash at the end', { path: `/4711/${secret}/` }],
  ['a query', { path: `/4711/${secret}?invoice_id=4` }],
  ['the secret as a bearer token', { path: '/4711', headers: { authorization: `Bearer ${secret}` } }],
  ['the largest body', { headers: form, body: 'x'.repeat(16 * 1024) }],
])('%s is answered with 200 and nudges', async (_what, sent) => {
  expect(await call(sent)).toMatchObject({ status: 200, text: '{"ok":true}' });
  expect(nudged).toEqual([4711]);
});

test('each webhook nudges the installation of its address', async () => {
  await call();
  await call({ path: `/4712/${secret}` });
  await call();
  expect(nudged).toEqual([4711, 4712, 4711]);
});

test.each<[string, number, Call]>([
  ['a wrong secret', 404, { path: '/4711/a-secret.of_the-test2' }],
  ['part of the secret', 404, { path: `/4711/${secret.slice(0, -1)}` }],
  ['no secret', 404, { path: '/4711' }],
  ['an empty secret', 404, { path: '/4711//' }],
  ['a wrong bearer token', 404, { path: '/4711', headers: { authorization: 'Bearer wrong' } }],
  ['a right bearer token and a wrong path', 404, { path: '/4711/x', headers: { authorization: `Bearer ${secret}` } }],
  ['an unknown installation', 404, { path: `/4713/${secret}` }],
  ['no installation', 404, { path: `/x/${secret}` }],
  ['an installation that would round to a known one', 404, { path: `/4711.0/${secret}` }],
  ['another path', 404, { path: `/../4711/${secret}` }],
  ['more path', 404, { path: `/4711/${secret}/more` }],
  ['a path that cannot be decoded', 404, { path: '/4711/%zz' }],
  ['a wrong secret with a large body', 404, { path: '/4711/wrong', body: 'x'.repeat(100_000) }],
  ['a large body', 413, { body: 'x'.repeat(16 * 1024 + 1) }],
  ['GET', 405, { method: 'GET' }],
  ['HEAD', 405, { method: 'HEAD' }],
  ['PUT', 405, { method: 'PUT' }],
  ['GET with a wrong secret', 405, { method: 'GET', path: '/4711/wrong' }],
  ['headers without end', 431, { headers: { 'x-long': 'x'.repeat(10_000) } }],
])('%s is refused with %i and nudges nothing', async (_what, status, sent) => {
  const answer = await call(sent);
  expect(answer.status).toBe(status);
  expect(nudged).toEqual([]);
  expect(answer.text).not.toContain(secret.slice(0, 8));
  expect(answer.text).not.toContain('/webhooks');
});

test('a wrong secret and an unknown installation are the same answer', async () => {
  const { date: _, ...wrong } = (await call({ path: '/4711/wrong' })).headers;
  const { date: __, ...unknown } = (await call({ path: `/4799/${secret}` })).headers;
  expect(unknown).toEqual(wrong);
});

test('a sender of wrong secrets gets 429; the right secret from the same address does not', async () => {
  const statuses: number[] = [];
  for (let i = 0; i < 12; i++) statuses.push((await call({ path: `/4711/wrong-${i}` })).status);
  expect(statuses).toEqual([...Array<number>(10).fill(404), 429, 429]);
  const slower = await call({ path: '/4711/wrong' });
  expect(slower.headers['retry-after']).toBe('6');
  expect((await call()).status).toBe(200);
  elapsed = 6_000;
  expect((await call({ path: '/4711/wrong' })).status).toBe(404);
  expect((await call({ path: '/4711/wrong' })).status).toBe(429);
});

test('the number of refused requests is reported once a minute', async () => {
  for (let i = 0; i < 3; i++) await call({ path: '/4711/wrong' });
  expect(reports).toEqual([1]);
  elapsed = 60_000;
  await call({ path: '/4711/wrong' });
  expect(reports).toEqual([1, 3]);
});

describe('connections', () => {
  const open: Socket[] = [];
  const dial = async (text: string) => {
    const socket = connect(Number(new URL(receiver.url).port), '127.0.0.1');
    open.push(socket);
    let said = '';
    socket.on('data', (chunk) => {
      said += chunk;
    });
    socket.on('error', () => undefined);
    const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(said)));
    socket.write(text);
    return closed;
  };
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
  });

  /** A client that sends its headers slowly byte by byte. `closed` gets its address when it is closed. */
  const slow = (from: string, closed: string[] = []) =>
    new Promise<void>((resolve) => {
      const port = Number(new URL(receiver.url).port);
      const socket = connect({ port, host: '127.0.0.1', localAddress: from }, resolve);
      open.push(socket);
      socket.write('POST /webhooks/4711/x HTTP/1.1\r\nx-slow: ');
      const drip = setInterval(() => socket.write('x'), 200);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearInterval(drip);
        closed.push(from);
      });
    });

  test.each([
    ['another address', (n: number) => `127.0.0.${2 + (n % 2)}`],
    ['many addresses', (n: number) => `127.0.1.${1 + n}`],
    ['its own, as behind a proxy', () => '127.0.0.1'],
  ])('120 slow strangers from %s do not keep a right webhook out', async (_, address) => {
    const closed = Array.from({ length: 120 }, (_, n) => address(n));
    for (let n = 0; n < 20; n++) {
      // Those that were closed come back.
      await Promise.all(closed.splice(0).map((from) => slow(from, closed)));
      expect((await call()).status).toBe(200);
    }
    expect(nudged.length).toBeGreaterThanOrEqual(20);
  });

  test('a client with many connections does not affect other addresses', async () => {
    const kept = connect({ port: Number(new URL(receiver.url).port), host: '127.0.0.1', localAddress: '127.0.0.9' });
    open.push(kept);
    const said = new Promise<string>((resolve) => kept.once('data', (chunk) => resolve(String(chunk))));
    kept.write(`POST /webhooks/4711/${secret} HTTP/1.1\r\nhost: a\r\n`);
    await Promise.all(Array.from({ length: 150 }, () => slow('127.0.0.2')));
    kept.write('content-length: 0\r\n\r\n');
    expect(await said).toContain('200 OK');
  });

  test('one that never ends its headers, or its body, is ended', { timeout: 20_000 }, async () => {
    const started = performance.now();
    const unfinished = [
      dial('POST /webhooks/4711/x HTTP/1.1\r\nhost: a\r\n'),
      dial(`POST /webhooks/4711/${secret} HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\ninvoice_id`),
    ];
    for (const said of await Promise.all(unfinished)) expect(said).not.toContain('200 OK');
    expect(performance.now() - started).toBeLessThan(8_000);
    expect(nudged).toEqual([]);
    expect((await call()).status).toBe(200);
  });

  test('an address has fifty, and all together have 250; the oldest are closed', async () => {
    const closed: number[] = [];
    const many = async (count: number, from: number) => {
      for (let n = 0; n < count; n++) {
        const number = from + n;
        const socket = connect({
          ...{ port: Number(new URL(receiver.url).port), host: '127.0.0.1' },
          localAddress: from === 0 ? '127.0.0.1' : `127.0.2.${1 + (n % 200)}`,
        });
        open.push(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => closed.push(number));
        await new Promise((resolve) => socket.once('connect', resolve));
      }
      await sleep(300);
    };
    await many(80, 0);
    expect(closed.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, n) => n));
    await many(210, 1_000);
    expect(closed.length).toBe(30 + 10);
    // Only connections of the address with the most are closed.
    expect(closed.every((number) => number < 1_000)).toBe(true);
  });
});

test('an address that another process uses is an error with exit code 3', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  await expect(start(port)).rejects.toMatchObject({
    code: 'webhooks_cannot_listen',
    exitCode: 3,
    message: `Webhooks cannot be received: 127.0.0.1:${port} is used by another process.`,
  });
  other.close();
});
