import type { ProcountorConfig } from '../../../config/erp.ts';
import { keepSecret } from '../../../domain/redact.ts';
import { isJsonObject, type JsonValue, stringifyJson } from '../../../records/json.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import type { Logger } from '../../deliver/slice.ts';
import type { ErpError, RequestOptions } from '../../port.ts';
import { chooseCompany } from '../api/choose-company.ts';
import { ClientCredentials, type Credentials, signedIn } from '../api/credentials.ts';
import { explain } from '../api/explain.ts';
import { asId, asRecord, asText, readAs } from '../api/form.ts';
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
import { procountorCapabilities } from './capabilities.ts';

const erp = 'Procountor';
const success = 200;
const noContent = 204;
const notFound = 404;

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
  readonly #log: Logger;
  readonly #http: ErpTransport;
  readonly #credentials: Credentials;
  #company: { id: string; currency: string } | null = null;

  constructor(config: ProcountorConfig, { clock, log, transport }: TargetPorts) {
    this.#config = config;
    this.#log = log;
    const { user: clientId, clientSecret, password: apiKey } = config;
    keepSecret(apiKey);
    this.#http = transport ?? new ErpHttp(config, erp, log);
    this.#credentials = new ClientCredentials({
      ...{ erp, transport: this.#http, path: '/oauth/token', clientId, clientSecret, sentAs: 'form' },
      ...{ form: { api_key: apiKey }, clock, log },
    });
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
    const method = `${verb} ${path.replaceAll(/\d[\d,]*/g, '#')}`;
    const text = body === undefined ? '' : stringifyJson(body);
    const answer = await signedIn(
      this.#credentials,
      (headers) => answerTo(this.#http, access, { verb, path, query, headers, body: text, method }, request),
      request,
    );
    if (answer.status === notFound && access === 'reads') return null;
    return resultOf(outcomeOf(answer), { access, method, answer, name: erp }, this.#log);
  }

  close(): void {
    this.#http.close();
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
