import { type FortnoxConfig, fortnoxUrl } from '../../../config/erp.ts';
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from '../../../records/json.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import type { Logger } from '../../deliver/slice.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { chooseCompany } from '../api/choose-company.ts';
import { ClientCredentials, type Credentials, signedIn } from '../api/credentials.ts';
import { explain } from '../api/explain.ts';
import { asId, asList, asRecord, asText, readAs, wholeNumber, wrongForm } from '../api/form.ts';
import {
  type Access,
  type Answer,
  answerTo,
  ErpHttp,
  type ErpRequest,
  type ErpTransport,
  type Outcome,
  pageError,
  resultOf,
  type TargetPorts,
  valueIn,
  withRetry,
} from '../api/http.ts';
import { allOf, ListChanged, type ListedPage, provedPages } from '../api/pages.ts';
import { Throttle } from '../api/throttle.ts';
import { fortnoxCapabilities } from './capabilities.ts';

const erp = 'Fortnox';
/** Fortnox keeps books in kronor only. */
const currency = 'SEK';
/** Maximum number of records in an answer. */
const perPage = 500;
/** The size of a page in lists that take no other. */
const usualPage = 100;
const [ok, created, notFound, serverError] = [200, 201, 404, 500];

/** Fortnox gives tokens at another address than the one of its API. */
const signInUrl = 'https://apps.fortnox.se';

/**
 * Fortnox’s REST API. It gets a token with the client's secret for the company (`TenantId`). Each request is sent once;
 * only one whose token had ended is sent again, since Fortnox did nothing.
 */
export class FortnoxConnection {
  readonly #config: FortnoxConfig;
  readonly #log: Logger;
  readonly #transports: ErpTransport[];
  readonly #http: ErpTransport;
  readonly #credentials: Credentials;
  readonly #throttle: Throttle;
  #company: { id: string; currency: string } | null = null;

  constructor(config: FortnoxConfig, { clock, log, transport }: TargetPorts) {
    this.#config = config;
    this.#log = log;
    const { url, user: clientId, clientSecret, company } = config;
    this.#http = transport ?? new ErpHttp(config, erp, log);
    const tokens = transport ?? new ErpHttp({ ...config, url: url === fortnoxUrl ? signInUrl : url }, erp, log);
    this.#transports = [this.#http, tokens];
    this.#credentials = new ClientCredentials({
      ...{ erp, transport: tokens, path: '/oauth-v1/token', clientId, clientSecret, sentAs: 'basic' },
      ...{ headers: { TenantId: company }, clock, log },
    });
    this.#throttle = new Throttle(clock, fortnoxCapabilities.pace.limits);
  }

  /** The company of the token. Throws ErpError `auth` if it is not the configured one. */
  async company(request: RequestOptions): Promise<{ id: string; currency: string }> {
    if (this.#company !== null) return this.#company;
    const company = readAs(await this.get('/3/companyinformation', {}, request), (value) => {
      const { DatabaseNumber: id, CompanyName: name } = asRecord(asRecord(value).CompanyInformation ?? null);
      return { id: typeof id === 'string' ? wholeNumber(id) : asId(id ?? null), name: asText(name ?? '') };
    });
    const { id } = chooseCompany([company], this.#config, erp);
    this.#company = { id: String(id), currency };
    return this.#company;
  }

  /** The answer to a reading request; null if there is no such record. Throws ErpError. */
  async get(path: string, query: Record<string, string>, request: RequestOptions): Promise<JsonValue> {
    const { answer, method } = await this.#send('reads', { verb: 'GET', path, query }, request);
    return answer.status === notFound ? null : this.#result(answer, 'reads', method);
  }

  async post(
    path: string,
    query: Record<string, string>,
    body: JsonObject,
    request: RequestOptions,
  ): Promise<JsonValue> {
    const sent = { verb: 'POST', path, query, body: stringifyJson(body) } as const;
    const { answer, method } = await this.#send('writes', sent, request);
    return this.#result(answer, 'writes', method);
  }

  /** A file in Latin-1: each byte is a character. Throws ErpError. */
  async file(path: string, query: Record<string, string>, request: RequestOptions): Promise<string> {
    const sent = { verb: 'GET', path, query, answerEncoding: 'latin1', headers: { accept: '*/*' } } as const;
    const { answer, method } = await this.#send('reads', sent, request);
    if (answer.status !== ok) this.#result(answer, 'reads', method);
    return answer.text;
  }

  /** All records of a list. Throws ErpError `unsent` if the list changes while it is read. */
  async list(
    path: string,
    name: string,
    query: Record<string, string>,
    request: RequestOptions,
  ): Promise<JsonObject[]> {
    try {
      return await allOf(this.pages(path, name, query, request));
    } catch (error) {
      if (!(error instanceof ListChanged)) throw error;
      throw new ErpError('unsent', erpAnswerTexts.pagesIncomplete({ erp, list: path }));
    }
  }

  /** The pages of a list, which are proved to be all. Throws ErpError, or ListChanged. */
  async *pages(
    path: string,
    name: string,
    query: Record<string, string>,
    request: RequestOptions,
  ): AsyncGenerator<JsonObject[]> {
    const pages = provedPages(async ({ number }) => {
      const paged = { ...query, limit: String(perPage), page: String(number) };
      return readAs(await this.get(path, paged, request), (value) => pageIn(value, name, number));
    });
    for await (const page of pages) yield page.map(({ record }) => record);
  }

  close(): void {
    for (const transport of this.#transports) transport.close();
  }

  async #send(
    access: Access,
    sent: Pick<ErpRequest, 'verb' | 'path' | 'query' | 'answerEncoding'> & {
      body?: string;
      headers?: Record<string, string>;
    },
    request: RequestOptions,
  ): Promise<{ answer: Answer; method: string }> {
    const method = `${sent.verb} ${sent.path}`;
    const send = (headers: Record<string, string>) => {
      const whole = { body: '', ...sent, headers: { ...headers, ...sent.headers }, method };
      return this.#throttle.send(access, () => answerTo(this.#http, access, whole, request), request);
    };
    return { answer: await signedIn(this.#credentials, send, request), method };
  }

  #result(answer: Answer, access: Access, method: string): JsonValue {
    return resultOf(outcomeOf(answer), { access, method, answer, name: erp }, this.#log);
  }
}

/** A page with its number. Without numbers, only a page that is not full is the last one. Throws FormError. */
function pageIn(value: JsonValue, name: string, number: number): ListedPage<{ id: string; record: JsonObject }> {
  const { [name]: listed, MetaInformation: meta } = asRecord(value);
  const items = asList(listed ?? null)
    .map(asRecord)
    .map((record) => ({ id: stringifyJson(record), record }));
  if (meta === undefined && number === 1 && items.length < usualPage) return { items, count: null, isLast: true };
  const { '@CurrentPage': current, '@TotalPages': pages, '@TotalResources': count } = asRecord(meta ?? null);
  if (current !== number) throw wrongForm(`page ${number}`, value);
  return { items, count: asId(count ?? null), isLast: number >= asId(pages ?? null) };
}

function outcomeOf(answer: Answer): Outcome {
  const { status, text } = answer;
  const value = valueIn(text);
  if ((status === ok || status === created) && value !== undefined) return { result: value };
  const said = isJsonObject(value) ? value.ErrorInformation : null;
  if (!isJsonObject(said) || status >= serverError || status < 400)
    return { error: pageError(answer, fortnoxCapabilities.errors) };
  return { error: withRetry(errorOf(status, said), answer) };
}

/** The error of an answer such as `{ErrorInformation: {Error: 1, Message: "…", Code: 2000401}}`; some are in lower case. */
function errorOf(http: number, said: JsonObject): ErpError {
  const [code, message] = [said.Code ?? said.code, said.Message ?? said.message];
  const text = typeof message === 'string' && message !== '' ? message : erpAnswerTexts.withoutText;
  const known = typeof code === 'number' || typeof code === 'string' ? String(code) : null;
  return explain({ http, code: known, text: known === null ? text : `${text} (${known})` }, fortnoxCapabilities.errors);
}

/** The one record in an answer. Throws FormError. */
export function recordIn(value: JsonValue, name: string): JsonObject {
  const record = asRecord(value)[name];
  if (!isJsonObject(record)) throw wrongForm(name, value);
  return record;
}
