import { setTimeout as sleep } from 'node:timers/promises';
import type { OdooConfig } from '../../src/config/erp.ts';

/** The real Odoo that the environment names. Without `ODOO_DATABASE`, the server must have one database. */
const address = {
  url: process.env.ODOO_URL?.replace(/\/$/, ''),
  database: process.env.ODOO_DATABASE,
  user: process.env.ODOO_USER ?? 'admin',
  password: process.env.ODOO_PASSWORD ?? 'admin',
};

/** True if tests against a real Odoo run. Without an address they are skipped with a notice. */
export const hasOdoo = address.url !== undefined;
if (!hasOdoo) {
  process.stderr.write(
    'skipped: tests against a real Odoo; set ODOO_URL to an Odoo 17, 18 or 19 whose database is for tests (ODOO_DATABASE, ODOO_USER and ODOO_PASSWORD of somebody who may administer it)\n',
  );
}

export interface OdooLogin {
  url: string;
  database: string;
  user: string;
  password: string;
}

/** A configuration for delivery to a user's company. */
export function configOf({ login, company }: OdooPerson, changes: Partial<OdooConfig> = {}): OdooConfig {
  return {
    ...{ kind: 'odoo', ...login, company: String(company), protocol: 'jsonrpc' },
    ...{ from: null, auto: true, post: 'posted', ownedAccounts: [], closeSourcePeriods: false, timeoutSeconds: 60 },
    ...changes,
  };
}

/** The external dependencies of a target. */
export const ports = {
  databaseId: 'test',
  installation: 4711,
  clock: { now: Date.now, elapsed: () => performance.now(), sleep: (ms: number) => sleep(ms) },
  log: { debug: () => {}, info: () => {}, warn: () => {} },
};

/** A condition of a domain, or an operator between two. */
export type Domain = (readonly [field: string, operator: string, value: unknown] | '|' | '&')[];

/**
 * A user of Odoo for the actions of accountants and administrators, over JSON-RPC. It shares no code with the target.
 * It works in English and in one company, by default the user's.
 */
export class OdooPerson {
  readonly login: OdooLogin;
  readonly #uid: number;
  readonly company: number | null;

  private constructor(login: OdooLogin, uid: number, company: number | null) {
    this.login = login;
    this.#uid = uid;
    this.company = company;
  }

  static async logIn(login: OdooLogin): Promise<OdooPerson> {
    const { url, database, user, password } = login;
    const uid = await rpc<number | false>(url, 'common', 'login', [database, user, password]);
    if (uid === false) throw new Error(`Odoo does not let ${user} in`);
    return new OdooPerson(login, uid, null);
  }

  /** The administrator that the environment names. */
  static async administrator(): Promise<OdooPerson> {
    const { url, user, password } = address;
    if (url === undefined) throw new Error('ODOO_URL is not set');
    return OdooPerson.logIn({ url, database: address.database ?? (await onlyDatabase(url)), user, password });
  }

  get uid(): number {
    return this.#uid;
  }

  /** The same user in another of the user's companies. */
  in(company: number): OdooPerson {
    return new OdooPerson(this.login, this.#uid, company);
  }

  /** Calls a method of a model with positional arguments. Throws Odoo's error. */
  call<Result>(model: string, method: string, args: readonly unknown[], named: object = {}): Promise<Result> {
    const { url, database, password } = this.login;
    const context = { lang: 'en_US', ...(this.company === null ? {} : { allowed_company_ids: [this.company] }) };
    return rpc(url, 'object', 'execute_kw', [
      ...[database, this.#uid, password, model, method],
      ...[args, { context, ...named }],
    ]);
  }

  /** The records of a domain in order of id. */
  read<Row>(model: string, domain: Domain, fields: readonly string[]): Promise<(Row & { id: number })[]> {
    return this.call(model, 'search_read', [domain, fields], { order: 'id' });
  }

  search(model: string, domain: Domain): Promise<number[]> {
    return this.call(model, 'search', [domain], { order: 'id' });
  }

  /** The id of the only record of a domain. */
  async idOf(model: string, domain: Domain): Promise<number> {
    const ids = await this.search(model, domain);
    if (ids.length !== 1) throw new Error(`${ids.length} of ${model} for ${JSON.stringify(domain)}`);
    return ids[0]!;
  }

  create(model: string, values: object): Promise<number> {
    return this.call(model, 'create', [values]);
  }

  async write(model: string, ids: number | readonly number[], values: object): Promise<void> {
    await this.call(model, 'write', [typeof ids === 'number' ? [ids] : ids, values]);
  }

  /** The record with an external id (`module.name`). The user needs the right to read external ids. */
  async refer(externalId: string): Promise<number> {
    const [module, name] = externalId.split('.');
    const [found] = await this.read<{ res_id: number }>(
      'ir.model.data',
      [
        ['module', '=', module],
        ['name', '=', name],
      ],
      ['res_id'],
    );
    if (!found) throw new Error(`no record ${externalId}`);
    return found.res_id;
  }

  /** True if the model has the field in this version. */
  async hasField(model: string, field: string): Promise<boolean> {
    return field in (await this.call<object>(model, 'fields_get', [[field]], { attributes: ['type'] }));
  }
}

/** The major version of the server that the environment names; null if it names none. */
export const odooVersion = async () => (address.url === undefined ? null : versionOf(address.url));

/** A server's major version. */
export async function versionOf(url: string): Promise<number> {
  const { server_version_info: info } = await rpc<{ server_version_info: [number] }>(url, 'common', 'version', []);
  return info[0];
}

async function onlyDatabase(url: string): Promise<string> {
  const names = await rpc<string[]>(url, 'db', 'list', []);
  if (names.length !== 1) throw new Error(`set ODOO_DATABASE to one of ${names.join(', ')}`);
  return names[0]!;
}

async function rpc<Result>(url: string, service: string, method: string, args: readonly unknown[]): Promise<Result> {
  const answer = await fetch(`${url}/jsonrpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'call', params: { service, method, args } }),
  });
  const { result, error } = (await answer.json()) as {
    result: Result;
    error?: { message: string; data?: { name: string; message: string } };
  };
  if (error) throw new Error(error.data ? `${error.data.name}: ${error.data.message}` : error.message);
  return result;
}
