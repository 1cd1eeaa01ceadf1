import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got, { type Got, RequestError, TimeoutError } from 'got';
import type { Clock } from '../../../domain/clock.ts';
import { type RequestIds, requestIds } from '../../../domain/request-ids.ts';
import { retryAfterMs } from '../../../domain/retry-after.ts';
import { isJsonObject, type JsonObject, type JsonValue, readJson } from '../../../records/json.ts';
import { connectionTexts } from '../../../texts/connections.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import type { ErrorPattern } from '../../capabilities.ts';
import { type CodePage, encode } from '../../code-pages.ts';
import type { Logger } from '../../deliver/slice.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { decoded } from './decode.ts';
import { explain, safeText } from './explain.ts';

const connectMs = 10_000;
const maxBytes = 64 * 1024 * 1024;

/** Errors before a connection existed. The server cannot have received the request. */
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
const connectEvents = ['lookup', 'connect', 'secureConnect'];

/** Whether a request only reads, or writes. An error of a reading request never causes a doubt. */
export type Access = 'reads' | 'writes';

export interface Answer {
  status: number;
  text: string;
  /** The header `retry-after`: seconds or a date. */
  retryAfter: string | null;
  /** The header `date`, the server's time. Without it, our clock is used to evaluate `retry-after`. */
  date?: string | null;
  /** Absent in the answers of fakes without HTTP. */
  headers?: Record<string, string | string[] | undefined>;
  ids: RequestIds;
}

export interface ErpRequest {
  /** `POST` if absent. */
  verb?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path below the ERP's address, with a leading slash. */
  path: string;
  /** Parameters of the address. */
  query?: Record<string, string>;
  headers: Record<string, string>;
  /** The text of the body; empty if the request has none. JSON unless `headers` name another type. */
  body: string;
  /** The encoding of the body. UTF-8 if absent. */
  encoding?: CodePage;
  /** The encoding of the answer, if its header does not name it. In `latin1`, each byte is a character. */
  answerEncoding?: 'latin1';
  /** Name of the request in the log. */
  method: string;
}

/** Sends requests to one ERP. It sends each request once, and follows no redirects. */
export class ErpHttp {
  readonly #url: string;
  readonly #name: string;
  readonly #log: Logger;
  readonly #http: Got;
  readonly #agent: { http: HttpAgent; https: HttpsAgent };

  constructor({ url, timeoutSeconds }: { url: string; timeoutSeconds: number }, name: string, log: Logger) {
    this.#url = url;
    this.#name = name;
    this.#log = log;
    // No keep-alive: if the server closed a reused connection, the request would be in doubt.
    this.#agent = { http: new HttpAgent({ keepAlive: false }), https: new HttpsAgent({ keepAlive: false }) };
    const requestMs = timeoutSeconds * 1_000;
    this.#http = got.extend({
      agent: this.#agent,
      retry: { limit: 0 },
      followRedirect: false,
      throwHttpErrors: false,
      timeout: {
        lookup: connectMs,
        connect: connectMs,
        secureConnect: connectMs,
        response: requestMs,
        request: requestMs,
      },
      headers: { 'user-agent': 'vetledger', accept: 'application/json' },
    });
  }

  /** Sends a request once. Throws NoAnswer, or the signal's reason. */
  async send(request: ErpRequest, { signal }: Pick<RequestOptions, 'signal'>): Promise<Answer> {
    const { verb = 'POST', path, query, headers, body, encoding, answerEncoding, method } = request;
    const sent = encoding === undefined ? body : Buffer.from(encode(body, encoding));
    signal.throwIfAborted();
    const stop = new AbortController();
    const giveUp = () => stop.abort(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    const begun = performance.now();
    const id = randomUUID().slice(0, 8);
    try {
      const answering = this.#http(`${this.#url}${path}`, {
        ...{ method: verb, signal: stop.signal, responseType: 'buffer' },
        ...(query && { searchParams: query }),
        ...(body.length > 0 && { body: sent }),
        headers: body.length > 0 ? { 'content-type': 'application/json', ...headers } : headers,
      });
      answering.on('downloadProgress', ({ transferred }) => {
        if (transferred > maxBytes) stop.abort(new TooLarge());
      });
      const { statusCode: status, body: bytes, headers: answered } = await answering;
      const text =
        answerEncoding === undefined
          ? decoded(bytes, answered['content-type'])
          : Buffer.from(bytes).toString(answerEncoding);
      const ids = requestIds(id, answered);
      const ms = Math.round(performance.now() - begun);
      this.#log.debug({ ...ids, method, status, bytes: body.length, ms }, this.#name);
      const { date = null, 'retry-after': retryAfter = null } = answered;
      return { status, text, retryAfter, date, headers: answered, ids };
    } catch (error) {
      signal.throwIfAborted();
      const failed = noAnswer(stop.signal.reason instanceof TooLarge ? stop.signal.reason : error);
      if (failed instanceof NoAnswer)
        this.#log.warn({ ...requestIds(id), method }, `${this.#name}: ${safeText(failed.message)}`);
      throw failed;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  close(): void {
    this.#agent.http.destroy();
    this.#agent.https.destroy();
  }
}

/** Sends requests to an ERP: over HTTP, or to a fake server in tests. */
export type ErpTransport = Pick<ErpHttp, 'send' | 'close'>;

/** What a target gets from outside. */
export interface TargetPorts {
  clock: Clock;
  log: Logger;
  transport?: ErpTransport;
}

class TooLarge extends Error {}

/** Sends a request once. Throws ErpError, or the signal's reason. */
export async function answerTo(
  transport: Pick<ErpHttp, 'send'>,
  access: Access,
  sent: ErpRequest,
  request: Pick<RequestOptions, 'signal' | 'sent'>,
): Promise<Answer> {
  request.sent?.();
  try {
    return await transport.send(sent, request);
  } catch (error) {
    throw error instanceof NoAnswer ? error.toErpError(access) : error;
  }
}

/** A request ended without an answer. */
export class NoAnswer extends Error {
  /** Whether the server may have received the request. */
  readonly sent: boolean;

  constructor(message: string, sent: boolean) {
    super(message);
    this.sent = sent;
  }

  toErpError(access: Access): ErpError {
    return new ErpError(access === 'writes' && this.sent ? 'doubt' : 'unsent', safeText(this.message));
  }
}

function noAnswer(error: unknown): unknown {
  if (error instanceof TooLarge) {
    return new NoAnswer(erpAnswerTexts.answerTooLarge({ megabytes: maxBytes / 1024 / 1024 }), true);
  }
  if (error instanceof TimeoutError) {
    const sent = !connectEvents.includes(error.event);
    const text = sent ? connectionTexts.noAnswerInTime : connectionTexts.noConnectionInTime;
    return new NoAnswer(text({ event: error.event }), sent);
  }
  if (error instanceof RequestError) {
    const sent = !neverConnected.has(error.code);
    const { code, message: reason } = error;
    return new NoAnswer(sent ? connectionTexts.interrupted({ code }) : connectionTexts.noConnection({ reason }), sent);
  }
  return error;
}

const firstRefusal = 400;
const requestTimeout = 408;
const firstServerError = 500;

/**
 * The error for an answer that does not come from the ERP itself, such as a proxy's page. Unless a pattern matches its
 * status, the outcome of the request is unknown. Only a status 4xx may refuse an entry.
 */
export function pageError(answer: Answer, patterns: readonly ErrorPattern[]): ErpError {
  const { status, text } = answer;
  const page = pageText(text);
  if (status === 200) return new ErpError('doubt', erpAnswerTexts.notTheFormat({ page: safeText(page) }));
  const { means, problem } = explain({ http: status, code: null, text: page }, patterns);
  const saysNo = status >= firstRefusal && status < firstServerError && status !== requestTimeout;
  const isKnownRefusal = problem !== null && (means !== 'doubt' || saysNo);
  return withRetry(new ErpError(means, safeText(`HTTP ${status} ${page}`), isKnownRefusal ? { problem } : {}), answer);
}

/** The error with the waiting time of the answer's header `retry-after`, at most 15 minutes. */
export function withRetry(error: ErpError, { retryAfter, date }: Pick<Answer, 'retryAfter' | 'date'>): ErpError {
  const serverNow = Date.parse(date ?? '');
  const waitMs = retryAfterMs(retryAfter ?? undefined, Number.isNaN(serverNow) ? Date.now() : serverNow);
  if (waitMs === null) return error;
  const { means, message, problem, keys } = error;
  return new ErpError(means, message, { ...(problem === null ? {} : { problem }), keys, retryAfterMs: waitMs });
}

/** The content of an answer: its result or its error. */
export type Outcome = { result: JsonValue } | { error: ErpError };

/** The result of an answer. An error is logged without the server's text. Throws ErpError. */
export function resultOf(
  outcome: Outcome,
  { access, method, answer, name }: { access: Access; method: string; answer: Answer; name: string },
  log: Logger,
): JsonValue {
  if ('result' in outcome) return outcome.result;
  const { means, problem, message, retryAfterMs } = outcome.error;
  const fields = { ...answer.ids, method, status: answer.status, means, problem };
  log[means === 'refused' ? 'debug' : 'warn'](fields, `${name}: no result`);
  // A reading request changes nothing, so its outcome is never in doubt.
  if (access === 'writes' || (means !== 'doubt' && means !== 'locked')) throw outcome.error;
  throw new ErpError('unsent', message, { retryAfterMs });
}

/** Parses a JSON object; null if the text is not one. */
export function objectIn(text: string): JsonObject | null {
  const value = valueIn(text);
  return isJsonObject(value) ? value : null;
}

/** Parses JSON; undefined if the text is none. */
export function valueIn(text: string): JsonValue | undefined {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const pageLength = 200;

/** Maximum length of a page that is processed. */
const longestPage = 20_000;

/** The text of an HTML page, shortened. Title and first heading are left out, because they repeat the status. */
function pageText(page: string): string {
  const text = page.slice(0, longestPage);
  let plain = '';
  let skips = false;
  for (let at = 0; at < text.length; ) {
    const opening = text.indexOf('<', at);
    const closing = opening < 0 ? -1 : text.indexOf('>', opening);
    if (!skips) plain += `${text.slice(at, closing < 0 ? text.length : opening)} `;
    if (closing < 0) break;
    const [, ends = '', name = ''] = /^<(\/?)([a-z0-9]{0,10})/i.exec(text.slice(opening, opening + 12)) ?? [];
    if (/^(?:title|h1)$/i.test(name)) skips = ends === '';
    at = closing + 1;
  }
  return plain.replace(/\s+/g, ' ').trim().slice(0, pageLength);
}
