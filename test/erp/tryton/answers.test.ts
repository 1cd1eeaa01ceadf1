import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { TrytonConfig } from '../../../src/config/erp.ts';
import { redact } from '../../../src/domain/redact.ts';
import { ErpError, type ErpTarget } from '../../../src/erp/port.ts';
import { openTryton } from '../../../src/erp/targets/tryton/index.ts';
import { ports } from '../../support/tryton.ts';

const request = { signal: new AbortController().signal, priority: 0, attemptId: 'attempt' };
const token = 'session-token-0123456789abcdef';

type Reply = { status?: number; body?: string; headers?: Record<string, string>; breakOff?: boolean; after?: number };
type Asked = { method: string; params: unknown[]; path: string; authorization: string | undefined };

/** A server that answers logins and company requests like Tryton, and other methods from a script. */
class ScriptedServer {
  readonly asked: Asked[] = [];
  readonly #script: Record<string, Reply | Reply[]>;
  readonly #server: Server;

  constructor(script: Record<string, Reply | Reply[]>) {
    this.#script = script;
    this.#server = createServer((message, response) => void this.#answer(message, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of message) text += chunk;
    const { id, method, params } = JSON.parse(text) as { id: number; method: string; params: unknown[] };
    this.asked.push({ method, params, path: message.url ?? '', authorization: message.headers.authorization });
    const reply = this.#reply(method);
    if (reply.after) await new Promise((done) => setTimeout(done, reply.after));
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
    // The script writes 1 in place of the request's id.
    const body = (reply.body ?? '{"id":1,"result":null}').replace(/"id":1\b/, `"id":${id}`);
    if (reply.breakOff) {
      response.write(body, () => response.destroy());
      return;
    }
    response.end(body);
  }

  #reply(method: string): Reply {
    const scripted = this.#script[method];
    if (Array.isArray(scripted)) return scripted.length > 1 ? scripted.shift()! : scripted[0]!;
    if (scripted !== undefined) return scripted;
    switch (method) {
      case 'common.db.login':
        return result([7, token, null]);
      case 'model.res.user.read':
        return result([{ id: 7, companies: [1] }]);
      case 'model.company.company.search_read':
        return result([{ id: 1, rec_name: 'Clinic', 'currency.': { id: 1, code: 'EUR', digits: 2 } }]);
      default:
        return result(method.endsWith('search_read') ? [] : null);
    }
  }
}

const result = (value: unknown): Reply => ({ body: JSON.stringify({ id: 1, result: value }) });
const userError = (text: string): Reply => ({
  body: JSON.stringify({ id: 1, error: ['UserError', [text, '', null]] }),
});
const page = (status: number): Reply => ({
  ...{ status, headers: { 'content-type': 'text/html' } },
  body: '<!doctype html><title>Oops</title><h1>Oops</h1><p>Something is wrong</p>',
});

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function targetOf(
  script: Record<string, Reply | Reply[]>,
  changes: Partial<TrytonConfig> = {},
  log: Parameters<typeof openTryton>[1]['log'] = ports.log,
): Promise<{ target: ErpTarget; server: ScriptedServer }> {
  const server = new ScriptedServer(script);
  const url = await server.listen();
  const target = openTryton(
    {
      ...{ kind: 'tryton', url, database: 'clinic', company: null, user: 'api', password: 'secret-password-1' },
      ...{ from: null, auto: true, post: 'posted', ownedAccounts: [], closeSourcePeriods: false, timeoutSeconds: 5 },
      ...changes,
    },
    { ...ports, log },
  );
  open.push(
    () => target.close(),
    () => server.close(),
  );
  return { target, server };
}

async function errorOf(work: Promise<unknown>): Promise<ErpError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ErpError)) throw error ?? new Error('nothing was thrown');
  return error;
}

const post = 'model.account.move.post';

describe('the meaning of an answer to a writing request', () => {
  test.each<[string, Reply, Partial<ErpError>]>([
    [
      'a period that was closed',
      userError('You cannot add/modify/delete lines on closed journal-period "REV - 2026-02".'),
      { means: 'refused', problem: 'period_closed_in_erp' },
    ],
    [
      'an entry that does not balance',
      userError('To post move "(7)", you must balance all its lines debits and credits.'),
      { means: 'refused', problem: 'erp_unbalanced' },
    ],
    ['a missing right', userError('You are not allowed to access "Account Move".'), { means: 'auth', problem: null }],
    ['a text that nobody knows', userError('The moon is full.'), { means: 'doubt', problem: 'erp_refused_unknown' }],
    [
      'an error that is not Tryton’s own',
      { body: '{"id":1,"error":["division by zero",""]}' },
      { means: 'doubt', problem: 'erp_refused_unknown' },
    ],
    [
      'a warning',
      { body: '{"id":1,"error":["UserWarning",["key","Are you sure?",""]]}' },
      { means: 'doubt', problem: 'erp_refused_unknown' },
    ],
    ['a lock', page(503), { means: 'locked', problem: null }],
    [
      'too many requests',
      { ...page(429), headers: { 'retry-after': '7' } },
      { means: 'throttled', retryAfterMs: 7_000 },
    ],
    [
      'too many requests, for a day',
      { ...page(429), headers: { 'retry-after': '86400' } },
      { means: 'throttled', retryAfterMs: 900_000 },
    ],
    [
      'too many requests, until a day',
      { ...page(429), headers: { 'retry-after': 'Fri, 31 Dec 2299 23:59:59 GMT' } },
      { means: 'throttled', retryAfterMs: 900_000 },
    ],
    ['a request that is too large', page(413), { means: 'refused', problem: 'erp_too_large' }],
    ['an internal error', page(500), { means: 'doubt', problem: null }],
    ['a gateway’s time-out', page(504), { means: 'doubt', problem: null }],
    ['an HTML page with status 200', page(200), { means: 'doubt', problem: null }],
    ['an empty answer', { body: '' }, { means: 'doubt', problem: null }],
    ['half an answer', { body: '{"id":1,"resu' }, { means: 'doubt', problem: null }],
    [
      'an answer that breaks off',
      { body: '{"id":1,', headers: { 'content-length': '500' }, breakOff: true },
      { means: 'doubt', problem: null },
    ],
    ['JSON of another kind', { body: '[1,2]' }, { means: 'doubt', problem: null }],
    ['neither result nor error', { body: '{"id":1}' }, { means: 'doubt', problem: null }],
    ['an answer to another request', { body: '{"id":777,"result":[8]}' }, { means: 'doubt', problem: null }],
    ['an answer without an id', { body: '{"result":[8]}' }, { means: 'doubt', problem: null }],
    [
      'a refusal of another request',
      {
        body: '{"id":777,"error":["UserError",["To post move \\"(7)\\", you must balance all its lines debits and credits.","",null]]}',
      },
      { means: 'doubt', problem: null },
    ],
    [
      'a result and an error',
      { body: '{"id":1,"result":null,"error":["UserError",["The moon is full.","",null]]}' },
      { means: 'doubt', problem: 'erp_refused_unknown' },
    ],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }, { means: 'doubt', problem: null }],
    ['a time-out of a proxy', page(408), { means: 'doubt', problem: null }],
    ['a request that a proxy does not like', page(400), { means: 'doubt', problem: 'erp_refused_unknown' }],
  ])('%s', async (_, reply, expected) => {
    const { target, server } = await targetOf({ [post]: reply });
    const error = await errorOf(target.post(['7'], request));
    expect(error).toMatchObject(expected);
    // Nothing is sent twice.
    expect(server.asked.filter(({ method }) => method === post)).toHaveLength(1);
  });

  test('a missing answer is a doubt only if the request was sent', async () => {
    const { target } = await targetOf({ [post]: { after: 3_000 } }, { timeoutSeconds: 0.3 });
    expect(await errorOf(target.post(['7'], request))).toMatchObject({ means: 'doubt', problem: null });
    const { target: other } = await targetOf({ 'common.db.login': { after: 3_000 } }, { timeoutSeconds: 0.3 });
    expect(await errorOf(other.post(['7'], request))).toMatchObject({ means: 'unsent' });
    const { target: nobody } = await targetOf({}, { url: 'http://127.0.0.1:9' });
    expect(await errorOf(nobody.post(['7'], request))).toMatchObject({ means: 'unsent' });
  });

  test('missing or invalid ids are a doubt', async () => {
    const entry = {
      ...{ key: 'A'.repeat(20), unitId: '1/invoice/1/1', installation: 1, date: '2026-03-15', journal: 'REV' },
      ...{ description: 'x', reference: null, reverses: null, lines: [] },
    };
    const names = {
      'model.account.journal.search_read': result([{ id: 1, code: 'REV', active: true }]),
      'model.account.period.search_read': result([
        {
          ...{ id: 1, name: '2026-03', state: 'open', 'fiscalyear.': { id: 1, state: 'open' } },
          start_date: { __class__: 'date', year: 2026, month: 3, day: 1 },
          end_date: { __class__: 'date', year: 2026, month: 3, day: 31 },
        },
      ]),
    };
    for (const reply of [result([]), result(['7']), result(null), result([1.5])]) {
      const { target } = await targetOf({ ...names, 'model.account.move.create': reply });
      expect(await errorOf(target.create([entry], request))).toMatchObject({ means: 'doubt', problem: null });
    }
  });
});

describe('the meaning of an answer to a reading request', () => {
  test.each<[string, Reply]>([
    ['a lock', page(503)],
    ['an internal error', page(500)],
    ['an HTML page with status 200', page(200)],
    ['half an answer', { body: '{"id":1,"result":[{"id":1' }],
    ['a text that nobody knows', userError('The moon is full.')],
    ['a record without its fields', result([{ id: 1 }])],
  ])('%s: nothing was done', async (_, reply) => {
    const { target } = await targetOf({ 'model.account.move.search_read': reply });
    expect(await errorOf(target.read(['7'], request))).toMatchObject({ means: 'unsent' });
    expect(
      await errorOf(target.find([{ key: 'A'.repeat(20), dates: ['2026-03-15'], since: null }], request)),
    ).toMatchObject({
      means: 'unsent',
    });
  });
});

describe('moves are read in several requests', () => {
  const date = { __class__: 'date', year: 2026, month: 3, day: 15 };
  const move = { id: 7, number: null, state: 'draft', date, description: '', 'journal.': { id: 1, code: 'REV' } };
  const moves = 'model.account.move.search_read';

  test('an amount that is a JSON number makes the answer invalid', async () => {
    const line = { id: 1, move: 7, debit: 1.5, credit: 0, reconciliation: null, 'account.': { id: 1, code: '3000' } };
    const { target } = await targetOf({
      [moves]: result([move]),
      'model.account.move.line.search_read': result([line]),
    });
    expect(await errorOf(target.read(['7'], request))).toMatchObject({ means: 'unsent' });
  });

  test('a draft that is deleted before its lines are read is left out', async () => {
    const { target } = await targetOf({ [moves]: [result([move]), result([])] });
    expect(await target.read(['7'], request)).toEqual([]);
  });

  test('a draft without lines is returned', async () => {
    const { target } = await targetOf({ [moves]: [result([move]), result([{ id: 7 }])] });
    expect(await target.read(['7'], request)).toMatchObject([{ id: '7', lines: [] }]);
  });
});

describe('login', () => {
  test.each<[string, Reply, RegExp]>([
    ['a wrong password', page(401), /refuses the user api, or the password/],
    ['no such database', page(404), /has no Tryton database clinic/],
    ['another program', page(405), /405/],
    ['another program that says yes', result({ token: 'x' }), /not Tryton/],
    ['another program that repeats no id', { body: '{"result": {"token": "x"}}' }, /belongs to another request/],
    ['a database that cannot be loaded', userError('LoginException'), /LoginException/],
  ])('%s', async (_, reply, message) => {
    const { target } = await targetOf({ 'common.db.login': reply });
    const error = await errorOf(target.post(['7'], request));
    expect(error.message).toMatch(message);
    expect(['auth', 'unsent']).toContain(error.means);
    expect(error.message).not.toContain('secret-password-1');
  });

  test('a session that ended is renewed once, and the request is sent again', async () => {
    const { target, server } = await targetOf({ [post]: [page(401), result(null)] });
    await target.post(['7'], request);
    const methods = server.asked.map(({ method }) => method);
    expect(methods.filter((method) => method === 'common.db.login')).toHaveLength(2);
    expect(methods.filter((method) => method === post)).toHaveLength(2);
  });

  test('a session that ends again at once is refused', async () => {
    const { target, server } = await targetOf({ [post]: page(401) });
    expect(await errorOf(target.post(['7'], request))).toMatchObject({ means: 'auth' });
    expect(server.asked.filter(({ method }) => method === post)).toHaveLength(2);
  });

  test('the session’s token and the password are secrets; texts of the server are harmless and short', async () => {
    const { target } = await targetOf({
      [post]: userError(`bad \u001b[31m${token} secret-password-1 ${'x'.repeat(9_000)}`),
    });
    const { message } = await errorOf(target.post(['7'], request));
    expect(message).not.toContain(token);
    expect(message).not.toContain('secret-password-1');
    expect(message).not.toContain('\u001b');
    expect(message.length).toBeLessThan(600);
    expect(redact(`header ${token}`)).not.toContain(token);
  });

  test('a company that is not the user’s, or one of several without a choice', async () => {
    const companies = result(
      ['One', 'Two', 'Three'].map((name, index) => ({
        id: index + 1,
        rec_name: name,
        'currency.': { id: 1, code: 'EUR', digits: 2 },
      })),
    );
    const script = {
      'model.company.company.search_read': companies,
      'model.res.user.read': result([{ id: 7, companies: [1, 2] }]),
    };
    const { target: none } = await targetOf(script);
    expect(await errorOf(none.post(['7'], request))).toMatchObject({
      means: 'auth',
      message: expect.stringContaining('One (1), Two (2)'),
    });
    const { target: third } = await targetOf(script, { company: 'Three' });
    expect(await errorOf(third.post(['7'], request))).toMatchObject({
      means: 'auth',
      message: expect.stringContaining('Three'),
    });
    const { target: second, server } = await targetOf(script, { company: 'Two' });
    await second.post(['7'], request);
    expect(server.asked.at(-1)).toMatchObject({ path: '/clinic/rpc/', params: [[7], { company: 2, language: 'en' }] });
    // Under any name, the company is identified by its id, which is requested once.
    const { target: byId } = await targetOf(script, { company: '2' });
    for (const named of [second, byId]) expect((await named.identify?.(request))?.id).toBe('clinic/2');
    const before = server.asked.length;
    await second.identify?.(request);
    expect(server.asked).toHaveLength(before);
  });

  test.each<[string, unknown]>([
    ['model.company.company.search_read', [{ id: 'x', rec_name: 'Clinic' }]],
    ['model.company.company.search_read', 7],
    ['model.company.company.search_read', [{ id: 1, rec_name: 'Clinic', 'currency.': 'EUR' }]],
    ['model.res.user.read', [{ id: 7 }]],
    ['model.res.user.read', null],
  ])('an answer of another form to %s is an error of the way there: %j', async (method, value) => {
    const { target } = await targetOf({ [method]: result(value) });
    expect(await errorOf(target.post(['7'], request))).toMatchObject({ means: 'unsent' });
  });

  test('requests stop when the work stops', async () => {
    const { target } = await targetOf({ [post]: { after: 5_000 } });
    const stop = new AbortController();
    const sent = target.post(['7'], { ...request, signal: stop.signal });
    setTimeout(() => stop.abort(new Error('stopped')), 100);
    await expect(sent).rejects.toThrow('stopped');
  });
});

test('each request has an id in the log, with the server’s, in the lines about its answer and its failure', async () => {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const kept = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields: { ...fields }, message });
  };
  const log = { debug: kept('debug'), info: kept('info'), warn: kept('warn') };
  const said = 'Aino Virtanen is not welcome';
  const broken: Reply = { status: 503, body: said, headers: { 'x-request-id': 'tryton-7' } };
  const { target } = await targetOf({ [post]: [broken, { body: '{', breakOff: true }] }, {}, log);
  await errorOf(target.post(['7'], request));
  await errorOf(target.post(['7'], request));
  const told = lines.filter(({ fields }) => fields.method === post);
  expect(told).toMatchObject([
    { level: 'debug', fields: { status: 503, server_request: 'tryton-7' } },
    { level: 'warn', fields: { status: 503, server_request: 'tryton-7', means: 'locked' } },
    { level: 'warn', message: expect.stringContaining('was interrupted') },
  ]);
  const ids = told.map(({ fields }) => fields.request);
  expect(ids[0]).toMatch(/^[0-9a-f]{8}$/);
  expect(ids[1]).toBe(ids[0]);
  expect(ids[2]).not.toBe(ids[0]);
  expect(JSON.stringify(lines)).not.toContain('Aino');
});
