// A server of tokens as ERPs have them: authorization codes with PKCE, refresh tokens that rotate, revocation, and the companies
// that a token reaches, at the paths of Xero. Faults of its answers are set per request. It shares no code with the program.

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What happens to a refresh token that was used. `strict`: it is dead. `reuse`: using it again also ends the login. `grace`: it
 * can be used again. `same`: it is not replaced.
 */
export type Rotation = 'strict' | 'reuse' | 'grace' | 'same';

/**
 * A fault of one answer. `cut`: the tokens are replaced, and the connection ends. `unseen`: nothing happens, and the connection
 * ends. A text is sent instead of the answer, after the tokens were replaced. A number is a status without effect.
 */
export type Fault = 'cut' | 'unseen' | number | { body: string } | { answer: object } | { wait: Promise<void> };

interface Grant {
  refresh: string;
  former: string[];
  access: Set<string>;
}

const tenant = '0a0a0a0a-1111-4222-8333-444455556666';

export class TokenServer {
  readonly clientId = 'client-1';
  readonly clientSecret = 'a secret of the client';
  rotation: Rotation = 'strict';
  expiresIn: unknown = 1_800;
  companies = [{ tenantId: tenant, tenantType: 'ORGANISATION', tenantName: 'Demo Clinic Ltd' }];
  /** Faults of the next answers to requests for tokens. */
  faults: Fault[] = [];
  /** Each form that was sent to the token endpoint, and each request to the others. */
  readonly asked: Record<string, string>[] = [];
  /** How often a dead refresh token was used. */
  reused = 0;
  /** Whether logins can be revoked. */
  revokes = true;
  /** Called before each answer to a request for tokens. */
  onAsked: () => void = () => {};
  #grants: Grant[] = [];
  readonly #codes = new Map<string, { challenge: string; redirect: string }>();
  #n = 0;
  readonly #server = createServer((message, response) => void this.#answer(message, response));

  async start(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A login outside of the program: its tokens. */
  grant(): { refresh: string; access: string } {
    const grant = { refresh: this.#token('refresh'), former: [], access: new Set<string>() };
    this.#grants.push(grant);
    return { refresh: grant.refresh, access: this.#access(grant) };
  }

  /** Whether a request with this header is authorised. */
  accepts(authorization: string | undefined): boolean {
    return this.#grants.some(({ access }) => access.has(authorization?.replace('Bearer ', '') ?? ''));
  }

  /** The number of logins that have not ended. */
  get grants(): number {
    return this.#grants.length;
  }

  /** A person ends all logins in the ERP. */
  end(): void {
    this.#grants = [];
  }

  /** The person opens the address and agrees. Returns the address to which the browser is sent. */
  agree(address: string): string {
    if (!address.startsWith(`${this.url}/identity/connect/authorize?`)) throw new Error(`not our address: ${address}`);
    const { searchParams: asked } = new URL(address);
    const redirect = asked.get('redirect_uri') ?? '';
    const code = this.#token('code');
    this.#codes.set(code, { challenge: asked.get('code_challenge') ?? '', redirect });
    return `${redirect}?${new URLSearchParams({ code, state: asked.get('state') ?? '' })}`;
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of message) body += chunk;
    const { pathname } = new URL(message.url ?? '', this.url);
    const form = Object.fromEntries(new URLSearchParams(body));
    this.asked.push({ path: pathname, ...form });
    const send = (status: number, value: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (pathname === '/connections') {
      if (!this.accepts(message.headers.authorization)) return void send(401, {});
      return void send(200, this.companies);
    }
    const client = Buffer.from(message.headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString();
    if (client !== `${this.clientId}:${encodeURIComponent(this.clientSecret).replaceAll('%20', '+')}`)
      return void send(401, { error: 'invalid_client' });
    if (pathname === '/connect/revocation') {
      if (this.revokes === false) return void send(503, {});
      this.#grants = this.#grants.filter(({ refresh }) => refresh !== form.token);
      return void send(200, {});
    }
    this.onAsked();
    const fault = this.faults.shift();
    if (fault === 'unseen') return void message.socket.destroy();
    if (typeof fault === 'number') return void send(fault, { error: 'server_error' });
    const [status, value] = form.grant_type === 'authorization_code' ? this.#exchanged(form) : this.#renewed(form);
    if (fault === 'cut') return void message.socket.destroy();
    if (fault !== undefined && 'body' in fault) return void response.writeHead(200).end(fault.body);
    if (fault !== undefined && 'wait' in fault) await fault.wait;
    send(status, fault !== undefined && 'answer' in fault ? { ...value, ...fault.answer } : value);
  }

  #exchanged({ code = '', code_verifier = '', redirect_uri }: Record<string, string>): [number, object] {
    const asked = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = createHash('sha256').update(code_verifier).digest('base64url');
    if (asked === undefined || asked.challenge !== challenge || asked.redirect !== redirect_uri)
      return [400, { error: 'invalid_grant' }];
    const { refresh, access } = this.grant();
    return [200, { token_type: 'Bearer', access_token: access, refresh_token: refresh, expires_in: this.expiresIn }];
  }

  #renewed({ refresh_token: used = '' }: Record<string, string>): [number, object] {
    const refused: [number, object] = [400, { error: 'invalid_grant', error_description: `unknown: ${used}` }];
    const owner = this.#grants.find(({ refresh, former }) => refresh === used || former.includes(used));
    if (owner === undefined) return refused;
    if (owner.refresh !== used) {
      this.reused += 1;
      if (this.rotation === 'reuse') this.#grants = this.#grants.filter((grant) => grant !== owner);
      if (this.rotation !== 'grace') return refused;
    }
    if (this.rotation !== 'same') {
      owner.former.push(owner.refresh);
      owner.refresh = this.#token('refresh');
    }
    const answer = { access_token: this.#access(owner), expires_in: this.expiresIn, token_type: 'Bearer' };
    return [200, this.rotation === 'same' ? answer : { ...answer, refresh_token: owner.refresh }];
  }

  #access(grant: Grant): string {
    const token = this.#token('access');
    grant.access.add(token);
    return token;
  }

  #token(kind: string): string {
    this.#n += 1;
    return `${kind}-${this.#n}-${'x'.repeat(20)}`;
  }
}
