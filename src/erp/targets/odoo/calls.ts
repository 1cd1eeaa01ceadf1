import type { JsonObject, JsonValue } from '../../../records/json.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { readAs } from '../api/form.ts';
import type { Doing } from '../api/http.ts';
import { allOf, pagesById } from '../api/pages.ts';
import type { OdooCall, OdooConnection } from './connection.ts';
import { asRecords } from './wire.ts';

/** What a version of Odoo has, found out by its fields and not by its number. */
export interface Features {
  /** 17, 18, 19. */
  version: number;
  /** Lines say whether their tags count the other way round (17, 18). */
  hasTagInvert: boolean;
  /** The field by which accounts name their company (17), or companies (18, 19). */
  accountCompany: 'company_id' | 'company_ids';
  /** The field that says that an account takes no lines any more, or that it does. */
  accountState: 'deprecated' | 'active';
  /** Lock dates that a company has; with `user_` those that count for the user, exceptions and parents included. */
  lockFields: string[];
  hasKeyExpiry: boolean;
}

/** The company that the configuration names, and what every request says of it. */
export interface Company {
  /** With the database's name: no other company of the server has it. */
  id: string;
  companyId: number;
  /** The company and the companies that it is a branch of: their accounts, journals, taxes and locks are its own. */
  chain: number[];
  /** Those of the chain that the user may use, the company itself first. */
  usable: number[];
  currency: string;
  /** Decimals of its currency. */
  decimals: number;
  userId: number;
  features: Features;
}

/** Records of one answer. */
const pageSize = 500;

/** Requests in the name of the configured company. */
export class OdooCalls {
  readonly #connection: OdooConnection;
  readonly #open: (request: RequestOptions) => Promise<Company>;

  constructor(connection: OdooConnection, open: (request: RequestOptions) => Promise<Company>) {
    this.#connection = connection;
    this.#open = open;
  }

  /** The configured company. Throws ErpError `auth` where it is not one of the user's. */
  company(request: RequestOptions): Promise<Company> {
    return this.#open(request);
  }

  /** A call in the company's context. Throws ErpError. */
  async call(doing: Doing, call: OdooCall, request: RequestOptions): Promise<JsonValue> {
    const { companyId } = await this.#open(request);
    // Of several companies Odoo would choose one for a move, by its journal.
    const context = { allowed_company_ids: [companyId], ...call.context };
    return this.#connection.call(doing, { ...call, context }, request);
  }

  /** Records of a domain after an id, in the order of their ids. */
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
    // Archived records, too: that one is archived is told, and not that it is missing.
    const call = { model, method: 'search_read', args, context: { active_test: false } };
    return readAs(await this.call('reads', call, request), asRecords);
  }

  /** All records of a domain, page by page. */
  all(
    model: string,
    { domain, fields, most = pageSize }: { domain: JsonValue[]; fields: string[]; most?: number },
    request: RequestOptions,
  ): Promise<JsonObject[]> {
    return allOf(pagesById(most, (after) => this.page(model, { domain, fields, after, most }, request)));
  }

  /** Whether the user may do something with the records of a model. */
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
