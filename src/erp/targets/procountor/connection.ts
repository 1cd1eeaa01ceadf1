import type { ProcountorConfig } from '../../../config/erp.ts';
import type { Clock } from '../../../domain/clock.ts';
import { keepSecret } from '../../../domain/redact.ts';
import { isJsonObject, type JsonValue, stringifyJson } from '../../../records/json.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import type { Logger } from '../../deliver/slice.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { chooseCompany } from '../api/choose-company.ts';
import { explain } from '../api/explain.ts';
import { asId, asRecord, asText, readAs } from '../api/form.ts';
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
import { procountorCapabilities } from './capabilities.ts';

const erp = 'Procountor';
/** A token is renewed this long before it ends. */
const tokenMarginSeconds = 60;
const success = 200;
const noContent = 204;
const unauthorized = 401;
const notFound = 404;

/** Sends requests to Procountor: over HTTP, or to a fake server in tests. */
export type ProcountorTransport = Pick<ErpHttp, 'send' | 'close'>;

export interface ProcountorPorts {
  clock: Clock;
  log: Logger;
  transport?: ProcountorTransport;
}

export interface ProcountorCall {
  access: Access;
  verb: NonNullable<ErpRequest['verb']>;
  path: string;
  query?: Record<string, string>;
  body?: JsonValue;
}

/**
 * Procountor's REST API. It gets a token with the client's secret and the company's API key. Each request is sent once;
 * only one whose token had ended is sent again, since Procountor did nothing.
 */
export class ProcountorConnection {
  readonly #config: ProcountorConfig;
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #log: Logger;
  readonly #http: ProcountorTransport;
  #token: { header: string; untilMs: number } | null = null;
  #company: { id: string; currency: string } | null = null;

  constructor(config: ProcountorConfig, { clock, log, transport }: ProcountorPorts) {
    this.#config = config;
    this.#clock = clock;
    this.#log = log;
    keepSecret(config.clientSecret);
    keepSecret(config.password);
    this.#http = transport ?? new ErpHttp(config, erp, log);
  }

  /** The company of the API key. Throws ErpError `auth` if it is not the configured one. */
  async company(request: RequestOptions): Promise<{ id: string; currency: string }> {
    if (this.#company !== null) return this.#company;
    const company = readAs(await this.get('/company', {}, request), (value) => {
      const { id, name } = asRecord(value);
      return { id: asId(id ?? null), name: asText(name ?? null) };
    });
    const { id } = chooseCompany([company], this.#config, erp);
    const currency = readAs(await this.get('/currencies/company', {}, request), (value) =>
      asText(asRecord(value).companyCurrency ?? null),
    );
    this.#company = { id: String(id), currency };
    return this.#company;
  }

  get(path: string, query: Record<string, string>, request: RequestOptions): Promise<JsonValue> {
    return this.call({ access: 'reads', verb: 'GET', path, query }, request);
  }

  /** Sends a request. A reading request for something that does not exist returns null. Throws ErpError. */
  async call(call: ProcountorCall, request: RequestOptions): Promise<JsonValue> {
    const { access, verb, path, query = {}, body } = call;
    for (let again = false; ; again = true) {
      const headers = { authorization: await this.#authorization(request) };
      const method = `${verb} ${path.replaceAll(/\d[\d,]*/g, '#')}`;
      const text = body === undefined ? '' : stringifyJson(body);
      const answer = await answerTo(this.#http, access, { verb, path, query, headers, body: text, method }, request);
      if (answer.status === unauthorized && !again) {
        this.#token = null;
        continue;
      }
      if (answer.status === notFound && access === 'reads') return null;
      return resultOf(outcomeOf(answer), { access, method, answer, name: erp }, this.#log);
    }
  }

  close(): void {
    this.#http.close();
  }

  async #authorization(request: RequestOptions): Promise<string> {
    if (this.#token !== null && this.#token.untilMs > this.#clock.elapsed()) return this.#token.header;
    const { user: clientId, clientSecret, password: apiKey, url } = this.#config;
    const form = {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      api_key: apiKey,
    };
    const answer = await answerTo(
      this.#http,
      'reads',
      {
        path: '/oauth/token',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form).toString(),
        method: 'token',
      },
      request,
    );
    const value = answer.status === success ? valueIn(answer.text) : undefined;
    if (answer.status === 400 || answer.status === unauthorized)
      throw new ErpError('auth', erpAnswerTexts.loginRefused({ erp, user: clientId }));
    if (answer.status !== success) {
      resultOf(
        { error: pageError(answer, procountorCapabilities.errors) },
        { access: 'reads', method: 'token', answer, name: erp },
        this.#log,
      );
    }
    const { access_token: token, expires_in: seconds } = isJsonObject(value) ? value : {};
    if (typeof token !== 'string' || typeof seconds !== 'number')
      throw new ErpError('auth', erpAnswerTexts.notTheErp({ erp, url }));
    keepSecret(token);
    const untilMs = this.#clock.elapsed() + Math.max(0, seconds - tokenMarginSeconds) * 1_000;
    this.#token = { header: `Bearer ${token}`, untilMs };
    return this.#token.header;
  }
}

function outcomeOf(answer: Answer): Outcome {
  const { status, text } = answer;
  const value = text.trim() === '' && (status === success || status === noContent) ? null : valueIn(text);
  if (status === success || status === noContent) {
    if (value !== undefined) return { result: value };
  } else if (isJsonObject(value) && Array.isArray(value.errors)) {
    return { error: withRetry(errorOf(status, value.errors), answer) };
  }
  return { error: pageError(answer, procountorCapabilities.errors) };
}

/** The error of an answer such as `{errors: [{status, field: "transactions[2].account", message: "A_CODE"}]}`. */
function errorOf(http: number, errors: readonly JsonValue[]): ErpError {
  const said = errors.filter(isJsonObject).map(({ field, message }) => ({
    field: typeof field === 'string' ? field : '',
    message: typeof message === 'string' ? message : '',
  }));
  const text = said.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`)).join('; ');
  const known = said
    .map(({ message }) => explain({ http, code: message, text }, procountorCapabilities.errors))
    .find(({ means }) => means !== 'doubt');
  return (
    known ?? explain({ http, code: null, text: text || erpAnswerTexts.withoutText }, procountorCapabilities.errors)
  );
}
