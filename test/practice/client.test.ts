import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { staticToken } from '../../src/practice/auth.ts';
import { createPracticeClient, type PracticeClient, type PracticeClientOptions } from '../../src/practice/client.ts';
import { createTransport } from '../../src/practice/transport.ts';
import { readVerbatim, stringifyJson } from '../../src/records/json.ts';
import { createLog } from '../../src/runtime/log.ts';
import { unusedPort } from '../embedded/support.ts';
import {
  emptyList,
  type FakeBudget,
  type FakeServer,
  type Handler,
  hastyClock,
  json,
  keptLog,
  roomyBudget,
  startServer,
} from '../support/practice-fakes.ts';

const secret = 'token-0123456789';
const timeouts = { connectMs: 500, responseMs: 300, requestMs: 600 };
const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

interface Setup {
  client: PracticeClient;
  server: FakeServer;
  budget: FakeBudget;
  log: ReturnType<typeof keptLog>;
  clock: ReturnType<typeof hastyClock>;
}

async function setup(handlers: Handler[], options: Partial<PracticeClientOptions> = {}): Promise<Setup> {
  const server = await startServer(...handlers);
  const budget = roomyBudget();
  const log = keptLog();
  const clock = hastyClock();
  const client = createPracticeClient({
    installation: 4711,
    baseUrl: server.url,
    auth: staticToken(secret),
    dialect: loadDialect(),
    budget,
    log,
    clock,
    random: () => 0.5,
    timeouts,
    ...options,
  });
  cleanups.push(() => client.close(), server.close);
  return { client, server, budget, log, clock };
}

/** A compressed body that unpacks to 30 MB of spaces. */
const unfolding = gzipSync(' '.repeat(30_000_000));

const page = (...records: string[]) => json(`{"count":${records.length},"results":[${records.join(',')}]}`);

describe('a list', () => {
  test('is requested at its address, with the token and the filters', async () => {
    const { client, server } = await setup([emptyList]);
    await client.list('invoice', { modified__gte: '2026-01-01T00:00:00+02:00', id__gt: '5' }, 100);
    const [request] = server.requests;
    expect(request!.method).toBe('GET');
    expect(request!.target).toBe(
      '/4711/api/0.1/invoice/?modified__gte=2026-01-01T00%3A00%3A00%2B02%3A00&id__gt=5&page_size=100',
    );
    expect(request!.headers.authorization).toBe(`Bearer ${secret}`);
    expect(request!.headers.accept).toBe('application/json');
  });

  test.each([
    ['rows carry their bare flag', 'row', {}, null, {}, '/invoicerow/?expose_invoicerow_vat_group'],
    [
      'also after filters',
      'row',
      { invoice__in: '1,2' },
      50,
      {},
      '/invoicerow/?invoice__in=1%2C2&page_size=50&expose_invoicerow_vat_group',
    ],
    ['unless told not to', 'row', {}, null, { expose: false }, '/invoicerow/'],
    ['a page', 'payment', {}, 1000, { page: 3 }, '/invoicepayment/?page_size=1000&page=3'],
    ['no more than the maximum', 'prepayment', {}, 5000, {}, '/unallocatedpayment/?page_size=1000'],
    ['any other list', 'accountnumber', {}, null, {}, '/accountnumber/'],
  ] as const)('%s', async (_, kind, filters, pageSize, options, target) => {
    const { client, server } = await setup([emptyList]);
    await client.list(kind, filters, pageSize, options);
    expect(server.requests[0]!.target).toBe(`/4711/api/0.1${target}`);
  });

  test('a base_url may have a path and a slash at its end', async () => {
    const server = await startServer(emptyList);
    const { client } = await setup([emptyList], { baseUrl: `${server.url}/proxy/` });
    cleanups.push(server.close);
    await client.list('invoice', {}, null);
    expect(server.requests[0]!.target).toBe('/proxy/4711/api/0.1/invoice/');
  });

  test('keeps the notation of numbers in values that are sent back, and only there', async () => {
    const info = '{"external_id":null,"till":3.50,"x":[1e2,-0.0,{"paid":2.0}]}';
    const { client } = await setup([page(`{"id":7,"paid":2.50,"external_info":${info}}`)]);
    const { results } = await client.list('prepayment', {}, null);
    expect(stringifyJson(results[0]!.value)).toBe(`{"id":7,"paid":2.5,"external_info":${info}}`);
  });

  test('returns each record with all its digits', async () => {
    const record = '{"id":7,"sum_total":-1.25,"price":1.5,"big":12345678901234567890.1,"name":"a\\u0000\\ud800"}';
    const { client } = await setup([page(record)]);
    const answer = await client.list('row', {}, null);
    expect(answer.count).toBe(1);
    expect(answer.results.map(({ id, value }) => ({ id, text: stringifyJson(value) }))).toEqual([
      { id: 7, text: record },
    ]);
  });

  test('returns unusable records separately, with their page and position', async () => {
    const url = '"https://clinic.example/4712/api/0.1/invoicepayment/9/"';
    const records = ['null', '{"id":3}', '{"name":"x"}', 'null', `{"id":9,"url":${url}}`, '{"id":5}', '{"id":-7}'];
    const { client } = await setup([page(...records)], { dialect: loadDialect({}, 4711) });
    const { results, unusable = [] } = await client.list('payment', { id__gt: '2' }, 100);
    expect(results.map(({ id }) => id)).toEqual([3, 5]);
    expect(unusable.map(({ code, position }) => [code, position])).toEqual([
      ['record_unusable', 1],
      ['record_unusable', 3],
      ['record_unusable', 4],
      ['foreign_record', 5],
      ['record_unusable', 7],
    ]);
    expect(new Set(unusable.map(({ key }) => key)).size).toBe(5);
    expect(unusable[0]).toMatchObject({ page: 'id__gt=2&page_size=100', why: 'it is null, not a record' });
    const { client: other } = await setup([page('{"id":1}', '{"name":"x"}')]);
    await expect(other.list('accountnumber', {}, null)).rejects.toMatchObject({ code: 'malformed_record' });
  });

  test.each([
    [null, 1],
    [50, 1],
    [1000, 20],
  ])('page size %s takes weight %i from its budget', async (pageSize, weight) => {
    const { client, budget } = await setup([emptyList]);
    const answer = await client.list('payment', {}, pageSize, { priority: 5 });
    expect(budget.takes).toEqual([{ action: 'invoicepayment.list', weight, priority: 5 }]);
    expect(budget.finished).toEqual(['answered']);
    expect(answer).toMatchObject({ weight, pageSizeAsked: pageSize });
  });

  test('an answer to a request without a page size shows the default page size', async () => {
    const { client } = await setup([json('{"count":9,"results":[{"id":1},{"id":2}]}')]);
    expect((await client.list('invoice', {}, 100)).weight).toBe(2);
    await client.list('invoice', {}, null);
    expect((await client.list('invoice', {}, 100)).weight).toBe(50);
    expect((await client.list('payment', {}, 100)).weight).toBe(2);
  });

  test('source time is the answer’s Date less the duration; a second more bounds it above', async () => {
    const date = 'Sat, 31 Jan 2026 22:30:00 GMT';
    const { client } = await setup([
      async (_, response) => {
        await new Promise((resolve) => setTimeout(resolve, 120));
        response.writeHead(200, { date });
        response.end('{"count":0,"results":[]}');
      },
    ]);
    const { sourceTime, sourceTimeAtMost, clock } = await client.list('invoice', {}, null);
    const lag = Date.parse(date) - sourceTime.getTime();
    expect(lag).toBeGreaterThanOrEqual(119);
    expect(lag).toBeLessThan(600);
    expect(sourceTimeAtMost.toISOString()).toBe('2026-01-31T22:30:01.000Z');
    expect(clock).toBe('server');
  });

  test('the times of a request are by the database’s clock: before it was sent, and after its answer arrived', async () => {
    const { client } = await setup([
      async (_, response) => {
        await new Promise((resolve) => setTimeout(resolve, 120));
        response.end('{"count":0,"results":[]}');
      },
    ]);
    const from = Date.now();
    const { askedAt, answeredAt } = await client.list('invoice', {}, null);
    expect(askedAt.getTime()).toBeGreaterThanOrEqual(from);
    expect(answeredAt.getTime() - askedAt.getTime()).toBeGreaterThanOrEqual(119);
    expect(answeredAt.getTime()).toBeLessThanOrEqual(Date.now() + 50);
  });

  test.each([
    ['in the second of the answer before', '22:30:00', '22:30:00', 0],
    ['in the second after it', '22:30:00', '22:30:01', 119],
    ['not by a clock that was set back', '22:30:00', '22:29:00', 119],
  ])('source time is no earlier than an answer that was here before: %s', async (_, first, second, atLeastMs) => {
    const at = (time: string): Handler => {
      return async (_, response) => {
        await new Promise((resolve) => setTimeout(resolve, 120));
        response.writeHead(200, { date: `Sat, 31 Jan 2026 ${time} GMT` });
        response.end('{"count":0,"results":[]}');
      };
    };
    const { client } = await setup([at(first), at(second)]);
    await client.list('invoice', {}, null);
    const { sourceTime } = await client.list('invoice', {}, null);
    const lag = Date.parse(`2026-01-31T${second}Z`) - sourceTime.getTime();
    expect(lag).toBeGreaterThanOrEqual(atLeastMs);
    expect(lag).toBeLessThanOrEqual(atLeastMs === 0 ? 0 : 600);
  });

  test.each([
    ['no Date', (response: Parameters<Handler>[1]) => response.removeHeader('date')],
    ['an unreadable Date', (response: Parameters<Handler>[1]) => response.setHeader('date', 'yesterday')],
  ])('%s: the database’s clock less five minutes, and said so', async (_, change) => {
    const { client } = await setup([
      (_, response) => {
        response.sendDate = false;
        change(response);
        response.end('{"count":0,"results":[]}');
      },
    ]);
    const before = Date.now();
    const { sourceTime, sourceTimeAtMost, clock } = await client.list('invoice', {}, null);
    expect(clock).toBe('unknown');
    expect(sourceTime.getTime()).toBeGreaterThanOrEqual(before - 300_005);
    expect(sourceTime.getTime()).toBeLessThanOrEqual(Date.now() - 300_000);
    expect(sourceTimeAtMost.getTime()).toBeGreaterThanOrEqual(sourceTime.getTime());
  });

  test('connections are kept', async () => {
    const { client, server } = await setup([emptyList]);
    for (let i = 0; i < 5; i++) await client.list('invoice', {}, null);
    expect(server.connections).toBe(1);
  });

  test('a compressed answer is read', async () => {
    const { client } = await setup([
      (_, response) => {
        response.setHeader('content-encoding', 'gzip');
        response.end(gzipSync('{"count":"0","results":[]}'));
      },
    ]);
    expect((await client.list('invoice', {}, null)).count).toBe(0);
  });
});

/** One row per kind of failure: the server's answers, the resulting error, and the number of requests. */
describe('errors', () => {
  const drop: Handler = (_, response) => {
    response.socket?.destroy();
  };
  const cases: [string, Handler, { code: string; requests: number; message: string; retryable: boolean }][] = [
    ['the connection broken off', drop, { code: 'unreachable', requests: 4, message: 'interrupted', retryable: true }],
    [
      'the body broken off',
      (_, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"count":1,');
        setTimeout(() => response.socket?.destroy(), 20);
      },
      { code: 'unreachable', requests: 4, message: 'interrupted', retryable: true },
    ],
    [
      'a chunked body broken off',
      (_, response) => {
        response.write('{"count":1,');
        setTimeout(() => response.socket?.destroy(), 20);
      },
      { code: 'unreachable', requests: 4, message: 'interrupted', retryable: true },
    ],
    ['no answer', () => {}, { code: 'timeout', requests: 4, message: 'no complete answer in time', retryable: true }],
    [
      'an answer that never ends',
      (_, response) => {
        const drip = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(drip));
      },
      { code: 'timeout', requests: 4, message: 'no complete answer in time', retryable: true },
    ],
    [
      '401',
      json('{"detail":"Invalid token."}', 401),
      { code: 'unauthorized', requests: 1, message: 'not accepted (401)', retryable: false },
    ],
    [
      '403',
      json('{"detail":"Not for you."}', 403),
      { code: 'forbidden', requests: 1, message: 'not allowed (403)', retryable: false },
    ],
    ['404', json('{"detail":"Not found."}', 404), { code: 'not_found', requests: 1, message: '404', retryable: false }],
    ['429', json('{}', 429), { code: 'throttled', requests: 8, message: '429', retryable: true }],
    [
      '400 with the names in it',
      json('{"invoice_date__gte":["Enter a valid date."],"non_field_errors":["Both."]}', 400),
      {
        code: 'refused',
        requests: 1,
        message: 'refused (400): field invoice_date__gte',
        retryable: false,
      },
    ],
    ['500', json('<h1>oops</h1>', 500), { code: 'server_error', requests: 4, message: '(500)', retryable: true }],
    ['503', json('{}', 503), { code: 'server_error', requests: 4, message: '(503)', retryable: true }],
    [
      '301',
      json('', 301, { location: '/elsewhere/' }),
      { code: 'redirected', requests: 1, message: 'redirect (301)', retryable: false },
    ],
    ['a page of HTML', json('<html>'), { code: 'not_json', requests: 4, message: 'not JSON', retryable: true }],
    ['nothing', json(''), { code: 'not_json', requests: 4, message: 'not JSON', retryable: true }],
    ['half of it', json('{"count":1,"res'), { code: 'not_json', requests: 4, message: 'incomplete', retryable: true }],
    [
      'JSON of another shape',
      json('{"detail":"hello"}'),
      { code: 'malformed_response', requests: 1, message: 'is not a list', retryable: false },
    ],
    [
      'an answer beyond all bounds',
      json(`{"count":0,"results":[],"x":"${'x'.repeat(3_000_000)}"}`),
      { code: 'answer_too_large', requests: 4, message: 'larger than 1 MB', retryable: false },
    ],
    [
      'one that unfolds beyond all bounds',
      (_, response) => {
        response.setHeader('content-encoding', 'gzip');
        response.end(unfolding);
      },
      { code: 'answer_too_large', requests: 4, message: 'larger than 1 MB', retryable: false },
    ],
  ];

  test.each(cases)('%s', async (_, handler, expected) => {
    const clock = hastyClock();
    const transport = createTransport({ timeouts, clock, maxBytes: 1024 * 1024 });
    const { client, server, budget, log } = await setup([handler], { transport });
    const error = await client.list('invoice', { client__is: '31415' }, null).then(
      () => null,
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(PracticeError);
    const { code, message, todo, retryable } = error as PracticeError;
    expect({ code, retryable }).toEqual({ code: expected.code, retryable: expected.retryable });
    expect(message).toContain(expected.message);
    expect(todo).not.toBe('');
    expect(server.requests).toHaveLength(expected.requests);
    expect(budget.takes).toHaveLength(expected.requests);
    expect(client.counters().requests).toBe(expected.requests);
    if (!code.startsWith('malformed')) expect(message).toContain('GET /4711/api/0.1/invoice/: ');
    const told = JSON.stringify([error, message, (error as Error).stack, log.lines]);
    expect(told).not.toContain(secret);
    expect(told).not.toContain('31415');
  });

  test('without a server, nothing was sent, so the slot is free again', async () => {
    const gone = await startServer(emptyList);
    await gone.close();
    const { client, budget } = await setup([emptyList], { baseUrl: gone.url });
    await expect(client.list('invoice', {}, null)).rejects.toMatchObject({ code: 'unreachable', retryable: true });
    expect(budget.finished).toEqual(['notSent', 'notSent', 'notSent', 'notSent']);
  });

  test('the slot of an unanswered request expires later', async () => {
    const { client, budget } = await setup([() => {}, emptyList]);
    await client.list('invoice', {}, null);
    expect(budget.finished).toEqual(['answered']);
    expect(budget.takes).toHaveLength(2);
  });
});

describe('trying again', () => {
  test('pauses double, and the reasons are counted', async () => {
    const { client, clock } = await setup([json('', 500), json('', 502), json('<html>'), emptyList]);
    await client.list('invoice', {}, null);
    expect(clock.pauses).toEqual([375, 750, 1500]);
    expect(client.counters()).toMatchObject({ requests: 4, retries: { server_error: 2, not_json: 1 } });
  });

  test('a short Retry-After of a 503 is followed; a long one is left to the caller', async () => {
    const short = await setup([json('', 503, { 'retry-after': '7' }), emptyList]);
    await short.client.list('invoice', {}, null);
    expect(short.clock.pauses).toEqual([7000]);
    const long = await setup([json('', 503, { 'retry-after': '3600' })]);
    await expect(long.client.list('invoice', {}, null)).rejects.toMatchObject({ retryAfterMs: 900_000 });
    expect(long.server.requests).toHaveLength(1);
  });

  test.each([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['a fraction', { 'retry-after': '0.5' }, 500],
    ['a date, by the server’s own clock', { 'retry-after': 'Sat, 31 Jan 2026 22:30:09 GMT' }, 9000],
    ['a date in the past', { 'retry-after': 'Sat, 31 Jan 2026 22:00:00 GMT' }, 1000],
    ['0', { 'retry-after': '0' }, 1000],
    ['nonsense', { 'retry-after': 'soon' }, 1000],
    ['missing', {}, 1000],
    ['absurd', { 'retry-after': '99999999999' }, 900_000],
  ])('Retry-After of a 429 as %s goes to the budget', async (_, headers, ms) => {
    const date = 'Sat, 31 Jan 2026 22:30:00 GMT';
    const { client, budget, clock } = await setup([json('', 429, { ...headers, date }), emptyList]);
    await client.list('invoice', {}, null);
    expect(budget.throttled).toEqual([ms]);
    // The rate budget makes the pause, for all requests.
    expect(clock.pauses).toEqual([]);
    expect(client.counters()).toMatchObject({ requests: 2, throttled: 1 });
  });

  test('a 401 is tried once more with a renewed token', async () => {
    let token = 'old';
    const auth = {
      token: async () => token,
      renew: async () => {
        token = 'new';
        return true;
      },
    };
    const { client, server, budget } = await setup([json('', 401), emptyList], { auth });
    await client.list('invoice', {}, null);
    expect(server.requests.map((request) => request.headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
    expect(budget.takes).toHaveLength(2);
    const stubborn = await setup([json('', 401)], { auth });
    await expect(stubborn.client.list('invoice', {}, null)).rejects.toMatchObject({ code: 'unauthorized' });
    expect(stubborn.server.requests).toHaveLength(2);
  });

  test('a signal ends a request under way', async () => {
    const stop = new AbortController();
    const { client, server } = await setup([() => {}], { signal: stop.signal });
    const asking = client.list('invoice', {}, null);
    await expect.poll(() => server.requests.length).toBe(1);
    stop.abort(new Error('the window is over'));
    await expect(asking).rejects.toThrow('the window is over');
  });

  test('a signal that aborts when the slot is granted frees the slot, since nothing was sent', async () => {
    const stop = new AbortController();
    const budget = roomyBudget();
    const take: FakeBudget['take'] = async (...request) => {
      const slot = await budget.take(...request);
      stop.abort(new Error('the window is over'));
      return slot;
    };
    const { client, server } = await setup([emptyList], { signal: stop.signal, budget: { ...budget, take } });
    await expect(client.list('invoice', {}, null)).rejects.toThrow('the window is over');
    expect(budget.finished).toEqual(['notSent']);
    expect(server.requests).toEqual([]);
  });
});

describe('counters', () => {
  test('counts are kept by action, and for each window separately', async () => {
    const { client } = await setup([emptyList]);
    const waits: [number, string][] = [];
    const window = client.forWindow({ onWait: (ms, action) => waits.push([ms, action]) });
    await client.list('invoice', {}, null);
    await window.list('row', {}, 100);
    expect(window.counters()).toMatchObject({
      requests: 1,
      weight: 2,
      byAction: { 'invoicerow.list': { requests: 1 } },
    });
    expect(client.counters()).toMatchObject({ requests: 2, weight: 3, throttled: 0 });
    expect(client.forWindow().counters().requests).toBe(0);
  });

  test('waiting times are counted', async () => {
    const budget = roomyBudget(250);
    const waits: [number, string][] = [];
    const { client } = await setup([emptyList], { budget, onWait: (ms, action) => waits.push([ms, action]) });
    await client.list('invoice', {}, null);
    await client.list('invoice', {}, null);
    expect(client.counters()).toMatchObject({ waitedMs: 500, byAction: { 'invoice.list': { waitedMs: 500 } } });
    expect(waits).toEqual([
      [250, 'invoice.list'],
      [250, 'invoice.list'],
    ]);
  });

  test('a client with a longer time-out than its budget is refused', () => {
    const budget = { ...roomyBudget(), requestTimeoutSeconds: 0.1 };
    expect(() =>
      createPracticeClient({
        installation: 1,
        baseUrl: 'http://127.0.0.1:1',
        auth: staticToken('x'),
        dialect: loadDialect(),
        budget,
        log: keptLog(),
        clock: hastyClock(),
        timeouts,
      }),
    ).toThrow(RangeError);
  });
});

describe('writing the external id', () => {
  const prepayment = readVerbatim(
    '{"id":9,"paid":"1.00","external_info":{"external_id":null,"till":3.50,"seen":[-0,1e2,12345678901234567890.10,9007199254740993],"x":{"y":[1]}}}',
  );
  const toWrite = { kind: 'prepayment' as const, record: prepayment, externalId: 'E-1' };

  test('sends all existing keys, and returns the new record', async () => {
    const answer =
      '{"id":9,"paid":"1.00","external_info":{"external_id":"E-1","till":3.50,"seen":[-0,1e2,12345678901234567890.10,9007199254740993],"x":{"y":[1]}}}';
    const { client, server, budget } = await setup([json(answer)]);
    const record = await client.writeExternalId(toWrite);
    expect(record).toMatchObject({ id: 9, value: readVerbatim(answer) });
    const [request] = server.requests;
    expect(request).toMatchObject({
      method: 'PATCH',
      target: '/4711/api/0.1/unallocatedpayment/9/',
      body: '{"external_info":{"external_id":"E-1","till":3.50,"seen":[-0,1e2,12345678901234567890.10,9007199254740993],"x":{"y":[1]}}}',
    });
    expect(request!.headers['content-type']).toBe('application/json');
    expect(budget.takes).toEqual([{ action: 'unallocatedpayment.write', weight: 1, priority: 1 }]);
  });

  test.each([
    ['an empty answer', json('', 204), null],
    ['an answer that is no record', json('{"status":"ok"}'), null],
  ])('%s gives none', async (_, handler, record) => {
    const { client } = await setup([handler]);
    expect(await client.writeExternalId(toWrite)).toBe(record);
  });

  test('is not repeated if it may have taken effect: the caller reads the record first', async () => {
    const { client, server } = await setup([json('', 500), json('', 204)]);
    await expect(client.writeExternalId(toWrite)).rejects.toMatchObject({ code: 'server_error' });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['one that keeps another id', '{"id":9,"external_info":{"external_id":"E-0"}}', 'refused'],
    ['one that keeps none', '{"id":9,"external_info":{}}', 'refused'],
    ['another prepayment', '{"id":8,"external_info":{"external_id":"E-1"}}', 'malformed_response'],
  ])('%s is no success', async (_, answer, code) => {
    const { client } = await setup([json(answer)]);
    await expect(client.writeExternalId(toWrite)).rejects.toMatchObject({ code });
  });

  describe('as a sub-resource', () => {
    const dialect = loadDialect({ external_info: { mode: 'subresource' } });
    const path = '/4711/api/0.1/unallocatedpayment/9/external_info/';

    test.each([
      ['an empty list', '{"count":0,"results":[]}'],
      ['a bare empty list', '[]'],
    ])('%s: it is created, once', async (_, answer) => {
      const { client, server } = await setup([json(answer), json('{"id":3}', 201)], { dialect });
      await client.writeExternalId(toWrite);
      expect(server.requests.map(({ method, target, body }) => [method, target, body])).toEqual([
        ['GET', path, ''],
        ['POST', path, '{"external_id":"E-1"}'],
      ]);
    });

    test.each([
      [
        'a list',
        '{"count":1,"results":[{"id":3,"url":"https://x/3/","external_id":"E-0","till":3.50,"seen":[-0,1e2,12345678901234567890.10,9007199254740993]}]}',
      ],
      [
        'a bare list',
        '[{"id":3,"url":"https://x/3/","external_id":"E-0","till":3.50,"seen":[-0,1e2,12345678901234567890.10,9007199254740993]}]',
      ],
      [
        'an object',
        '{"id":3,"url":"https://x/3/","external_id":"E-0","till":3.50,"seen":[-0,1e2,12345678901234567890.10,9007199254740993]}',
      ],
    ])('%s: it is changed, its other keys kept', async (_, answer) => {
      const { client, server } = await setup([json(answer), json('{}')], { dialect });
      await client.writeExternalId(toWrite);
      expect(server.requests.map(({ method, target, body }) => [method, target, body])).toEqual([
        ['GET', path, ''],
        [
          'PATCH',
          `${path}3/`,
          '{"external_id":"E-1","till":3.50,"seen":[-0,1e2,12345678901234567890.10,9007199254740993]}',
        ],
      ]);
    });

    test('a POST is never repeated', async () => {
      for (const failure of [json('', 500), json('', 429), json('', 401), json('<html>', 201)]) {
        const { client, server } = await setup([json('[]'), failure], { dialect });
        await expect(client.writeExternalId(toWrite)).rejects.toBeInstanceOf(PracticeError);
        expect(server.requests).toHaveLength(2);
      }
    });
  });
});

describe('a department’s lock date', () => {
  test.each([
    ['a date', json('{"financial_period_lock_date":"2026-01-31"}'), { lockDate: '2026-01-31' }],
    ['null', json('{"financial_period_lock_date":null}'), { lockDate: null }],
    ['absent', json('{"x":1}'), 'unknown'],
    ['no date', json('{"financial_period_lock_date":"soon"}'), 'unknown'],
    ['403', json('{}', 403), 'unknown'],
    ['404', json('{}', 404), 'unknown'],
    ['500 every time', json('', 500), 'unknown'],
  ])('%s', async (_, handler, expected) => {
    const { client, server, budget } = await setup([handler]);
    expect(await client.departmentSettings(12)).toEqual(expected);
    expect(server.requests[0]!.target).toBe('/4711/api/0.1/settings/department/12/');
    expect(budget.takes[0]!.action).toBe('settings_department.retrieve');
  });

  test('a failure is logged, a refused token is an error', async () => {
    const forbidden = await setup([json('{}', 403)]);
    await forbidden.client.departmentSettings(12);
    expect(forbidden.log.lines.join()).toContain('its lock date remains unknown');
    const unauthorized = await setup([json('{}', 401)]);
    await expect(unauthorized.client.departmentSettings(12)).rejects.toMatchObject({ code: 'unauthorized' });
  });
});

describe('a request in the log', () => {
  const lineOf = (line: string) => JSON.parse(line.slice(0, line.lastIndexOf('}') + 1)) as Record<string, unknown>;
  const answered =
    (status: number, id: string): Handler =>
    (_request, response) => {
      response.writeHead(status, { 'x-request-id': id, 'content-type': 'application/json' });
      response.end('{}');
    };

  test('has one id in all its lines, its attempts and its failure, with that of the server for each answer', async () => {
    const { client, log } = await setup([answered(500, 'server-1'), answered(503, `server-${'2'.repeat(200)}`)]);
    const error = await client.list('invoice', {}, null).catch((one: unknown) => one);
    const lines = log.lines.map((line) => ({ fields: lineOf(line), text: line }));
    const first = lines[0]!.fields;
    expect(first.request).toMatch(/^[0-9a-f]{8}$/);
    expect(new Set(lines.map(({ fields }) => fields.request))).toEqual(new Set([first.request]));
    const told = lines.filter(({ text }) => /trying again|given up/.test(text));
    const long = `server-${'2'.repeat(57)}`;
    expect(told.map(({ fields }) => fields.server_request)).toEqual(['server-1', long, long, long]);
    expect(told.at(-1)?.text).toContain('given up');
    expect((error as PracticeError).requestIds).toEqual({ request: first.request, server_request: long });
    const printed: string[] = [];
    createLog('info', { write: (line) => printed.push(line) }).error({ err: error }, 'it failed');
    expect(JSON.parse(printed[0]!).err).toMatchObject({ request: first.request, server_request: long });

    await client.list('payment', {}, null).catch(() => undefined);
    expect(lineOf(log.lines.at(-1)!).request).not.toBe(first.request);
  });

  test('without an answer it has ours', async () => {
    const { client, log } = await setup([], { baseUrl: `http://127.0.0.1:${await unusedPort()}` });
    await client.list('invoice', {}, null).catch(() => undefined);
    const lines = log.lines.map(lineOf);
    expect(lines).toHaveLength(4);
    for (const { request, server_request: id } of lines) expect([request, id]).toEqual([lines[0]?.request, undefined]);
  });
});
