import { type XeroConfig, xeroUrl } from '../../../config/erp.ts';
import type { Clock } from '../../../domain/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from '../../../records/json.ts';
import type { Logger } from '../../deliver/slice.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { chooseCompany } from '../api/choose-company.ts';
import { ClientCredentials, type Credentials, signedIn } from '../api/credentials.ts';
import { explain } from '../api/explain.ts';
import { asList, asRecord, asText, readAs } from '../api/form.ts';
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
import { xeroCapabilities } from './capabilities.ts';
import { asGuid, messagesIn, recordsIn } from './wire.ts';

const erp = 'Xero';
const api = '/api.xro/2.0';
/** Where Xero gives tokens. The server of another address, as in a test, gives its tokens itself. */
const identityUrl = 'https://identity.xero.com';
/** What vetledger may do, by the names of the rights that apps have since March 2026. */
const scope = 'accounting.manualjournals accounting.settings.read';

/** Sends requests to Xero: over HTTP, or to a fake server in tests. */
export type XeroTransport = Pick<ErpHttp, 'send' | 'close'>;

export interface XeroPorts {
  clock: Clock;
  log: Logger;
  transport?: XeroTransport;
}

export interface XeroCall {
  access: Access;
  verb: NonNullable<ErpRequest['verb']>;
  path: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: JsonValue;
}

/** Xero's accounting API for one organisation, with a custom connection. Each request is sent once. */
export class XeroConnection {
  readonly #config: XeroConfig;
  readonly #log: Logger;
  readonly #transports: { http: XeroTransport; identity: XeroTransport };
  readonly #credentials: Credentials;
  #tenant: string | null = null;
  #currency: string | null = null;

  constructor(config: XeroConfig, { clock, log, transport }: XeroPorts) {
    this.#config = config;
    this.#log = log;
    const open = (url: string) => transport ?? new ErpHttp({ ...config, url }, erp, log);
    const identity = open(config.url === xeroUrl ? identityUrl : config.url);
    this.#transports = { http: open(config.url), identity };
    const { user: clientId, clientSecret } = config;
    this.#credentials = new ClientCredentials({
      ...{ erp, transport: identity, path: '/connect/token', clientId, clientSecret, sentAs: 'basic' },
      ...{ form: { scope }, clock, log },
    });
  }

  /** The organisation's id and currency. Throws ErpError `auth` if the client may not use the configured one. */
  async company(request: RequestOptions): Promise<{ id: string; currency: string }> {
    const id = await this.#tenantId(request);
    if (this.#currency === null) {
      const currency = asText((await this.organisation(request)).BaseCurrency ?? null);
      this.#currency = currency;
    }
    return { id, currency: this.#currency };
  }

  async organisation(request: RequestOptions): Promise<JsonObject> {
    const answer = await this.get('/Organisation', {}, request);
    return readAs(answer, (value) => asRecord(recordsIn(value, 'Organisations')[0] ?? null));
  }

  get(path: string, query: Record<string, string>, request: RequestOptions): Promise<JsonValue> {
    return this.call({ access: 'reads', verb: 'GET', path, query }, request);
  }

  /** Sends a request to the organisation. A reading request for something that does not exist returns null. */
  async call(call: XeroCall, request: RequestOptions): Promise<JsonValue> {
    const tenant = await this.#tenantId(request);
    const headers = { 'xero-tenant-id': tenant, ...call.headers };
    return this.#send({ ...call, path: `${api}${call.path}`, headers }, request);
  }

  close(): void {
    this.#transports.http.close();
    this.#transports.identity.close();
  }

  /** One token may reach several organisations, so the configured one is looked up. */
  async #tenantId(request: RequestOptions): Promise<string> {
    if (this.#tenant !== null) return this.#tenant;
    const answer = await this.#send({ access: 'reads', verb: 'GET', path: '/connections' }, request);
    const tenants = readAs(answer, (value) =>
      asList(value)
        .map(asRecord)
        .filter(({ tenantType }) => tenantType === 'ORGANISATION')
        .map(({ tenantId, tenantName }) => ({ id: asGuid(tenantId ?? null), name: asText(tenantName ?? '') })),
    );
    this.#tenant = chooseCompany(tenants, this.#config, erp).id;
    return this.#tenant;
  }

  async #send(
    { access, verb, path, query = {}, headers = {}, body }: XeroCall,
    request: RequestOptions,
  ): Promise<JsonValue> {
    const method = `${verb} ${path.replaceAll(/[0-9a-f-]{36}/gi, '#')}`;
    const text = body === undefined ? '' : stringifyJson(body);
    const answer = await signedIn(
      this.#credentials,
      (signed) =>
        answerTo(
          this.#transports.http,
          access,
          { verb, path, query, headers: { ...headers, ...signed }, body: text, method },
          request,
        ),
      request,
    );
    if (access === 'reads' && (answer.status === notFound || answer.status === notModified)) return null;
    return resultOf(outcomeOf(answer), { access, method, answer, name: erp }, this.#log);
  }
}

const success = 200;
const notModified = 304;
const notFound = 404;
const tooMany = 429;

function outcomeOf(answer: Answer): Outcome {
  const { status, text, headers } = answer;
  const value = valueIn(text);
  if (status === success && value !== undefined) return { result: value };
  if (isJsonObject(value) && value.Type === validation) {
    const elements = Array.isArray(value.Elements) ? value.Elements.filter(isJsonObject) : [];
    const messages = elements.flatMap(({ ValidationErrors }) => messagesIn(ValidationErrors ?? null));
    const said = typeof value.Message === 'string' ? [value.Message] : [];
    return { error: withRetry(refusalOf(messages.length > 0 ? messages : said), answer) };
  }
  const error = pageError(answer, xeroCapabilities.errors);
  if (status !== tooMany || headers?.['x-rate-limit-problem'] !== 'day') return { error };
  const { message, retryAfterMs } = error;
  return { error: new ErpError('throttled', message, { problem: 'erp_limit_spent', retryAfterMs }) };
}

const validation = 'ValidationException';

/** The error for the messages about a journal. The first message with a known meaning decides. */
export function refusalOf(messages: readonly string[]): ErpError {
  const text = messages.join('; ');
  const explained = (each: string) => explain({ http: success, code: validation, text: each }, xeroCapabilities.errors);
  const known = messages.map(explained).find(({ means }) => means !== 'doubt');
  const { means, problem } = known ?? explained(text);
  return new ErpError(means, explained(text).message, problem === null ? {} : { problem });
}
