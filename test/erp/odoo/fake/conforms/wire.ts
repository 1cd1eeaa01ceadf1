// Scripted calls about the protocols: the form of errors, and answers before a login.

import type { ScriptedCall } from './call.ts';
import type { World } from './world.ts';

interface RpcAnswer {
  result?: unknown;
  error?: { code: number; message: string; data: Record<string, unknown> };
}

async function rpc(w: World, service: string, method: string, args: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'call', params: { service, method, args } });
  const { status, headers, body: text } = await w.admin.transport({ path: '/jsonrpc', headers: {}, body });
  const { result, error, ...rest } = JSON.parse(text) as RpcAnswer;
  if (error === undefined) return [status, headers['content-type'], rest, result];
  const { data, ...head } = error;
  const message = String(data.message).replace(/at "127.0.0.1", port \d+/, 'at SERVER');
  return [status, rest, head, data.name, message, Object.keys(data).sort()];
}

async function raw(w: World, path: string, body: string, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await w.admin.transport({ path, headers, body });
  const type = answer.headers['content-type']?.split(';')[0];
  if (type !== 'application/json') return [answer.status, type];
  const value = JSON.parse(answer.body) as Record<string, unknown> | unknown[];
  if (Array.isArray(value) || typeof value !== 'object' || value === null || !('debug' in value))
    return [answer.status, value];
  const told = JSON.stringify([answer.status, value.name, value.message, value.arguments]);
  return [...(JSON.parse(told.replace(/User: \d+/g, 'User: N')) as unknown[]), Object.keys(value).sort()];
}

/** A request to `/json/2` with an API key, which only later versions support. */
const json2 = (w: World, path: string, body: object, headers: Record<string, string> = {}) =>
  raw(w, `/json/2/${path}`, JSON.stringify(body), {
    authorization: `bearer ${w.key}`,
    'x-odoo-database': w.admin.login.database,
    ...headers,
  });

export const wireCalls: ScriptedCall[] = [
  {
    name: 'JSON-RPC: who is let in',
    async run(w) {
      const { database, user, password } = w.admin.login;
      const id = await w.admin.userId();
      const search = (secret: string, of = id, place = database) =>
        rpc(w, 'object', 'execute_kw', [
          place,
          of,
          secret,
          'res.country',
          'search',
          [[['code', '=', 'US']]],
          { limit: 1 },
        ]).then((said) => JSON.stringify(said).replace(/\[\d+\]/, '[ID]'));
      return [
        await rpc(w, 'common', 'login', [database, user, 'wrong']),
        await rpc(w, 'common', 'login', [database, 'nobody', 'wrong']),
        JSON.stringify(await rpc(w, 'common', 'authenticate', [database, user, password, {}])).replace(
          /,\d+\]$/,
          ',ID]',
        ),
        await search(password),
        await search('wrong'),
        await search(password, 999),
        await search(password, id, 'nodatabase'),
        await rpc(w, 'common', 'login', ['nodatabase', user, password]),
      ];
    },
  },
  {
    name: 'JSON-RPC: what is no call',
    run: async (w) => [
      await rpc(w, 'nix', 'execute_kw', []),
      await rpc(w, 'common', 'nix', []),
      await raw(w, '/jsonrpc', '{bad'),
      await raw(w, '/nix', '{}'),
    ],
  },
  {
    name: 'the version',
    async run(w) {
      const told = (await rpc(w, 'common', 'version', [])) as [
        number,
        string,
        object,
        { server_version_info: unknown[]; server_serie: string },
      ];
      const info = (await raw(w, '/web/webclient/version_info', '{"jsonrpc":"2.0","params":{}}')) as [
        number,
        { result?: { server_version_info: unknown[] } },
      ];
      return [
        told[3].server_version_info.slice(0, 2),
        told[3].server_serie,
        info[0],
        info[1].result?.server_version_info.slice(0, 2),
      ];
    },
  },
  {
    name: '/json/2: keys, databases, models and methods',
    only: [19],
    async run(w) {
      const read = { ids: [w.company], fields: ['parent_id'] };
      return [
        JSON.stringify(await json2(w, 'res.company/read', read)).replace(/"id":\d+/, '"id":ID'),
        await json2(w, 'res.company/read', read, { authorization: 'bearer nix' }),
        await json2(w, 'res.company/read', read, { authorization: '' }),
        await json2(w, 'res.company/read', read, { 'x-odoo-database': 'nodatabase' }),
        await json2(w, 'res.company/nix', read),
        await json2(w, 'res.nix/read', read),
        await json2(w, 'res.company/_read', read),
      ];
    },
  },
  {
    name: '/json/2: arguments and errors',
    only: [19],
    run: async (w) => [
      await json2(w, 'res.company/read', { ids: [w.company], fields: ['nix'] }),
      await json2(w, 'res.company/read', { ids: [w.company], wrong: 1 }),
      await json2(w, 'res.company/search', {}),
      await json2(w, 'account.move/unlink', { ids: [999_999] }),
      await json2(w, 'account.move/action_post', { ids: [999_999] }),
      await json2(w, 'account.move/action_post', {}),
      await json2(w, 'account.move/load', { fields: ['nix'], data: [['x']] }),
      await json2(w, 'account.move/load', { fields: ['ref'], rows: [['x']] }),
      await json2(w, 'res.partner/create', { vals_list: [{ name: 'x', nix: 1 }] }),
      await json2(w, 'ir.model.data/check_object_reference', { module: 'base', xml_id: 'nix' }),
    ],
  },
  {
    name: '/json/2: an entry that is posted twice',
    only: [19],
    async run(w) {
      const lines = [
        { account: '121000', amount: '10.00' },
        { account: '400000', amount: '-10.00' },
      ];
      const { fields, rows } = w.rows({ key: 'json2', date: '2026-05-03', lines });
      const context = { lang: 'en_US', allowed_company_ids: [w.company] };
      const [status, said] = (await json2(w, 'account.move/load', { fields, data: rows, context })) as [
        number,
        { ids: number[] },
      ];
      const told = [];
      for (let n = 0; n < 2; n++) told.push(await json2(w, 'account.move/action_post', { ids: said.ids, context }));
      return [
        status,
        JSON.stringify(told)
          .replace(/MISC[^ "]*/g, 'NAME')
          .replace(/id \d+/g, 'id ID'),
      ];
    },
  },
];
