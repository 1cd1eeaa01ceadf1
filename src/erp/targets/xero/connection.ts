import type { XeroConfig } from '../../../config/erp.ts';
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from '../../../records/json.ts';
import type { Logger } from '../../deliver/slice.ts';
import { type LoginPorts, openLogin } from '../../login/server.ts';
import { ErpError, type Expiry, type RequestOptions } from '../../port.ts';
import { chooseCompany } from '../api/choose-company.ts';
import { ClientCredentials, type Credentials, signedIn } from '../api/credentials.ts';
import { explain } from '../api/explain.ts';
import { asRecord, asText, readAs } from '../api/form.ts';
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
import { LimitsLeft } from '../api/limits-left.ts';
import { xeroCapabilities } from './capabilities.ts';
import { identityUrlOf, tenantsIn, xeroLogin, xeroScope } from './login.ts';
import { messagesIn, recordsIn } from './wire.ts';

const erp = 'Xero';
const api = '/api.xro/2.0';

export interface XeroPorts extends TargetPorts {
  /** Absent in tests of custom connections. */
  logins?: Pick<LoginPorts, 'db' | 'keys'>;
}

export interface XeroCall {
  access: Access;
  verb: NonNullable<ErpRequest['verb']>;
  path: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: JsonValue;
}

/** Xero's accounting API for one organisation: a custom connection, or an app that a person logs in to. */
export class XeroConnection {
  readonly limitsLeft = new LimitsLeft(xeroCapabilities.pace);
  readonly #config: XeroConfig;
  readonly #log: Logger;
  readonly #transports: { http: ErpTransport; identity: ErpTransport };
  readonly #credentials: Credentials;
  #tenant: string | null = null;
  #organisation: { currency: string; isSandbox: boolean } | null = null;

  constructor(config: XeroConfig, { clock, log, transport, logins }: XeroPorts) {
    this.#config = config;
    this.#log = log;
    const open = (url: string) => transport ?? new ErpHttp({ ...config, url }, erp, log);
    const identity = open(identityUrlOf(config));
    this.#transports = { http: open(config.url), identity };
    const { user: clientId, clientSecret } = config;
    const login = xeroLogin(config);
    if (login !== null && logins === undefined) throw new Error('a login needs a database');
    this.#credentials =
      login !== null && logins !== undefined
        ? openLogin(login, { ...logins, clock, log })
        : new ClientCredentials({
            ...{ erp, transport: identity, path: '/connect/token', clientId, clientSecret, sentAs: 'basic' },
            ...{ form: { scope: xeroScope }, clock, log },
          });
  }

  /** The organisation's id and currency. Throws ErpError `auth` if the client may not use the configured one. */
  async company(request: RequestOptions): Promise<{ id: string; currency: string; isSandbox: boolean }> {
    const id = await this.#tenantId(request);
    if (this.#organisation === null) {
      const { BaseCurrency: currency = null, IsDemoCompany: isDemo } = await this.organisation(request);
      this.#organisation = { currency: asText(currency), isSandbox: isDemo === true };
    }
    return { id, ...this.#organisation };
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

  expiries(): Promise<Expiry[]> {
    return this.#credentials.expiries();
  }

  async close(): Promise<void> {
    await this.#credentials.close();
    this.#transports.http.close();
    this.#transports.identity.close();
  }

  /** One token may reach several organisations, so the configured one is looked up. */
  async #tenantId(request: RequestOptions): Promise<string> {
    if (this.#tenant !== null) return this.#tenant;
    const answer = await this.#send({ access: 'reads', verb: 'GET', path: '/connections' }, request);
    this.#tenant = chooseCompany(readAs(answer, tenantsIn), this.#config, erp).id;
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
    this.limitsLeft.note(answer);
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
