import { afterEach, describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { type Auth, clientCredentials, staticToken } from '../../src/practice/auth.ts';
import { createTransport } from '../../src/practice/transport.ts';
import { type Handler, hastyClock, json, keptLog, startServer } from '../support/practice-fakes.ts';

const secret = 's3cret/+%';
const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function setup(...handlers: Handler[]) {
  const server = await startServer(...handlers);
  const clock = { ...hastyClock(), at: 0, elapsed: () => clock.at };
  const transport = createTransport({ timeouts: { connectMs: 500, responseMs: 300, requestMs: 600 }, clock });
  const log = keptLog();
  const auth = clientCredentials({
    log,
    baseUrl: `${server.url}/`,
    installation: 4711,
    clientId: 'vet ledger',
    clientSecret: secret,
    dialect: loadDialect(),
    transport,
    clock,
    random: () => 0.5,
  });
  cleanups.push(transport.close, server.close);
  return { auth, server, clock, log };
}

/** A token endpoint that issues t1, t2, … */
function issuing(life: string): Handler {
  let issued = 0;
  return (seen, response) => json(`{"access_token":"t${++issued}","token_type":"Bearer"${life}}`)(seen, response);
}

const tenHours = ',"expires_in":36000';

test('a fixed token never changes', async () => {
  const auth = staticToken('fixed');
  expect(await auth.token()).toBe('fixed');
  expect(await auth.renew('fixed')).toBe(false);
});

describe('client credentials', () => {
  test('are sent form-encoded, with Basic authentication', async () => {
    const { auth, server } = await setup(issuing(tenHours));
    expect(await auth.token()).toBe('t1');
    const [request] = server.requests;
    expect(request).toMatchObject({
      method: 'POST',
      target: '/4711/oauth2/token/',
      body: 'grant_type=client_credentials',
    });
    expect(request!.headers['content-type']).toBe('application/x-www-form-urlencoded');
    const [scheme, encoded] = request!.headers.authorization!.split(' ');
    expect(scheme).toBe('Basic');
    expect(Buffer.from(encoded!, 'base64').toString().split(':').map(decodeURIComponent)).toEqual([
      'vet ledger',
      secret,
    ]);
  });

  test.each([
    ['until shortly before it expires', tenHours, 35_939, 1],
    ['not up to the last moment', tenHours, 35_941, 2],
    ['a short life is used for nine tenths', ',"expires_in":"10"', 8.9, 1],
    ['and no longer', ',"expires_in":10', 9.1, 2],
    ['without a life, until it is refused', '', 10_000_000, 1],
  ])('a token is kept: %s', async (_, life, seconds, fetched) => {
    const { auth, server, clock } = await setup(issuing(life));
    await auth.token();
    clock.at = seconds * 1000;
    await auth.token();
    expect(server.requests).toHaveLength(fetched);
  });

  test('concurrent requests share one request for a token', async () => {
    const { auth, server } = await setup(issuing(tenHours));
    expect(await Promise.all([auth.token(), auth.token(), auth.token()])).toEqual(['t1', 't1', 't1']);
    expect(await Promise.all([auth.renew('t1'), auth.renew('t1')])).toEqual([true, true]);
    expect(await auth.token()).toBe('t2');
    // A late 401 for the old token finds the new token in place.
    expect(await auth.renew('t1')).toBe(true);
    expect(server.requests).toHaveLength(2);
  });

  test('a renewal that returns the same token counts as none', async () => {
    const { auth } = await setup(json('{"access_token":"same","expires_in":100}'));
    await auth.token();
    expect(await auth.renew('same')).toBe(false);
  });

  test('a request to a failing server is repeated a few times', async () => {
    const { auth, server, clock } = await setup(json('', 500), json('<html>'), issuing(tenHours));
    expect(await auth.token()).toBe('t1');
    expect(server.requests).toHaveLength(3);
    expect(clock.pauses).toEqual([375, 750]);
  });

  test('after an error, the next request fetches a token again', async () => {
    const { auth } = await setup(json('{}', 401), issuing(tenHours));
    await expect(auth.token()).rejects.toMatchObject({ code: 'unauthorized' });
    expect(await auth.token()).toBe('t1');
  });

  test('a request for a token has one id in all its lines and in its failure, with that of the server for each answer', async () => {
    const named = (id: string, status: number) => json('{}', status, { 'x-request-id': id });
    const { auth, log } = await setup(named('server-1', 500), named('server-2', 401));
    const error = await failureOf(auth);
    const lines = log.lines.map(fieldsOf);
    const [{ request } = {}] = lines;
    expect(request).toMatch(/^[0-9a-f]{8}$/);
    const answers = [
      { request, server_request: 'server-1', action: 'token', status: 500 },
      { request, server_request: 'server-2', action: 'token', status: 401 },
    ];
    expect(lines.filter(({ code }) => code === undefined)).toMatchObject(answers);
    expect(lines.filter(({ code }) => code !== undefined)).toMatchObject([{ ...answers[0], code: 'server_error' }]);
    expect(error).toMatchObject({ requestIds: { request, server_request: 'server-2' } });
    expect(log.lines.join()).not.toContain(secret);
    await failureOf(auth);
    expect(fieldsOf(log.lines.at(-1)!).request).not.toBe(request);
  });

  test('without an answer its failure has our id', async () => {
    const { auth, log } = await setup(() => {});
    const error = await failureOf(auth);
    const [{ request } = {}] = log.lines.map(fieldsOf);
    expect(error).toMatchObject({ code: 'timeout', requestIds: { request } });
  });

  test('a signal ends the waiting', async () => {
    const { auth } = await setup(() => {});
    const stop = new AbortController();
    const waiting = auth.token(stop.signal);
    stop.abort(new Error('over'));
    await expect(waiting).rejects.toThrow('over');
  });

  test.each<[string, Handler, string, number]>([
    ['401', json('{"error":"invalid_client"}', 401), 'unauthorized', 1],
    ['400', json(`{"error":"invalid_client","secret":"${secret}"}`, 400), 'unauthorized', 1],
    ['404', json('', 404), 'not_found', 1],
    ['301', json('', 301, { location: '/x' }), 'redirected', 1],
    ['500', json('', 500), 'server_error', 4],
    ['HTML', json('<html>'), 'not_json', 4],
    ['no token', json('{"token_type":"Bearer"}'), 'malformed_response', 1],
    ['a token that no header can carry', json('{"access_token":"a\\nb"}'), 'malformed_response', 1],
    ['no answer', () => {}, 'timeout', 4],
  ])('%s', async (_, handler, code, requests) => {
    const { auth, server } = await setup(handler);
    const error = await failureOf(auth);
    expect(error).toMatchObject({ code });
    expect(error.message).toContain('/4711/oauth2/token/');
    expect(JSON.stringify([error, error.message, error.stack])).not.toContain(secret);
    expect(server.requests).toHaveLength(requests);
  });
});

function fieldsOf(line: string): Record<string, unknown> {
  return JSON.parse(line.slice(0, line.lastIndexOf('}') + 1));
}

async function failureOf(auth: Auth): Promise<Error> {
  try {
    await auth.token();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not fail');
}
