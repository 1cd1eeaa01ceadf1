// A client of Odoo's API for tests. It shares no code with the target, and works with the fake and with a real server.

/** A request to the fake or to a real server. */
export interface OdooRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface OdooAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export type OdooTransport = (request: OdooRequest) => Promise<OdooAnswer>;

/** An error answer of Odoo: the class of its exception, and its text. */
export class OdooSays extends Error {
  override readonly name = 'OdooSays';
  readonly exception: string;

  constructor(exception: string, message: string) {
    super(message);
    this.exception = exception;
  }
}

export function overHttp(url: string): OdooTransport {
  return async ({ path, headers, body }) => {
    const answer = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() };
  };
}

export interface OdooLogin {
  database: string;
  user: string;
  password: string;
}

export type Context = Record<string, unknown>;

/** One user of one database, over JSON-RPC. */
export class OdooClient {
  readonly transport: OdooTransport;
  readonly login: OdooLogin;
  #userId: number | null = null;

  constructor(transport: OdooTransport, login: OdooLogin) {
    this.transport = transport;
    this.login = login;
  }

  /** A client for another user of the same database. */
  as(user: string, password: string): OdooClient {
    return new OdooClient(this.transport, { ...this.login, user, password });
  }

  async userId(): Promise<number> {
    const { database, user, password } = this.login;
    this.#userId ??= (await this.rpc('common', 'login', [database, user, password])) as number;
    return this.#userId;
  }

  async rpc(service: string, method: string, args: unknown[]): Promise<unknown> {
    const call = { jsonrpc: '2.0', method: 'call', params: { service, method, args } };
    const answer = await this.transport({ path: '/jsonrpc', headers: {}, body: JSON.stringify(call) });
    const said = JSON.parse(answer.body) as {
      result?: unknown;
      error?: { data: { name: string; message: string } };
    };
    if (said.error !== undefined) throw new OdooSays(said.error.data.name, said.error.data.message);
    return said.result;
  }

  /** Calls a method of a model with positional and named arguments. */
  async call<Result = unknown>(
    model: string,
    method: string,
    args: unknown[] = [],
    named: Record<string, unknown> = {},
  ): Promise<Result> {
    const { database, password } = this.login;
    const params = [database, await this.userId(), password, model, method, args, named];
    return (await this.rpc('object', 'execute_kw', params)) as Result;
  }

  search(model: string, domain: unknown[], named: Record<string, unknown> = {}): Promise<number[]> {
    return this.call(model, 'search', [domain], named);
  }

  searchRead<Row = Record<string, unknown>>(
    model: string,
    domain: unknown[],
    fields: string[],
    named: Record<string, unknown> = {},
  ): Promise<Row[]> {
    return this.call(model, 'search_read', [domain, fields], named);
  }

  read<Row = Record<string, unknown>>(model: string, ids: number[], fields: string[]): Promise<Row[]> {
    return this.call(model, 'read', [ids, fields]);
  }

  /** The id of the record with this external id. */
  async ref(name: string): Promise<number> {
    const [module, ...rest] = name.split('.');
    const domain = [
      ['module', '=', module],
      ['name', '=', rest.join('.')],
    ];
    const [row] = await this.searchRead<{ res_id: number }>('ir.model.data', domain, ['res_id']);
    if (row === undefined) throw new Error(`no record ${name}`);
    return row.res_id;
  }
}
