import type { OdooConfig } from '../../../config/erp.ts';
import { keepSecret } from '../../../domain/redact.ts';
import { isJsonObject, type JsonObject, type JsonValue, readJson, stringifyJson } from '../../../records/json.ts';
import type { Logger } from '../../deliver/slice.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { explain } from '../api/explain.ts';
import { asId, asList, asRecord, readAs, wholeNumber } from '../api/form.ts';
import {
  type Answer,
  answerTo,
  type Doing,
  ErpHttp,
  type ErpRequest,
  type Outcome,
  pageError,
  resultOf,
  withRetry,
} from '../api/http.ts';
import { odooCapabilities } from './capabilities.ts';

/** How requests reach Odoo: over HTTP, or in a test into its fake. */
export interface OdooTransport {
  /** Sends a request once. Throws NoAnswer, or the signal's reason. */
  post(request: ErpRequest, options: Pick<RequestOptions, 'signal'>): Promise<Answer>;
  close(): void;
}

/** A call of a method of a model. */
export interface OdooCall {
  model: string;
  method: string;
  /** The records that it is about; absent for a method of the model itself. */
  ids?: readonly number[];
  /** By the names that the method gives them. */
  args?: JsonObject;
  context?: JsonObject;
  /** The method returns nothing, and JSON-RPC answers it without a result; what it did is read back. */
  returnsNothing?: true;
}

/** English source texts, so that errors are known by their texts; times are in UTC whatever the user's zone is. */
const plainContext: JsonObject = { lang: 'en_US', tz: 'UTC' };

/**
 * Odoo's two interfaces, JSON-RPC (17 to 19) and `/json/2` (19), as one: a method of a model with named arguments. Sends each request
 * once, and turns every error into an ErpError.
 */
export class OdooConnection {
  readonly #config: OdooConfig;
  readonly #log: Logger;
  readonly #transport: OdooTransport;
  #userId: number | null = null;
  #requests = 0;

  constructor(config: OdooConfig, log: Logger, transport: OdooTransport = new ErpHttp(config, 'Odoo', log)) {
    this.#config = config;
    this.#log = log;
    this.#transport = transport;
    keepSecret(config.password);
  }

  /** The user's id in Odoo; whether the secret is right is seen here first. */
  async userId(request: RequestOptions): Promise<number> {
    this.#userId ??= await this.#logIn(request);
    return this.#userId;
  }

  /** Major version of the server: 17 for 17.0, 18 for saas~18.2. */
  async version(request: RequestOptions): Promise<number> {
    const body = { jsonrpc: '2.0', id: ++this.#requests, params: {} };
    const answer = await this.#post('reads', '/web/webclient/version_info', {}, body, request);
    const value = this.#result(rpcOutcome(answer, body.id), answer, 'reads', 'version_info');
    return readAs(value, (told) => {
      const [major] = asList(asRecord(told).server_version_info ?? null);
      // A release of Odoo Online between two versions: `saas~18`.
      return typeof major === 'string' ? wholeNumber(major.replace(/^\D+/, '')) : asId(major ?? null);
    });
  }

  /** Calls a method. Throws ErpError, or the signal's reason. */
  async call(doing: Doing, call: OdooCall, request: RequestOptions): Promise<JsonValue> {
    const context = { ...plainContext, ...call.context };
    const name = `${call.model}.${call.method}`;
    if (this.#config.protocol === 'json2') {
      const { path, body } = json2Of(call, context);
      const answer = await this.#post(doing, path, this.#bearer, body, request);
      return this.#result(json2Outcome(answer), answer, doing, name);
    }
    const userId = await this.userId(request);
    const { database, password } = this.#config;
    const params = [database, userId, password, ...executeOf(call, context)];
    return this.#rpc(
      doing,
      { service: 'object', method: 'execute_kw', args: params },
      name,
      request,
      call.returnsNothing,
    );
  }

  close(): void {
    this.#userId = null;
    this.#transport.close();
  }

  get #bearer(): Record<string, string> {
    const { database, password } = this.#config;
    return { authorization: `bearer ${password}`, 'x-odoo-database': database };
  }

  async #logIn(request: RequestOptions): Promise<number> {
    const { url, database, user, password, protocol } = this.#config;
    if (protocol === 'json2') {
      const context = await this.call('reads', { model: 'res.users', method: 'context_get' }, request);
      return readAs(context, (told) => asId(asRecord(told).uid ?? null));
    }
    const found = await this.#rpc(
      'reads',
      { service: 'common', method: 'login', args: [database, user, password] },
      'login',
      request,
    );
    if (found === false || found === null) {
      throw new ErpError('auth', `Odoo refuses the user ${user} or its password or API key`);
    }
    if (typeof found !== 'number') {
      throw new ErpError('auth', `${url} does not log in as Odoo does: it is no Odoo, or of another version`);
    }
    this.#log.debug({ user }, 'Odoo: logged in');
    return found;
  }

  async #rpc(
    doing: Doing,
    params: JsonObject,
    name: string,
    request: RequestOptions,
    returnsNothing = false,
  ): Promise<JsonValue> {
    const body = { jsonrpc: '2.0', method: 'call', id: ++this.#requests, params };
    const answer = await this.#post(doing, '/jsonrpc', {}, body, request, name);
    return this.#result(rpcOutcome(answer, body.id, returnsNothing), answer, doing, name);
  }

  async #post(
    doing: Doing,
    path: string,
    headers: Record<string, string>,
    body: JsonValue,
    request: RequestOptions,
    method = path,
  ): Promise<Answer> {
    const sent = { path, headers, body: stringifyJson(body), method };
    return answerTo(this.#transport, doing, sent, request);
  }

  #result(outcome: Outcome, answer: Answer, doing: Doing, method: string): JsonValue {
    if ('error' in outcome && outcome.error.means === 'auth') this.#userId = null;
    return resultOf(outcome, { doing, method, answer, name: 'Odoo' }, this.#log);
  }
}

/** Methods whose first argument Odoo wants by its place. */
const byPlace = new Set(['create']);

/** Model, method, arguments by place and by name of `execute_kw`. */
function executeOf({ model, method, ids, args = {} }: OdooCall, context: JsonObject): JsonValue[] {
  const records = ids === undefined ? [] : [[...ids]];
  const placed = byPlace.has(method) ? Object.values(args) : [];
  return [model, method, [...records, ...placed], { ...(placed.length > 0 ? {} : args), context }];
}

function json2Of({ model, method, ids, args = {} }: OdooCall, context: JsonObject): { path: string; body: JsonObject } {
  return {
    path: `/json/2/${encodeURIComponent(model)}/${encodeURIComponent(method)}`,
    body: { ...(ids === undefined ? {} : { ids: [...ids] }), ...args, context },
  };
}

/**
 * JSON-RPC: HTTP 200 with the request's own id, and `result` or `error`. An answer of another id is another request's, and one with
 * neither says nothing, unless the method returns nothing.
 */
function rpcOutcome(answer: Answer, id: number, returnsNothing = false): Outcome {
  const body = answer.status === 200 ? valueIn(answer.text) : undefined;
  if (body === undefined) return { error: pageError(answer, odooCapabilities.errors) };
  if (!isJsonObject(body) || body.jsonrpc !== '2.0') {
    return { error: new ErpError('doubt', 'the answer is not one of Odoo’s: it is no JSON-RPC') };
  }
  if (body.id !== id) {
    return { error: new ErpError('doubt', 'the answer is that to another request: it has another id') };
  }
  if (body.error === undefined || body.error === null) {
    if (body.result !== undefined || returnsNothing) return { result: body.result ?? null };
    return { error: new ErpError('doubt', 'the answer is not one of Odoo’s: it has neither result nor error') };
  }
  const data = isJsonObject(body.error) && isJsonObject(body.error.data) ? body.error.data : {};
  return { error: toldError(data, answer) };
}

/** `/json/2`: the result itself with HTTP 200; an error tells its name with another status. */
function json2Outcome(answer: Answer): Outcome {
  const value = valueIn(answer.text);
  if (answer.status === 200 && value !== undefined) return { result: value };
  // Odoo says the same of all of them.
  if (answer.status === 401) {
    const why = 'it is wrong, of another database, or has ended';
    return { error: new ErpError('auth', `Odoo refuses the API key: ${why}`) };
  }
  if (answer.status !== 200 && isJsonObject(value) && typeof value.name === 'string') {
    return { error: toldError(value, answer) };
  }
  return { error: pageError(answer, odooCapabilities.errors) };
}

/** What Odoo told of its exception: `name` and `message`. */
function toldError({ name, message }: JsonObject, answer: Answer): ErpError {
  const code = typeof name === 'string' ? name : null;
  const text = typeof message === 'string' && message !== '' ? message : (code ?? 'an error without a text');
  const known = explain({ http: answer.status, code, text }, odooCapabilities.errors);
  return withRetry(known, answer);
}

function valueIn(text: string): JsonValue | undefined {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
