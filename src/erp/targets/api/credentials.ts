import type { Clock } from '../../../domain/clock.ts';
import { unlessAborted } from '../../../domain/concurrency.ts';
import { keepSecret, keepToken } from '../../../domain/redact.ts';
import type { JsonObject } from '../../../records/json.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import type { Logger } from '../../deliver/slice.ts';
import { ErpError, type Expiry, type RequestOptions } from '../../port.ts';
import { type Answer, answerTo, type ErpHttp, type ErpRequest, objectIn, pageError, resultOf } from './http.ts';

/** How requests to an ERP sign in. */
export interface Credentials {
  /** The headers that authorise a request. Throws ErpError: `auth`, or `unsent` without an answer. */
  headers(request: Pick<RequestOptions, 'signal'>): Promise<Record<string, string>>;
  /** The ERP has refused these headers (401). The next ones have another token. */
  refused(headers: Record<string, string>): void;
  /** When the credentials end, as far as it is known. */
  expiries(): Promise<Expiry[]>;
  close(): Promise<void>;
}

const unauthorized = 401;

/**
 * Sends a request with the credentials. After a 401 the ERP has done nothing, so the request is sent once more, with a
 * new token. The caller interprets a second 401.
 */
export async function signedIn(
  credentials: Credentials,
  send: (headers: Record<string, string>) => Promise<Answer>,
  request: Pick<RequestOptions, 'signal'>,
): Promise<Answer> {
  const headers = await credentials.headers(request);
  const answer = await send(headers);
  if (answer.status !== unauthorized) return answer;
  credentials.refused(headers);
  return send(await credentials.headers(request));
}

/** A client of a server that gives tokens. */
export interface TokenClient {
  /** Name of the ERP, for messages. */
  erp: string;
  /** Sends to the server of tokens, which need not be the server of the ERP. */
  transport: Pick<ErpHttp, 'send'>;
  /** Path of the requests for tokens, below the address of that server. */
  path: string;
  clientId: string;
  /** Null for a client without a secret. */
  clientSecret: string | null;
  /** Whether id and secret are fields of the form, or the header of Basic authentication. */
  sentAs: 'form' | 'basic';
  log: Logger;
}

export interface ClientCredentialsOptions extends TokenClient {
  /** Other fields of the form, such as `scope` or an API key. Secrets among them are kept by the caller. */
  form?: Record<string, string>;
  /** Other headers, such as the one that names the company. */
  headers?: Record<string, string>;
  clock: Pick<Clock, 'elapsed'>;
}

/** A request for a token. It has its own time limit, since its answer may serve several requests. */
export function tokenRequest(
  { path, clientId, clientSecret, sentAs }: TokenClient,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): ErpRequest {
  if (clientSecret !== null) keepSecret(clientSecret);
  const isBasic = sentAs === 'basic' && clientSecret !== null;
  const client = { client_id: clientId, ...(clientSecret !== null && { client_secret: clientSecret }) };
  return {
    path,
    headers: {
      ...headers,
      ...(isBasic && { authorization: basic(clientId, clientSecret) }),
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ ...form, ...(!isBasic && client) }).toString(),
    method: 'token',
  };
}

/**
 * OAuth client credentials (RFC 6749, 4.4). A token stays in memory until shortly before its end. Concurrent requests
 * share one request for a token.
 */
export class ClientCredentials implements Credentials {
  readonly #options: ClientCredentialsOptions;
  #token: { header: string; untilMs: number } | null = null;
  #fetching: Promise<string> | null = null;

  constructor(options: ClientCredentialsOptions) {
    this.#options = options;
  }

  async headers({ signal }: Pick<RequestOptions, 'signal'>): Promise<Record<string, string>> {
    const { clock } = this.#options;
    if (this.#token !== null && this.#token.untilMs > clock.elapsed()) return { authorization: this.#token.header };
    // An abort ends only this wait: other requests may need the token, and the request for it has its own time limit.
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = null;
    });
    return { authorization: await unlessAborted(this.#fetching, signal) };
  }

  refused({ authorization }: Record<string, string>): void {
    // Another request may have renewed the token already.
    if (this.#token?.header === authorization) this.#token = null;
  }

  async expiries(): Promise<[]> {
    return [];
  }

  async close(): Promise<void> {}

  async #fetch(): Promise<string> {
    const { transport, form, headers, clock } = this.#options;
    const request = tokenRequest(this.#options, { grant_type: 'client_credentials', ...form }, headers);
    const answer = await answerTo(transport, 'reads', request, { signal: new AbortController().signal });
    const { token, lifeSeconds } = tokenIn(answer, this.#options);
    this.#token = { header: `Bearer ${token}`, untilMs: clock.elapsed() + usableSeconds(lifeSeconds) * 1_000 };
    return this.#token.header;
  }
}

/** The header of Basic authentication. Id and secret are form-encoded before they are joined (RFC 6749, 2.3.1). */
export function basic(clientId: string, clientSecret: string): string {
  keepSecret(clientSecret);
  const joined = [clientId, clientSecret].map(formEncoded).join(':');
  const credentials = Buffer.from(joined).toString('base64');
  keepSecret(credentials);
  return `Basic ${credentials}`;
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

/** A token is renewed this long before it ends. */
const marginSeconds = 60;
/** A token that lives longer than a week is renewed weekly. */
const longestLifeSeconds = 604_800;

/** How long a token is used. Short-lived tokens are used for nine tenths of their life. */
export function usableSeconds(lifeSeconds: number): number {
  return lifeSeconds - Math.min(marginSeconds, lifeSeconds / 10);
}

const success = 200;
/** Statuses with which servers refuse a client (RFC 6749, 5.2). */
const refusals = [400, 401, 403];
/** Maximum length of an answer with a token. */
const longestAnswer = 65_536;

/** The token in an answer, and the seconds that it lives. Throws ErpError. */
export function tokenIn(
  answer: Answer,
  { erp, clientId, log }: Pick<TokenClient, 'erp' | 'clientId' | 'log'>,
): { token: string; lifeSeconds: number; value: JsonObject } {
  if (refusals.includes(answer.status))
    throw new ErpError('auth', erpAnswerTexts.clientRefused({ erp, client: clientId, reason: refusalIn(answer) }));
  if (answer.status !== success) {
    const error = pageError(answer, [{ match: { http: 429 }, means: 'throttled' }]);
    resultOf({ error }, { access: 'reads', method: 'token', answer, name: erp }, log);
  }
  const value = answer.text.length > longestAnswer ? null : objectIn(answer.text);
  const token = value?.access_token;
  if (value === null || !isToken(token)) throw new ErpError('auth', erpAnswerTexts.noToken({ erp }));
  keepToken(token);
  return { token, lifeSeconds: lifeIn(value.expires_in), value };
}

/** Whether a header can contain the value as a token. */
export function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,8192}$/.test(value);
}

/** The error code of a refusal, such as `invalid_client`. A server's text is left out, because it may quote secrets. */
export function refusalIn({ status, text }: Pick<Answer, 'status' | 'text'>): string {
  const code = objectIn(text)?.error;
  return typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) ? code : `HTTP ${status}`;
}

/** Some servers write the number as a text. Without a usable number, the token is used until the ERP refuses it. */
function lifeIn(seconds: unknown): number {
  const given = typeof seconds === 'string' && /^\d{1,9}$/.test(seconds) ? Number.parseInt(seconds, 10) : seconds;
  const isUsable = typeof given === 'number' && Number.isFinite(given) && given > 0;
  return isUsable ? Math.min(given, longestLifeSeconds) : longestLifeSeconds;
}
