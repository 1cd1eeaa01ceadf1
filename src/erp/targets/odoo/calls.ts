import type { JsonObject, JsonValue } from '../../../records/json.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { readAs } from '../api/form.ts';
import type { Access } from '../api/http.ts';
import { allOf, pagesById } from '../api/pages.ts';
import type { OdooCall, OdooConnection } from './connection.ts';
import { asRecords } from './wire.ts';

/** The abilities of this version of Odoo. Except for `version`, it is determined from the fields that exist. */
export interface Features {
  /** Major version: 17, 18 or 19. */
  version: number;
  /** Lines have the field `tax_tag_invert`, which turns the sign of their tags (17, 18). */
  hasTagInvert: boolean;
  /** The field of an account with its company (17) or companies (18, 19). */
  accountCompany: 'company_id' | 'company_ids';
  /** The field that shows whether an account may still be used. */
  accountState: 'deprecated' | 'active';
  /**
   * Fields with the lock dates of a company. Those that begin with `user_` include the user's exceptions and the locks
   * of parent companies.
   */
  lockFields: string[];
  hasKeyExpiry: boolean;
}

/** The configured company, and the facts that requests need. */
export interface Company {
  /** Database name and company id, which together are unique on the server. */
  id: string;
  companyId: number;
  /**
   * Ids of the company and its parent companies. A branch uses the accounts, journals, taxes and locks of its parents.
   */
  chain: number[];
  /** Companies of `chain` that the user may use, the configured company first. */
  usable: number[];
  currency: string;
  /** Decimals of the company's currency. */
  decimals: number;
  userId: number;
  features: Features;
}

/** Maximum number of records in an answer. */
const pageSize = 500;

/** Sends requests in the context of the configured company. */
export class OdooCalls {
  readonly #connection: OdooConnection;
  readonly #open: (request: RequestOptions) => Promise<Company>;

  constructor(connection: OdooConnection, open: (request: RequestOptions) => Promise<Company>) {
    this.#connection = connection;
    this.#open = open;
  }

  /** The configured company. Throws ErpError `auth` if the user may not use it. */
  company(request: RequestOptions): Promise<Company> {
    return this.#open(request);
  }

  /** Calls a method in the context of the company. Throws ErpError. */
  async call(access: Access, call: OdooCall, request: RequestOptions): Promise<JsonValue> {
    const { companyId } = await this.#open(request);
    // With several companies in the context, Odoo would choose the company of a move by its journal.
    const context = { allowed_company_ids: [companyId], ...call.context };
    return this.#connection.call(access, { ...call, context }, request);
  }

  /** A page of the records that match a domain, in the order of their ids, after the id `after`. */
  async page(
    model: string,
    {
      domain,
      fields,
      after = 0,
      most = pageSize,
    }: { domain: JsonValue[]; fields: string[]; after?: number; most?: number },
    request: RequestOptions,
  ): Promise<JsonObject[]> {
    const args = { domain: [['id', '>', after], ...domain], fields: ['id', ...fields], limit: most, order: 'id' };
    // Includes archived records, so that they are reported as archived instead of missing.
    const call = { model, method: 'search_read', args, context: { active_test: false } };
    return readAs(await this.call('reads', call, request), asRecords);
  }

  all(
    model: string,
    { domain, fields, most = pageSize }: { domain: JsonValue[]; fields: string[]; most?: number },
    request: RequestOptions,
  ): Promise<JsonObject[]> {
    return allOf(pagesById(most, (after) => this.page(model, { domain, fields, after, most }, request)));
  }

  /** Whether the user has a right on the records of a model. */
  async may(
    model: string,
    operation: 'read' | 'write' | 'create' | 'unlink',
    request: RequestOptions,
  ): Promise<boolean> {
    const { features } = await this.#open(request);
    const isOld = features.version < firstWithHasAccess;
    const answer = await this.call(
      'reads',
      isOld
        ? { model, method: 'check_access_rights', args: { operation, raise_exception: false } }
        : { model, method: 'has_access', args: { operation }, ids: [] },
      request,
    ).catch((error: unknown) => {
      if (error instanceof ErpError && error.means === 'auth') return false;
      throw error;
    });
    return answer === true;
  }
}

const firstWithHasAccess = 18;
