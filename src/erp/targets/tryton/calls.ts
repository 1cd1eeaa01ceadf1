import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { FoundEntry } from '../../entry.ts';
import type { RequestOptions } from '../../port.ts';
import type { Doing } from '../http.ts';

/** The company that the configuration names, and what every request says of it. */
export interface Company {
  companyId: number;
  /** Decimals of its currency. */
  decimals: number;
  currency: string;
  userId: number;
  context: JsonObject;
}

/** Requests in the name of the configured company. Each throws ErpError. */
export interface TrytonCalls {
  openCompany(request: RequestOptions): Promise<Company>;
  /** A call whose last parameter is the company's context with `extra`. */
  call(
    doing: Doing,
    method: string,
    params: JsonValue[],
    request: RequestOptions,
    extra?: JsonObject,
  ): Promise<JsonValue>;
  /** The moves of a domain by id, a page at a time. */
  moves(domain: JsonValue[], request: RequestOptions): AsyncIterable<FoundEntry[]>;
}
