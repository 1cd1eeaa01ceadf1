import { describe, expect, test } from 'vitest';
import type { OdooConfig } from '../../../src/config/erp.ts';
import { redact } from '../../../src/domain/redact.ts';
import { ErpError } from '../../../src/erp/port.ts';
import { type Answer, type ErpRequest, NoAnswer } from '../../../src/erp/targets/api/http.ts';
import { type OdooCall, OdooConnection, type OdooTransport } from '../../../src/erp/targets/odoo/connection.ts';
import { ports } from '../../support/tryton.ts';

const request = { signal: new AbortController().signal, priority: 0 };
type Reply = { status?: number; text: string; retryAfter?: string } | NoAnswer;

/** A way to Odoo on which each request gets the answer that a script has for it. */
class Scripted implements OdooTransport {
  readonly asked: ErpRequest[] = [];
  readonly #replies: Reply[];

  constructor(...replies: Reply[]) {
    this.#replies = replies;
  }

  async send(asked: ErpRequest): Promise<Answer> {
    this.asked.push(asked);
    const reply = this.#replies.length > 1 ? this.#replies.shift() : this.#replies[0];
    if (reply === undefined || reply instanceof NoAnswer) throw reply;
    return {
      status: reply.status ?? 200,
      // The script writes 1 in place of the request's id.
      text: reply.text.replace(/"id":1\b/, `"id":${JSON.parse(asked.body).id}`),
      retryAfter: reply.retryAfter ?? null,
      ids: { request: 'r' },
    };
  }

  close(): void {}
}

const config = (protocol: OdooConfig['protocol']): OdooConfig => ({
  ...{ kind: 'odoo', url: 'http://odoo.example', database: 'clinic', company: null, from: null, auto: true },
  ...{ post: 'posted', ownedAccounts: [], closeSourcePeriods: false, timeoutSeconds: 5, protocol },
  ...(protocol === 'json2' ? { user: '', password: 'key-0123456789' } : { user: 'api', password: 'secret-password-2' }),
});
const open = (protocol: OdooConfig['protocol'], transport: OdooTransport) =>
  new OdooConnection(config(protocol), ports.log, transport);

const rpc = (result: unknown): Reply => ({ text: JSON.stringify({ jsonrpc: '2.0', id: 1, result }) });
const rpcError = (name: string, message: string): Reply => ({
  text: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    error: { code: 200, message: 'Odoo Server Error', data: { name, message } },
  }),
});
const told = (status: number, name: string, message: string): Reply => ({
  ...{ status, text: JSON.stringify({ name, message, arguments: [message], context: {}, debug: 'Traceback' }) },
});
const page = (status: number, more: object = {}): Reply => ({
  status,
  text: '<title>Oops</title><p>Something is wrong</p>',
  ...more,
});
const post: OdooCall = {
  model: 'account.move',
  method: 'action_post',
  ids: [7],
  context: { allowed_company_ids: [1] },
};

async function errorOf(work: Promise<unknown>): Promise<ErpError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ErpError)) throw error ?? new Error('nothing was thrown');
  return error;
}

describe('a call', () => {
  test('by JSON-RPC logs in once, and names its arguments', async () => {
    const way = new Scripted(rpc(2), rpc([]));
    const connection = open('jsonrpc', way);
    await connection.call(
      'reads',
      { model: 'res.company', method: 'search_read', args: { domain: [], limit: 5 } },
      request,
    );
    await connection.call('writes', post, request);
    expect(way.asked.map(({ path, body }) => [path, JSON.parse(body).params])).toEqual([
      ['/jsonrpc', { service: 'common', method: 'login', args: ['clinic', 'api', 'secret-password-2'] }],
      [
        '/jsonrpc',
        {
          ...{ service: 'object', method: 'execute_kw' },
          args: [
            ...['clinic', 2, 'secret-password-2', 'res.company', 'search_read', []],
            { domain: [], limit: 5, context: { lang: 'en_US', tz: 'UTC' } },
          ],
        },
      ],
      [
        '/jsonrpc',
        {
          ...{ service: 'object', method: 'execute_kw' },
          args: [
            ...['clinic', 2, 'secret-password-2', 'account.move', 'action_post', [[7]]],
            { context: { lang: 'en_US', tz: 'UTC', allowed_company_ids: [1] } },
          ],
        },
      ],
    ]);
  });

  test('by /json/2 carries the key in its header and names the database', async () => {
    const way = new Scripted({ text: '[]' });
    await open('json2', way).call('writes', post, request);
    const [{ path, headers, body } = { path: '', headers: {}, body: '' }] = way.asked;
    expect([path, headers]).toEqual([
      '/json/2/account.move/action_post',
      { authorization: 'bearer key-0123456789', 'x-odoo-database': 'clinic' },
    ]);
    expect(JSON.parse(body)).toEqual({ ids: [7], context: { lang: 'en_US', tz: 'UTC', allowed_company_ids: [1] } });
  });

  test.each([false, true, null, 0, {}])('%j is a result, and no error', async (value) => {
    expect(await open('jsonrpc', new Scripted(rpc(2), rpc(value))).call('writes', post, request)).toEqual(value);
    expect(await open('json2', new Scripted({ text: JSON.stringify(value) })).call('writes', post, request)).toEqual(
      value,
    );
  });

  test('an answer with an error named null has a result', async () => {
    const way = new Scripted(rpc(2), { text: '{"jsonrpc": "2.0", "id":1, "error": null, "result": 5}' });
    expect(await open('jsonrpc', way).call('reads', post, request)).toBe(5);
  });

  test('the major version is read from a number or a name', async () => {
    const version = (info: unknown[]) =>
      open('jsonrpc', new Scripted(rpc({ server_version_info: info }))).version(request);
    expect(await version([17, 0, 0, 'final', 0, ''])).toBe(17);
    expect(await version(['saas~18', 2, 0, 'final', 0, 'e'])).toBe(18);
  });
});

describe('what an answer means to a request that writes, and to one that reads', () => {
  const json2 = 'json2' as const;
  const jsonrpc = 'jsonrpc' as const;
  test.each<[string, OdooConfig['protocol'], Reply, writes: string, reads: string]>([
    ['a refusal', jsonrpc, rpcError('odoo.exceptions.UserError', 'No'), 'refused', 'refused'],
    ['a refusal', json2, told(422, 'odoo.exceptions.UserError', 'No'), 'refused', 'refused'],
    ['an error of Python', jsonrpc, rpcError('builtins.KeyError', 'x'), 'doubt', 'unsent'],
    ['an error of Python', json2, told(500, 'builtins.ValueError', 'x'), 'doubt', 'unsent'],
    ['a right that is missing', jsonrpc, rpcError('odoo.exceptions.AccessError', 'x'), 'auth', 'auth'],
    ['a right that is missing', json2, told(403, 'odoo.exceptions.AccessError', 'x'), 'auth', 'auth'],
    ['a key that has ended', json2, told(401, 'werkzeug.exceptions.Unauthorized', 'Invalid apikey'), 'auth', 'auth'],
    ['no such database', json2, page(404), 'auth', 'auth'],
    ['a record that is gone', json2, told(404, 'odoo.exceptions.MissingError', 'x'), 'refused', 'refused'],
    ['two transactions at once', jsonrpc, rpcError('psycopg2.errors.SerializationFailure', 'x'), 'locked', 'unsent'],
    ['a page of a proxy', jsonrpc, page(502), 'doubt', 'unsent'],
    ['a page of a proxy', json2, page(504), 'doubt', 'unsent'],
    ['a page instead of JSON', jsonrpc, page(200), 'doubt', 'unsent'],
    ['half an answer', json2, { text: '{"ids": [1' }, 'doubt', 'unsent'],
    ['an answer to another request', jsonrpc, { text: '{"jsonrpc":"2.0","id":9,"result":[8]}' }, 'doubt', 'unsent'],
    ['an answer to no request', jsonrpc, { text: '{"jsonrpc":"2.0","id":null,"result":[8]}' }, 'doubt', 'unsent'],
    ['an answer without an id', jsonrpc, { text: '{"jsonrpc":"2.0","result":[8]}' }, 'doubt', 'unsent'],
    [
      'a refusal of another request',
      jsonrpc,
      { text: '{"jsonrpc":"2.0","id":9,"error":{"data":{"name":"odoo.exceptions.UserError","message":"No"}}}' },
      ...(['doubt', 'unsent'] as const),
    ],
    ['neither result nor error', jsonrpc, { text: '{"jsonrpc":"2.0","id":1}' }, 'doubt', 'unsent'],
    ['JSON of somebody else', jsonrpc, { text: '{"status": "ok"}' }, 'doubt', 'unsent'],
    ['too many requests', json2, page(429, { retryAfter: '7' }), 'throttled', 'throttled'],
    ['a server that is being restarted', json2, page(503), 'locked', 'unsent'],
    ['a redirect', jsonrpc, page(302), 'doubt', 'unsent'],
    ['a time-out of a proxy', json2, page(408), 'doubt', 'unsent'],
    ['no answer', jsonrpc, new NoAnswer('the connection broke off (ECONNRESET)', true), 'doubt', 'unsent'],
    ['no connection', json2, new NoAnswer('no connection', false), 'unsent', 'unsent'],
  ])('%s (%s)', async (_, protocol, reply, writes, reads) => {
    const way = () => (protocol === 'json2' ? new Scripted(reply) : new Scripted(rpc(2), reply));
    expect((await errorOf(open(protocol, way()).call('writes', post, request))).means).toBe(writes);
    expect((await errorOf(open(protocol, way()).call('reads', post, request))).means).toBe(reads);
  });

  test.each([
    [302, null],
    [408, null],
    [502, null],
    // The ERP refuses this request, but might accept a smaller one.
    [400, 'erp_refused_unknown'],
    [406, 'erp_refused_unknown'],
  ])(
    'a page with status %i has the problem %s: without one, no entry is ever refused for it',
    async (status, problem) => {
      for (const protocol of [jsonrpc, json2]) {
        const way = protocol === json2 ? new Scripted(page(status)) : new Scripted(rpc(2), page(status));
        expect((await errorOf(open(protocol, way).call('writes', post, request))).problem).toBe(problem);
      }
    },
  );

  test('a method that returns nothing has neither result nor error in JSON-RPC, and is no doubt', async () => {
    const way = new Scripted(rpc(2), { text: '{"jsonrpc":"2.0","id":1}' });
    expect(await open(jsonrpc, way).call('writes', { ...post, returnsNothing: true }, request)).toBeNull();
  });

  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toUTCString();
  test.each([
    ['7', 7_000],
    ['899', 899_000],
    ['99999', 900_000],
    ['9'.repeat(400), 900_000],
    [inDays(3), 900_000],
    [inDays(-3), null],
    ['soon', null],
  ])('how long it is to be waited is told, 15 minutes at most: %s', async (retryAfter, expected) => {
    const error = await errorOf(open('json2', new Scripted(page(429, { retryAfter }))).call('writes', post, request));
    expect(error.retryAfterMs).toBe(expected);
  });

  test('a login that is refused names the user and no password', async () => {
    const error = await errorOf(open('jsonrpc', new Scripted(rpc(false))).call('reads', post, request));
    expect([error.means, error.message]).toEqual(['auth', 'Odoo refuses the user api, or the password or API key']);
  });

  test('a password that Odoo repeats is taken out', async () => {
    const reply = rpcError('odoo.exceptions.UserError', 'wrong: secret-password-2');
    const error = await errorOf(open('jsonrpc', new Scripted(rpc(2), reply)).call('writes', post, request));
    expect(error.message).not.toContain('secret-password-2');
    expect(redact('key-0123456789')).not.toContain('key-0123456789');
  });

  test('after a missing right the next call logs in again, because the user may have changed', async () => {
    const way = new Scripted(rpc(2), rpcError('odoo.exceptions.AccessDenied', 'Access Denied'), rpc(3), rpc([]));
    const connection = open('jsonrpc', way);
    await errorOf(connection.call('reads', post, request));
    await connection.call('reads', post, request);
    expect(way.asked.map(({ method }) => method)).toEqual([
      'login',
      'account.move.action_post',
      'login',
      'account.move.action_post',
    ]);
  });
});
