// Bearer tokens and the client-credentials endpoint (practice-api: Authentication; field notes: OAuth2).
import { createHash } from 'node:crypto';
import type { Answer } from './http.ts';

export interface Credentials {
  token: string;
  clientId: string;
  clientSecret: string;
}

export class Auth {
  readonly #credentials: Credentials;
  /** Issued tokens with their expiry. */
  readonly #issued = new Map<string, number>();

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /** Null if the header carries a valid token, otherwise the refusal. */
  refusal(header: string | undefined, nowMs: number): Answer | null {
    const token = /^Bearer (\S+)$/i.exec(header ?? '')?.[1];
    if (token === undefined) return unauthorized('Authentication credentials were not provided.');
    if (token === this.#credentials.token) return null;
    const expires = this.#issued.get(token);
    return expires !== undefined && nowMs < expires ? null : unauthorized('Invalid or expired token.');
  }

  /** POST oauth2/token/: client credentials in a Basic header, form-encoded body. */
  issue(header: string | undefined, body: Record<string, unknown>, nowMs: number, lifeSeconds: number): Answer {
    const encoded = /^Basic (\S+)$/i.exec(header ?? '')?.[1] ?? '';
    const { clientId, clientSecret } = this.#credentials;
    if (Buffer.from(encoded, 'base64').toString('utf8') !== `${clientId}:${clientSecret}`) {
      return { status: 401, body: { error: 'invalid_client' }, headers: { 'www-authenticate': 'Basic' } };
    }
    if (body.grant_type !== 'client_credentials') return { status: 400, body: { error: 'unsupported_grant_type' } };
    const serial = this.#issued.size + 1;
    const access_token = createHash('sha256').update(`${clientSecret}/${serial}/${nowMs}`).digest('hex').slice(0, 40);
    this.#issued.set(access_token, nowMs + lifeSeconds * 1000);
    return { status: 200, body: { access_token, token_type: 'Bearer', expires_in: lifeSeconds, scope: 'read write' } };
  }
}

export const unauthorized = (detail: string): Answer => ({
  status: 401,
  body: { detail },
  headers: { 'www-authenticate': 'Bearer realm="api"' },
});
