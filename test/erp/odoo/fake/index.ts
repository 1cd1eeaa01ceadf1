// A fake Odoo 17, 18 or 19 with accounting, in memory. It behaves as real ones were measured (conforms.test.ts sends
// both the same calls). It also has the actions of people at Odoo.

import type { Clock } from '../../../../src/domain/clock.ts';
import type { OdooAnswer, OdooRequest } from '../client.ts';
import { administrator, seed } from './chart.ts';
import { FakeCore } from './core.ts';
import { type Context, Env } from './env.ts';
import { accessDenied, accessError, missingError, OdooError, statusOf } from './errors.ts';
import { callByName, callByPlace, contextIn } from './methods.ts';
import type { OdooVersion } from './schema.ts';
import type { Json, Row } from './store.ts';
import { encode } from './wire.ts';
import { checkLanguage } from './words.ts';

export interface FakeOdooOptions {
  version: OdooVersion;
  clock: Pick<Clock, 'now'>;
  database?: string;
}

interface Key {
  key: string;
  /** The id of the row in res.users.apikeys. */
  id: number;
}

const noDatabase = `<!DOCTYPE html>
<title>404 Not Found</title>
<h1>Not Found</h1>
<p>No database is selected and the requested URL was not found in the server-wide controllers.</p>
`;
const notFound = '<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n';

export class FakeOdoo {
  readonly core: FakeCore;
  readonly database: string;
  readonly #keys: Key[] = [];
  /** Planned errors of the next calls of a method, which then have no effect. */
  readonly #nextErrors = new Map<string, OdooError[]>();
  /** All calls, for the judge. */
  readonly calls: { model: string; method: string; context: Context; user: number }[] = [];

  constructor({ version, clock, database = 'fake' }: FakeOdooOptions) {
    this.core = new FakeCore(version, clock);
    this.database = database;
    seed(this.core);
  }

  get version(): OdooVersion {
    return this.core.version;
  }

  /** An environment without access checks, for manual changes in Odoo and for the judge. */
  inside(context: Context = {}): Env {
    return new Env(this.core, administrator, context, true);
  }

  /** Makes the next call of the method fail without effect. */
  failNext(method: string, error: OdooError): void {
    this.#nextErrors.set(method, [...(this.#nextErrors.get(method) ?? []), error]);
  }

  userOf(login: string): Row {
    const found = this.core.store.rows('res.users').find((row) => row.login === login);
    if (found === undefined) throw new Error(`no user ${login}`);
    return found;
  }

  /** Adds a user of the company with groups. `rights` are additional rights: letters by model. */
  addUser(login: string, password: string, groups: readonly string[], rights: Record<string, string> = {}): number {
    const env = this.inside();
    const [id = 0] = env.create('res.users', [{ name: login, login, password }]);
    this.setGroups(login, groups);
    for (const [model, letters] of Object.entries(rights)) this.core.givenRights.set(`${id} ${model}`, letters);
    return id;
  }

  setGroups(login: string, groups: readonly string[]): void {
    const ids = [...this.core.groupNames].filter(([, name]) => groups.includes(name)).map(([id]) => id);
    const field = this.version === 19 ? 'group_ids' : 'groups_id';
    this.inside().update('res.users', this.userOf(login).id, { [field]: [[6, 0, ids]] });
  }

  /** Removes rights (letters) of a model from a user; an empty text restores them. */
  takeRights(login: string, model: string, letters: string): void {
    this.core.takenRights.set(`${this.userOf(login).id} ${model}`, letters);
  }

  /** Adds an API key with an expiry time. */
  addKey(login: string, key: string, expires: string | false = false): void {
    const env = this.inside();
    const expiry = this.version === 17 ? {} : { expiration_date: expires };
    const [id = 0] = env.create('res.users.apikeys', [
      { name: `key of ${login}`, scope: 'rpc', user_id: this.userOf(login).id, ...expiry },
    ]);
    this.#keys.push({ key, id });
  }

  /** Answers a request. It never throws. */
  handle({ path, headers, body }: OdooRequest): OdooAnswer {
    const { pathname } = new URL(path, 'http://odoo.invalid');
    let value: Json;
    try {
      value = body === '' ? {} : (JSON.parse(body) as Json);
    } catch (error) {
      if (!pathname.startsWith('/json/2/')) return page(400, 'Invalid JSON data');
      const why = error instanceof Error ? error.message : '';
      return failed2(new OdooError('werkzeug.exceptions.BadRequest', `could not parse the body as json: ${why}`));
    }
    if (pathname === '/jsonrpc') return this.#rpc(value as RpcBody);
    if (pathname === '/web/webclient/version_info') {
      return json(200, { jsonrpc: '2.0', id: (value as RpcBody).id ?? null, result: this.#versionInfo() });
    }
    if (this.version !== 19) return page(404, notFound);
    if (pathname === '/json/version' || pathname === '/web/version') {
      return json(200, { version_info: [19, 0, 0, 'final', 0, ''], version: '19.0' });
    }
    const [, model, method] = /^\/json\/2\/([^/]+)\/([^/]+)$/.exec(pathname) ?? [];
    const lower = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text]));
    if (model === undefined || method === undefined || lower['x-odoo-database'] !== this.database) {
      return page(404, noDatabase);
    }
    return this.#json2(decodeURIComponent(model), decodeURIComponent(method), lower.authorization, value as never);
  }

  #versionInfo() {
    return {
      ...{ server_version: `${this.version}.0`, server_version_info: [this.version, 0, 0, 'final', 0, ''] },
      ...{ server_serie: `${this.version}.0`, protocol_version: 1 },
    };
  }

  #rpc({ id = null, params }: RpcBody): OdooAnswer {
    try {
      const { service, method, args = [] } = params ?? {};
      return json(200, { jsonrpc: '2.0', id, result: this.#serve(service ?? '', method ?? '', args) });
    } catch (error) {
      if (!(error instanceof OdooError)) throw error;
      const { exception: name, message } = error;
      const data = { name, message, arguments: [message], context: {}, debug: `Traceback …\n${name}: ${message}\n` };
      const code = this.version === 19 ? 0 : 200;
      return json(200, { jsonrpc: '2.0', id, error: { code, message: 'Odoo Server Error', data } });
    }
  }

  #serve(service: string, method: string, args: Json[]): unknown {
    if (service === 'common') {
      if (method === 'version') return this.#versionInfo();
      if (method !== 'login' && method !== 'authenticate') {
        throw new OdooError('builtins.Exception', `Method not found: ${method}`);
      }
      this.#checkDatabase(args[0]);
      const user = this.core.store.rows('res.users').find((row) => row.login === args[1] && row.active === true);
      return user !== undefined && this.#isSecret(user, args[2]) ? user.id : false;
    }
    if (service !== 'object') throw new OdooError('builtins.KeyError', service);
    const [database, userId, secret, model, name, places = [], named = {}] = args as [
      ...[Json, number, Json, string, string],
      ...[Json[] | undefined, Record<string, Json> | undefined],
    ];
    this.#checkDatabase(database);
    const user = this.core.store.get('res.users', userId);
    if (user === undefined) {
      const text = 'Record does not exist or has been deleted.';
      throw missingError(`${text}\n(Record: res.users(${userId},), User: ${userId})`);
    }
    if (user.active !== true || !this.#isSecret(user, secret)) throw accessDenied();
    const { context, rest } = contextIn(named);
    return this.#call(userId, context, model, name, (env) => callByPlace(env, model, name, places, rest));
  }

  #checkDatabase(name: Json | undefined): void {
    if (name === this.database) return;
    const text = `connection to server at "127.0.0.1", port 5432 failed: FATAL:  database "${String(name)}" does not exist\n`;
    throw new OdooError('psycopg2.OperationalError', text);
  }

  #isSecret(user: Row, secret: Json | undefined): boolean {
    if (secret === user.password) return true;
    return this.#keyOwner(secret) === user.id;
  }

  /** The user of a valid key; null if there is none. */
  #keyOwner(secret: Json | undefined): number | null {
    const known = this.#keys.find(({ key }) => key === secret);
    const row = known === undefined ? undefined : this.core.store.get('res.users.apikeys', known.id);
    if (row === undefined) return null;
    const { expiration_date: end } = row;
    return typeof end === 'string' && end <= this.core.nowText() ? null : (row.user_id as number);
  }

  #json2(model: string, method: string, authorization: string | undefined, named: Record<string, Json>): OdooAnswer {
    const unauthorized = (text: string) => failed2(new OdooError('werkzeug.exceptions.Unauthorized', text));
    const [, key] = /^bearer (.+)$/i.exec(authorization ?? '') ?? [];
    if (key === undefined) {
      return unauthorized('User not authenticated, use an API Key with a Bearer Authorization header.');
    }
    const user = this.#keyOwner(key);
    if (user === null) return unauthorized('Invalid apikey');
    const { context, rest } = contextIn(named);
    try {
      return json(
        200,
        this.#call(user, context, model, method, (env) => callByName(env, model, method, rest)),
      );
    } catch (error) {
      if (!(error instanceof OdooError)) throw error;
      return failed2(error);
    }
  }

  #call(user: number, context: Context, model: string, method: string, run: (env: Env) => unknown): unknown {
    this.calls.push({ model, method, context, user });
    const env = new Env(this.core, user, context);
    const planned = this.#nextErrors.get(method)?.shift();
    if (planned !== undefined) throw planned;
    return this.core.store.transaction(() => {
      const own = (this.core.store.get('res.users', user)?.company_ids ?? []) as number[];
      const allowed = (context.allowed_company_ids ?? []) as number[];
      if (this.core.schema.has(model)) {
        checkLanguage(env);
        if (!allowed.every((id) => own.includes(id))) {
          throw accessError(env.say('Access to unauthorized or invalid companies.'));
        }
      }
      this.core.touched.clear();
      const result = run(env);
      this.core.beforeCommit(env, this.core.touched);
      return result;
    });
  }
}

interface RpcBody {
  id?: Json;
  params?: { service?: string; method?: string; args?: Json[] };
}

function json(status: number, value: unknown): OdooAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: encode(value) };
}

export function page(status: number, body: string): OdooAnswer {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}

/** An error answer of `/json/2`. */
function failed2(error: OdooError): OdooAnswer {
  const { exception: name, message } = error;
  const status = statusOf(error);
  const more = name.startsWith('werkzeug.') ? [status] : [];
  return json(status, {
    name,
    message,
    arguments: [message, ...more],
    context: {},
    debug: `Traceback …\n${message}\n`,
  });
}
