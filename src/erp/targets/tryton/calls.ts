import type { TrytonConfig } from '../../../config/erp.ts';
import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { RequestOptions } from '../../port.ts';
import { chooseCompany } from '../api/choose-company.ts';
import { asId, asList, asRecord, asText, readAs } from '../api/form.ts';
import type { Access } from '../api/http.ts';
import { allOf, pagesById } from '../api/pages.ts';
import type { TrytonConnection } from './connection.ts';
import { related } from './wire.ts';

/** The configured company, and the facts that requests need. */
export interface Company {
  /** Database name and company id, which together are unique on the server. */
  id: string;
  companyId: number;
  /** Decimals of the company's currency. */
  decimals: number;
  currency: string;
  userId: number;
  context: JsonObject;
}

/** Selects records of a model. `most`: maximum number per answer. */
export interface Reading {
  domain: JsonValue[];
  fields: string[];
  most?: number;
  /** Added to the company's context. */
  context?: JsonObject;
}

/** Maximum number of records in an answer. */
const pageSize = 500;

/** Sends requests in the context of the configured company. Each method throws ErpError. */
export class TrytonCalls {
  readonly #connection: TrytonConnection;
  readonly #config: TrytonConfig;
  #company: Company | null = null;

  constructor(connection: TrytonConnection, config: TrytonConfig) {
    this.#connection = connection;
    this.#config = config;
  }

  /** The configured company. Throws ErpError `auth` if the user may not use it. */
  async company(request: RequestOptions): Promise<Company> {
    if (this.#company !== null) return this.#company;
    const userId = await this.#connection.userId(request);
    const fields = ['rec_name', 'currency.code', 'currency.digits'];
    // Without a company in the context, the search returns all companies.
    const found = readAs(
      await this.#connection.call(
        'reads',
        'model.company.company.search_read',
        [[], 0, null, [['id', 'ASC']], fields, { language: 'en' }],
        request,
      ),
      (value) => asList(value).map(asRecord).map(companyIn),
    );
    const usable = await this.#companiesOfUser(userId, request);
    const mine = found.filter(({ id }) => usable.has(id));
    const { id: companyId, decimals, currency } = chooseCompany(mine, this.#config, 'Tryton');
    const id = `${this.#config.database}/${companyId}`;
    this.#company = { id, companyId, userId, decimals, currency, context: { company: companyId, language: 'en' } };
    return this.#company;
  }

  /** Ids of the companies that the user may use. */
  async #companiesOfUser(userId: number, request: RequestOptions): Promise<Set<number>> {
    const params = [[userId], ['companies'], { language: 'en' }];
    const users = await this.#connection.call('reads', 'model.res.user.read', params, request);
    return readAs(
      users,
      (value) => new Set(asList(value).flatMap((user) => asList(asRecord(user).companies ?? null).map(asId))),
    );
  }

  /** Calls a method. The last parameter is the company's context with `extra`. */
  async call(
    access: Access,
    method: string,
    params: JsonValue[],
    request: RequestOptions,
    extra: JsonObject = {},
  ): Promise<JsonValue> {
    const { context } = await this.company(request);
    return this.#connection.call(access, method, [...params, { ...context, ...extra }], request);
  }

  /**
   * A page of the records that match a domain, in the order of their ids, after the id `after`. Inactive records are
   * included.
   */
  async page(
    model: string,
    { domain, fields, most = pageSize, context = {}, after = 0 }: Reading & { after?: number },
    request: RequestOptions,
  ): Promise<JsonObject[]> {
    const params = [[['id', '>', after], ...domain], 0, most, [['id', 'ASC']], ['id', ...fields]];
    const answer = await this.call('reads', `model.${model}.search_read`, params, request, {
      ...context,
      active_test: false,
    });
    return readAs(answer, (value) =>
      asList(value)
        .map(asRecord)
        .map((record) => ({ ...record, id: asId(record.id ?? null) })),
    );
  }

  all(model: string, reading: Reading, request: RequestOptions): Promise<JsonObject[]> {
    return allOf(pagesById(reading.most ?? pageSize, (after) => this.page(model, { ...reading, after }, request)));
  }
}

function companyIn(company: JsonObject) {
  const currency = related(company, 'currency');
  return {
    id: asId(company.id),
    name: asText(company.rec_name),
    decimals: asId(currency?.digits ?? null),
    currency: asText(currency?.code ?? null),
  };
}
