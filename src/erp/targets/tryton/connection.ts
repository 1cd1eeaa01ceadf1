import type { TrytonConfig } from '../../../config/erp.ts';
import { keepSecret, keepToken } from '../../../domain/redact.ts';
import { type JsonObject, type JsonValue, stringifyJson } from '../../../records/json.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import type { Logger } from '../../deliver/slice.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { explain } from '../api/explain.ts';
import { asId, asList, asText, readAs, writtenAs } from '../api/form.ts';
import {
  type Access,
  type Answer,
  answerTo,
  ErpHttp,
  type Outcome,
  objectIn,
  pageError,
  resultOf,
} from '../api/http.ts';
import { trytonCapabilities } from './capabilities.ts';

const logoutMs = 2_000;

/** An answer, with the id of its request. */
type Sent = Answer & { rpcId: number };

interface Session {
  userId: number;
  header: string;
}

/**
 * Tryton's JSON-RPC. It logs in with the password when it needs a session, sends each request once, and turns every
 * error into an ErpError. Only a request that was refused because its session had ended is sent again, since Tryton did
 * nothing.
 */
export class TrytonConnection {
  readonly #config: Pick<TrytonConfig, 'url' | 'database' | 'user' | 'password' | 'timeoutSeconds'>;
  readonly #log: Logger;
  readonly #http: ErpHttp;
  #session: Session | null = null;
  #requests = 0;

  constructor(config: TrytonConfig, log: Logger) {
    this.#config = config;
    this.#log = log;
    keepSecret(config.password);
    this.#http = new ErpHttp(config, 'Tryton', log);
  }

  /** The user's id in Tryton. */
  async userId(request: RequestOptions): Promise<number> {
    return (await this.#open(request)).userId;
  }

  /** Calls a method. The last parameter is the context. Throws ErpError, or the signal's reason. */
  async call(
    access: Access,
    method: string,
    params: readonly JsonValue[],
    request: RequestOptions,
  ): Promise<JsonValue> {
    for (let again = false; ; again = true) {
      const session = await this.#open(request);
      const { path } = this;
      const answer = await this.#send(access, path, method, params, request, session.header);
      // Tryton checks the session first, so it did nothing.
      if (answer.status === 401 && !again) {
        this.#session = null;
        continue;
      }
      return this.#result(answer, access, method);
    }
  }

  /** Version of the server. Needs no session. */
  async version(request: RequestOptions): Promise<string> {
    const answer = await this.#send('reads', '/rpc/', 'common.server.version', [], request);
    return readAs(this.#result(answer, 'reads', 'common.server.version'), asText);
  }

  /** Ends the session. It waits at most `logoutMs`. */
  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    if (session !== null) {
      const request = { signal: AbortSignal.timeout(logoutMs), priority: 0 };
      await this.#send('reads', this.path, 'common.db.logout', [], request, session.header).catch(() => {});
    }
    this.#http.close();
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
    const answer = await this.#send('reads', this.path, 'common.db.login', [user, { password }, 'en'], request);
    if (answer.status === 401) throw new ErpError('auth', erpAnswerTexts.loginRefused({ erp: 'Tryton', user }));
    if (answer.status === 404) throw new ErpError('auth', erpAnswerTexts.noDatabase({ erp: 'Tryton', url, database }));
    const result = this.#result(answer, 'reads', 'common.db.login');
    const [id, token] = Array.isArray(result) ? result : [];
    if (typeof id !== 'number' || typeof token !== 'string') {
      throw new ErpError('auth', erpAnswerTexts.notTheErp({ erp: 'Tryton', url }));
    }
    keepToken(token);
    this.#log.debug({ user }, 'Tryton: logged in');
    return { userId: id, header: `Session ${Buffer.from(`${user}:${id}:${token}`).toString('base64')}` };
  }

  #result(answer: Sent, access: Access, method: string): JsonValue {
    return resultOf(outcomeOf(answer), { access, method, answer, name: 'Tryton' }, this.#log);
  }

  /** Sends a request once. Throws ErpError, or the signal's reason. */
  async #send(
    access: Access,
    path: string,
    method: string,
    params: readonly JsonValue[],
    request: RequestOptions,
    authorization?: string,
  ): Promise<Sent> {
    const rpcId = ++this.#requests;
    const body = stringifyJson({ id: rpcId, method, params });
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    return { ...(await answerTo(this.#http, access, { path, headers, body, method }, request)), rpcId };
  }
}

function outcomeOf(answer: Sent): Outcome {
  const body = answer.status === 200 ? objectIn(answer.text) : null;
  if (body !== null && body.id === answer.rpcId && body.error == null && 'result' in body)
    return { result: body.result };
  return { error: errorOf(answer, body) };
}

function errorOf(answer: Sent, body: JsonObject | null): ErpError {
  if (body !== null && body.id !== answer.rpcId) {
    return new ErpError('doubt', erpAnswerTexts.otherRequest);
  }
  if (body !== null) {
    const error = serverError(body.error);
    if (error !== null) return explain({ http: answer.status, ...error }, trytonCapabilities.errors);
    return new ErpError('doubt', erpAnswerTexts.noResult({ erp: 'Tryton' }));
  }
  return pageError(answer, trytonCapabilities.errors);
}

/** Tryton's own exceptions are `["UserError", [text, description, domain]]`; any other is `[text, trace]`. */
function serverError(error: JsonValue): { code: string | null; text: string } | null {
  if (!Array.isArray(error) || typeof error[0] !== 'string') return null;
  const [first, second] = error;
  if (!Array.isArray(second)) return { code: null, text: first };
  const [text] = second;
  return { code: first, text: typeof text === 'string' ? text : first };
}

/** The ids in the answer to a writing request. */
export function idsOf(value: JsonValue): number[] {
  return writtenAs(value, (ids) => asList(ids).map(asId));
}
