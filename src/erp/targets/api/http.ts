import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got, { type Got, RequestError, TimeoutError } from 'got';
import { type RequestIds, requestIds } from '../../../domain/request-ids.ts';
import { retryAfterMs } from '../../../domain/retry-after.ts';
import { isJsonObject, type JsonObject, type JsonValue, readJson } from '../../../records/json.ts';
import type { ErrorPattern } from '../../capabilities.ts';
import type { Logger } from '../../deliver/slice.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { explain, harmless } from './explain.ts';

const connectMs = 10_000;
const maxBytes = 64 * 1024 * 1024;

/** Errors before a connection existed: the server cannot have received the request. */
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
const connectEvents = ['lookup', 'connect', 'secureConnect'];

/** What a request does: an error of one that only reads never leaves a doubt. */
export type Doing = 'reads' | 'writes';

export interface Answer {
  status: number;
  text: string;
  /** The header, seconds or a date. */
  retryAfter: string | null;
  /** The server's time by its header; dates are taken by our clock without it. */
  date?: string | null;
  ids: RequestIds;
}

/** A request to an ERP: a JSON text that is posted. */
export interface ErpRequest {
  /** Below the ERP's address, with its slash. */
  path: string;
  headers: Record<string, string>;
  body: string;
  /** What the log calls it. */
  method: string;
}

/** Posts each request once, to one ERP, and never follows a redirect. */
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
    // Without keep-alive: a connection that the server closes as it is used again would leave a request in doubt.
    this.#agent = { http: new HttpAgent({ keepAlive: false }), https: new HttpsAgent({ keepAlive: false }) };
    const requestMs = timeoutSeconds * 1_000;
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

  /** Sends a request once. Throws NoAnswer, or the signal's reason. */
  async post({ path, headers, body, method }: ErpRequest, { signal }: Pick<RequestOptions, 'signal'>): Promise<Answer> {
    signal.throwIfAborted();
    const stop = new AbortController();
    const giveUp = () => stop.abort(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    const begun = performance.now();
    const id = randomUUID().slice(0, 8);
    try {
      const answering = this.#http(`${this.#url}${path}`, { body, signal: stop.signal, headers });
      answering.on('downloadProgress', ({ transferred }) => {
        if (transferred > maxBytes) stop.abort(new TooLarge());
      });
      const { statusCode: status, body: text, headers: told } = await answering;
      const ids = requestIds(id, told);
      const ms = Math.round(performance.now() - begun);
      this.#log.debug({ ...ids, method, status, bytes: body.length, ms }, this.#name);
      return { status, text, retryAfter: told['retry-after'] ?? null, date: told.date ?? null, ids };
    } catch (error) {
      signal.throwIfAborted();
      const failed = noAnswer(stop.signal.reason instanceof TooLarge ? stop.signal.reason : error);
      if (failed instanceof NoAnswer)
        this.#log.warn({ ...requestIds(id), method }, `${this.#name}: ${harmless(failed.message)}`);
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

class TooLarge extends Error {}

/** Sends a request once. Throws ErpError, or the signal's reason. */
export async function answerTo(
  transport: Pick<ErpHttp, 'post'>,
  doing: Doing,
  sent: ErpRequest,
  request: Pick<RequestOptions, 'signal'>,
): Promise<Answer> {
  try {
    return await transport.post(sent, request);
  } catch (error) {
    throw error instanceof NoAnswer ? error.toErpError(doing) : error;
  }
}

/** No answer came. */
export class NoAnswer extends Error {
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

const firstRefusal = 400;
const requestTimeout = 408;
const firstServerError = 500;

/**
 * What an answer means that is not the ERP's own, such as a page of a proxy. It tells nothing of what has become of the request,
 * unless a pattern knows its status. Only a status that says no to the request may be about what was sent: for any other no entry
 * is ever refused.
 */
export function pageError(answer: Answer, patterns: readonly ErrorPattern[]): ErpError {
  const { status, text } = answer;
  const page = pageText(text);
  if (status === 200) return new ErpError('doubt', `the answer is not JSON, or was cut off: ${harmless(page)}`);
  const { means, problem } = explain({ http: status, code: null, text: page }, patterns);
  const saysNo = status >= firstRefusal && status < firstServerError && status !== requestTimeout;
  const isTold = problem !== null && (means !== 'doubt' || saysNo);
  return withRetry(new ErpError(means, harmless(`HTTP ${status} ${page}`), isTold ? { problem } : {}), answer);
}

/** An error with the time that is to be waited by the header of its answer, 15 minutes at most as for the source. */
export function withRetry(error: ErpError, { retryAfter, date }: Pick<Answer, 'retryAfter' | 'date'>): ErpError {
  const serverNow = Date.parse(date ?? '');
  const waitMs = retryAfterMs(retryAfter ?? undefined, Number.isNaN(serverNow) ? Date.now() : serverNow);
  if (waitMs === null) return error;
  const { means, message, problem, keys } = error;
  return new ErpError(means, message, { ...(problem === null ? {} : { problem }), keys, retryAfterMs: waitMs });
}

/** What an answer says: its result, or what it means otherwise. */
export type Outcome = { result: JsonValue } | { error: ErpError };

/** The result of an answer. One that is none is told in the log, without the server's text. Throws ErpError. */
export function resultOf(
  outcome: Outcome,
  { doing, method, answer, name }: { doing: Doing; method: string; answer: Answer; name: string },
  log: Logger,
): JsonValue {
  if ('result' in outcome) return outcome.result;
  const { means, problem, message, retryAfterMs } = outcome.error;
  const told = { ...answer.ids, method, status: answer.status, means, problem };
  log[means === 'refused' ? 'debug' : 'warn'](told, `${name}: no result`);
  // A request that only reads has done nothing, whatever became of it.
  if (doing === 'writes' || (means !== 'doubt' && means !== 'locked')) throw outcome.error;
  throw new ErpError('unsent', message, { retryAfterMs });
}

/** The object that a text is; null where it is none. */
export function objectIn(text: string): JsonObject | null {
  try {
    const value = readJson(text);
    return isJsonObject(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

const pageLength = 200;

/** So much of a page is looked at. */
const longestPage = 20_000;

/** What a page of HTML says, in short: without its tags, and without its title and first heading, which say the status again. */
function pageText(page: string): string {
  const text = page.slice(0, longestPage);
  let said = '';
  let skips = false;
  for (let at = 0; at < text.length; ) {
    const opening = text.indexOf('<', at);
    const closing = opening < 0 ? -1 : text.indexOf('>', opening);
    if (!skips) said += `${text.slice(at, closing < 0 ? text.length : opening)} `;
    if (closing < 0) break;
    const [, ends = '', name = ''] = /^<(\/?)([a-z0-9]{0,10})/i.exec(text.slice(opening, opening + 12)) ?? [];
    if (/^(?:title|h1)$/i.test(name)) skips = ends === '';
    at = closing + 1;
  }
  return said.replace(/\s+/g, ' ').trim().slice(0, pageLength);
}
