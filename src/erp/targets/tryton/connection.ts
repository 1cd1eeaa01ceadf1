import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got, { type Got, RequestError, TimeoutError } from 'got';
import type { TrytonConfig } from '../../../config/erp.ts';
import { keepSecret } from '../../../domain/redact.ts';
import { type RequestIds, requestIds } from '../../../domain/request-ids.ts';
import { isJsonObject, type JsonObject, type JsonValue, readJson, stringifyJson } from '../../../records/json.ts';
import type { Logger } from '../../deliver/slice.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { trytonCapabilities } from './capabilities.ts';
import { explain, harmless } from './explain.ts';
import { asId, asList, asText, FormError, wholeNumber } from './wire.ts';

const connectMs = 10_000;
const logoutMs = 2_000;
const maxBytes = 64 * 1024 * 1024;

/** Errors before a connection existed: the server cannot have received the request. */
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
const connectEvents = ['lookup', 'connect', 'secureConnect'];

/** What a request does: an error of one that only reads never leaves a doubt. */
export type Doing = 'reads' | 'writes';

interface Session {
  userId: number;
  header: string;
}

/**
 * Tryton's JSON-RPC: logs in with the password when it needs a session, sends each request once, and turns every error into an
 * ErpError. Only a request that was refused because its session had ended, before anything was done, is sent again.
 */
export class TrytonConnection {
  readonly #config: Pick<TrytonConfig, 'url' | 'database' | 'user' | 'password' | 'timeoutSeconds'>;
  readonly #log: Logger;
  readonly #http: Got;
  readonly #agent: { http: HttpAgent; https: HttpsAgent };
  #session: Session | null = null;
  #requests = 0;

  constructor(config: TrytonConfig, log: Logger) {
    this.#config = config;
    this.#log = log;
    keepSecret(config.password);
    // Without keep-alive: a connection that the server closes as it is used again would leave a request in doubt.
    this.#agent = { http: new HttpAgent({ keepAlive: false }), https: new HttpsAgent({ keepAlive: false }) };
    const requestMs = config.timeoutSeconds * 1_000;
    this.#http = got.extend({
      agent: this.#agent,
      method: 'POST',
      retry: { limit: 0 },
      followRedirect: false,
      throwHttpErrors: false,
      responseType: 'text',
      timeout: {
        lookup: connectMs,
        connect: connectMs,
        secureConnect: connectMs,
        response: requestMs,
        request: requestMs,
      },
      headers: { 'user-agent': 'vetledger', 'content-type': 'application/json', accept: 'application/json' },
    });
  }

  /** The user's id in Tryton. */
  async userId(request: RequestOptions): Promise<number> {
    return (await this.#open(request)).userId;
  }

  /** Calls a method; its last parameter is the context. Throws ErpError, or the signal's reason. */
  async call(doing: Doing, method: string, params: readonly JsonValue[], request: RequestOptions): Promise<JsonValue> {
    for (let again = false; ; again = true) {
      const session = await this.#open(request);
      const { path } = this;
      const answer = await this.#send(path, method, params, request, session.header).catch((error: unknown) => {
        throw error instanceof NoAnswer ? error.toErpError(doing) : error;
      });
      // Nothing was done: the session is looked at first.
      if (answer.status === 401 && !again) {
        this.#session = null;
        continue;
      }
      return this.#result(answer, doing, method);
    }
  }

  /** Version of the server, without a session. */
  async version(request: RequestOptions): Promise<string> {
    const answer = await this.#send('/rpc/', 'common.server.version', [], request).catch((error: unknown) => {
      throw error instanceof NoAnswer ? error.toErpError('reads') : error;
    });
    return textOf(this.#result(answer, 'reads', 'common.server.version'));
  }

  /** Ends the session, as far as that can be done quickly. */
  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    if (session !== null) {
      const request = { signal: AbortSignal.timeout(logoutMs), priority: 0 };
      await this.#send(this.path, 'common.db.logout', [], request, session.header).catch(() => {});
    }
    this.#agent.http.destroy();
    this.#agent.https.destroy();
  }

  get path(): string {
    return `/${encodeURIComponent(this.#config.database)}/rpc/`;
  }

  async #open(request: RequestOptions): Promise<Session> {
    this.#session ??= await this.#logIn(request);
    return this.#session;
  }

  async #logIn(request: RequestOptions): Promise<Session> {
    const { user, password, database, url } = this.#config;
    const answer = await this.#send(this.path, 'common.db.login', [user, { password }, 'en'], request).catch(
      (error: unknown) => {
        throw error instanceof NoAnswer ? error.toErpError('reads') : error;
      },
    );
    if (answer.status === 401) throw new ErpError('auth', `Tryton refuses the user ${user} or its password`);
    if (answer.status === 404) throw new ErpError('auth', `${url} has no Tryton database ${database}`);
    const result = this.#result(answer, 'reads', 'common.db.login');
    const [id, token] = Array.isArray(result) ? result : [];
    if (typeof id !== 'number' || typeof token !== 'string') {
      throw new ErpError('auth', `${url} does not log in as Tryton does: it is no Tryton, or of another version`);
    }
    keepSecret(token);
    this.#log.debug({ user }, 'Tryton: logged in');
    return { userId: id, header: `Session ${Buffer.from(`${user}:${id}:${token}`).toString('base64')}` };
  }

  /** The result of an answer; one that is none is told in the log, without the server's text. Throws ErpError. */
  #result(answer: Answer, doing: Doing, method: string): JsonValue {
    try {
      return resultOf(answer, doing);
    } catch (error) {
      if (error instanceof ErpError) {
        const { means, problem } = error;
        const level = means === 'refused' ? 'debug' : 'warn';
        this.#log[level]({ ...answer.ids, method, status: answer.status, means, problem }, 'Tryton: no result');
      }
      throw error;
    }
  }

  /** Sends a request once. Throws NoAnswer, or the signal's reason. */
  async #send(
    path: string,
    method: string,
    params: readonly JsonValue[],
    { signal }: RequestOptions,
    authorization?: string,
  ): Promise<Answer> {
    signal.throwIfAborted();
    const body = stringifyJson({ id: ++this.#requests, method, params });
    const stop = new AbortController();
    const giveUp = () => stop.abort(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    const begun = performance.now();
    const id = randomUUID().slice(0, 8);
    try {
      const answering = this.#http(`${this.#config.url}${path}`, {
        body,
        signal: stop.signal,
        headers: authorization === undefined ? {} : { authorization },
      });
      answering.on('downloadProgress', ({ transferred }) => {
        if (transferred > maxBytes) stop.abort(new TooLarge());
      });
      const { statusCode: status, body: text, headers } = await answering;
      const ids = requestIds(id, headers);
      const ms = Math.round(performance.now() - begun);
      this.#log.debug({ ...ids, method, status, bytes: body.length, ms }, 'Tryton');
      return { status, text, retryAfter: headers['retry-after'] ?? null, ids };
    } catch (error) {
      signal.throwIfAborted();
      const failed = noAnswer(stop.signal.reason instanceof TooLarge ? stop.signal.reason : error);
      if (failed instanceof NoAnswer)
        this.#log.warn({ ...requestIds(id), method }, `Tryton: ${harmless(failed.message)}`);
      throw failed;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }
}

interface Answer {
  status: number;
  text: string;
  retryAfter: string | null;
  ids: RequestIds;
}

class TooLarge extends Error {}

/** No answer came. */
class NoAnswer extends Error {
  /** Whether the server may have received the request. */
  readonly sent: boolean;

  constructor(message: string, sent: boolean) {
    super(message);
    this.sent = sent;
  }

  toErpError(doing: Doing): ErpError {
    return new ErpError(doing === 'writes' && this.sent ? 'doubt' : 'unsent', harmless(this.message));
  }
}

function noAnswer(error: unknown): unknown {
  if (error instanceof TooLarge) {
    return new NoAnswer(`the answer is larger than ${maxBytes / 1024 / 1024} MB`, true);
  }
  if (error instanceof TimeoutError) {
    const sent = !connectEvents.includes(error.event);
    return new NoAnswer(`${sent ? 'no answer' : 'no connection'} in time (${error.event} time-out)`, sent);
  }
  if (error instanceof RequestError) {
    const sent = !neverConnected.has(error.code);
    return new NoAnswer(sent ? `the connection broke off (${error.code})` : `no connection (${error.message})`, sent);
  }
  return error;
}

const firstServerError = 500;
const pageLength = 200;

/** The result of an answer. Throws ErpError for every other answer. */
function resultOf(answer: Answer, doing: Doing): JsonValue {
  const body = answer.status === 200 ? objectIn(answer.text) : null;
  if (body !== null && 'result' in body) return body.result;
  const error = errorOf(answer, body);
  // A request that only reads has done nothing, whatever became of it.
  if (doing === 'writes' || (error.means !== 'doubt' && error.means !== 'locked')) throw error;
  throw new ErpError('unsent', error.message, { retryAfterMs: error.retryAfterMs });
}

function errorOf({ status, text, retryAfter }: Answer, body: JsonObject | null): ErpError {
  if (body !== null) {
    const told = toldError(body.error);
    if (told !== null) return explain({ http: status, ...told }, trytonCapabilities.errors);
    return new ErpError('doubt', 'the answer is not one of Tryton’s: it has neither result nor error');
  }
  const page = pageText(text);
  if (status === 200) {
    return new ErpError('doubt', `the answer is not JSON, or was cut off: ${harmless(page)}`);
  }
  const known = explain({ http: status, code: null, text: page }, trytonCapabilities.errors);
  const message = harmless(`HTTP ${status} ${page}`);
  const retryAfterMs = retryAfterMsOf(retryAfter);
  // A page tells nothing of what has become of the request; a refusal by pattern does.
  if (known.problem === 'erp_refused_unknown') {
    const isServers = status >= firstServerError;
    return new ErpError('doubt', message, isServers ? { retryAfterMs } : { problem: 'erp_refused_unknown' });
  }
  return new ErpError(known.means, message, {
    ...(known.problem === null ? {} : { problem: known.problem }),
    retryAfterMs,
  });
}

/** Seconds only: Tryton and the proxies in front of it write no dates there. */
function retryAfterMsOf(header: string | null): number | null {
  return header !== null && /^\d{1,5}$/.test(header) ? wholeNumber(header) * 1_000 : null;
}

function objectIn(text: string): JsonObject | null {
  try {
    const value = readJson(text);
    return isJsonObject(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** `["UserError", [text, description, domain]]` of Tryton's own exceptions, `[text, trace]` of any other. */
function toldError(error: JsonValue): { code: string | null; text: string } | null {
  if (!Array.isArray(error) || typeof error[0] !== 'string') return null;
  const [first, second] = error;
  if (!Array.isArray(second)) return { code: null, text: first };
  const [text] = second;
  return { code: first, text: typeof text === 'string' ? text : first };
}

function pageText(text: string): string {
  return text
    .slice(0, 20_000)
    .replace(/<(title|h1)\b[^>]*>[^<]*<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, pageLength);
}

/** Reads an answer in a form that only Tryton has. Throws ErpError `unsent` where it has another. */
export function readAs<Value>(value: JsonValue, read: (value: JsonValue) => Value): Value {
  try {
    return read(value);
  } catch (error) {
    if (error instanceof FormError) {
      throw new ErpError('unsent', `the answer has not the form of Tryton’s: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

function textOf(value: JsonValue): string {
  return readAs(value, asText);
}

/** The ids that a writing request answered with; after any other answer nobody knows what was done. */
export function idsOf(value: JsonValue): number[] {
  try {
    return asList(value).map(asId);
  } catch (error) {
    if (error instanceof FormError)
      throw new ErpError('doubt', `the answer has not the form of Tryton’s: ${error.message}`);
    throw error;
  }
}
