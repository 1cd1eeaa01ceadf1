import type { OdooConfig } from '../../../config/erp.ts';
import { keepSecret } from '../../../domain/redact.ts';
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from '../../../records/json.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import type { Logger } from '../../deliver/slice.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { explain } from '../api/explain.ts';
import { asId, asList, asRecord, readAs, wholeNumber } from '../api/form.ts';
import {
  type Access,
  type Answer,
  answerTo,
  ErpHttp,
  type ErpRequest,
  type Outcome,
  pageError,
  resultOf,
  valueIn,
  withRetry,
} from '../api/http.ts';
import { odooCapabilities } from './capabilities.ts';

/** Sends requests to Odoo: over HTTP, or to a fake server in tests. */
export interface OdooTransport {
  /** Sends a request once. Throws NoAnswer, or the signal's reason. */
  send(request: ErpRequest, options: Pick<RequestOptions, 'signal'>): Promise<Answer>;
  close(): void;
}

/** A call of a model's method. */
export interface OdooCall {
  model: string;
  method: string;
  /** Ids of the records; absent for a method of the model. */
  ids?: readonly number[];
  /** Arguments by name. */
  args?: JsonObject;
  context?: JsonObject;
  /** The method returns nothing, so a JSON-RPC answer without a result is correct. */
  returnsNothing?: true;
}

/** English texts, because errors are recognised by their texts. Times are in UTC. */
const plainContext: JsonObject = { lang: 'en_US', tz: 'UTC' };

/**
 * Calls methods of models over one of Odoo's two protocols: JSON-RPC (17 to 19) or `/json/2` (19). It sends each
 * request once, and turns every error into an ErpError.
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

  /** The user's id in Odoo. The first call logs in, and fails if the password or API key is wrong. */
  async userId(request: RequestOptions): Promise<number> {
    this.#userId ??= await this.#logIn(request);
    return this.#userId;
  }

  /** Major version of the server: 17 for `17.0`, 18 for `saas~18.2`. */
  async version(request: RequestOptions): Promise<number> {
    const body = { jsonrpc: '2.0', id: ++this.#requests, params: {} };
    const answer = await this.#post('reads', '/web/webclient/version_info', {}, body, request);
    const value = this.#result(rpcOutcome(answer, body.id), answer, 'reads', 'version_info');
    return readAs(value, (info) => {
      const [major] = asList(asRecord(info).server_version_info ?? null);
      // Releases of Odoo Online between two versions have a prefix: `saas~18`.
      return typeof major === 'string' ? wholeNumber(major.replace(/^\D+/, '')) : asId(major ?? null);
    });
  }

  /** Calls a method. Throws ErpError, or the signal's reason. */
  async call(access: Access, call: OdooCall, request: RequestOptions): Promise<JsonValue> {
    const context = { ...plainContext, ...call.context };
    const name = `${call.model}.${call.method}`;
    if (this.#config.protocol === 'json2') {
      const { path, body } = json2Of(call, context);
      const answer = await this.#post(access, path, this.#bearer, body, request);
      return this.#result(json2Outcome(answer), answer, access, name);
    }
    const userId = await this.userId(request);
    const { database, password } = this.#config;
    const params = [database, userId, password, ...executeOf(call, context)];
    return this.#rpc(
      access,
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
      return readAs(context, (info) => asId(asRecord(info).uid ?? null));
    }
    const found = await this.#rpc(
      'reads',
      { service: 'common', method: 'login', args: [database, user, password] },
      'login',
      request,
    );
    if (found === false || found === null) {
      throw new ErpError('auth', erpAnswerTexts.loginRefused({ erp: 'Odoo', user }));
    }
    if (typeof found !== 'number') {
      throw new ErpError('auth', erpAnswerTexts.notTheErp({ erp: 'Odoo', url }));
    }
    this.#log.debug({ user }, 'Odoo: logged in');
    return found;
  }

  async #rpc(
    access: Access,
    params: JsonObject,
    name: string,
    request: RequestOptions,
    returnsNothing = false,
  ): Promise<JsonValue> {
    const body = { jsonrpc: '2.0', method: 'call', id: ++this.#requests, params };
    const answer = await this.#post(access, '/jsonrpc', {}, body, request, name);
    return this.#result(rpcOutcome(answer, body.id, returnsNothing), answer, access, name);
  }

  async #post(
    access: Access,
    path: string,
    headers: Record<string, string>,
    body: JsonValue,
    request: RequestOptions,
    method = path,
  ): Promise<Answer> {
    const sent = { path, headers, body: stringifyJson(body), method };
    return answerTo(this.#transport, access, sent, request);
  }

  #result(outcome: Outcome, answer: Answer, access: Access, method: string): JsonValue {
    if ('error' in outcome && outcome.error.means === 'auth') this.#userId = null;
    return resultOf(outcome, { access, method, answer, name: 'Odoo' }, this.#log);
  }
}

/** Methods whose first argument has to be positional. */
const byPlace = new Set(['create']);

/** The arguments of `execute_kw`: model, method, positional arguments, named arguments. */
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
 * The outcome of a JSON-RPC answer: HTTP 200 with the id of the request, and `result` or `error`. An answer with
 * another id belongs to another request. An answer with neither is an error, unless the method returns nothing.
 */
function rpcOutcome(answer: Answer, id: number, returnsNothing = false): Outcome {
  const body = answer.status === 200 ? valueIn(answer.text) : undefined;
  if (body === undefined) return { error: pageError(answer, odooCapabilities.errors) };
  if (!isJsonObject(body) || body.jsonrpc !== '2.0') {
    return { error: new ErpError('doubt', erpAnswerTexts.notJsonRpc({ erp: 'Odoo' })) };
  }
  if (body.id !== id) {
    return { error: new ErpError('doubt', erpAnswerTexts.otherRequest) };
  }
  if (body.error === undefined || body.error === null) {
    if (body.result !== undefined || returnsNothing) return { result: body.result ?? null };
    return { error: new ErpError('doubt', erpAnswerTexts.noResult({ erp: 'Odoo' })) };
  }
  const data = isJsonObject(body.error) && isJsonObject(body.error.data) ? body.error.data : {};
  return { error: serverError(data, answer) };
}

/**
 * The outcome of a `/json/2` answer: the result with HTTP 200. An error has another status, and names the exception.
 */
function json2Outcome(answer: Answer): Outcome {
  const value = valueIn(answer.text);
  if (answer.status === 200 && value !== undefined) return { result: value };
  if (answer.status === 401) {
    // Odoo gives the same answer for a wrong key, another database and an expired key.
    return { error: new ErpError('auth', erpAnswerTexts.keyRefused({ erp: 'Odoo' })) };
  }
  if (answer.status !== 200 && isJsonObject(value) && typeof value.name === 'string') {
    return { error: serverError(value, answer) };
  }
  return { error: pageError(answer, odooCapabilities.errors) };
}

/** The error that an answer describes: the exception's `name` and `message`. */
function serverError({ name, message }: JsonObject, answer: Answer): ErpError {
  const code = typeof name === 'string' ? name : null;
  const text = typeof message === 'string' && message !== '' ? message : (code ?? erpAnswerTexts.withoutText);
  const known = explain({ http: answer.status, code, text }, odooCapabilities.errors);
  return withRetry(known, answer);
}
