import type { OdooPerson } from './odoo.ts';

/**
 * Creates an API key like a user in the web client: under Preferences, Account security, with the password. It expires
 * after 30 days.
 */
export async function makeApiKey({ login: { url, database, user, password } }: OdooPerson): Promise<string> {
  let cookie = '';
  const post = async <Result>(path: string, params: object): Promise<Result> => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'call', params }),
    });
    cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
    const { result, error } = (await answer.json()) as { result: Result; error?: unknown };
    if (error) throw new Error(JSON.stringify(error));
    return result;
  };
  const call = <Result>(model: string, method: string, args: unknown[], context: object = {}) =>
    post<Result>('/web/dataset/call_kw', { model, method, args, kwargs: { context } });
  await post('/web/session/authenticate', { db: database, login: user, password });
  const wanted = await call<number>('res.users.apikeys.description', 'create', [{ name: 'vetledger', duration: '30' }]);
  const asked = await call<{ res_id: number }>('res.users.apikeys.description', 'make_key', [[wanted]]);
  const made = await call<{ context: { default_key: string } }>(
    'res.users.identitycheck',
    'run_check',
    [[asked.res_id]],
    { password },
  );
  return made.context.default_key;
}
