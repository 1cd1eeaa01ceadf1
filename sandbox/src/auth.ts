// Authentication and permissions: OAuth2 applications with client credentials, permission groups and scopes, and the
// legacy API key (practice-api: Authentication; field notes: OAuth2).
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { givenName } from './given.ts';
import { type Answer, unauthorized } from './http/answer.ts';
import { ValidationProblem } from './records.ts';

/**
 * The permissions that the specification names. For parts of the API without a named permission, one is added per part.
 * Endpoints with the scope `wholesaler` need no permission.
 */
export const permissions = [
  'Financial: End of day and accounting reports',
  'Financial: Invoices',
  'Financial: Payment links',
  'General: Patients and clients',
  'General: Consultations',
  'General: Appointments',
  'General: E-prescriptions',
  'Settings: Items',
  'Settings: Departments',
] as const;
export type Permission = (typeof permissions)[number];
export type Scope = 'read write' | 'wholesaler';

/** An OAuth2 application: an integration that is registered with the service. */
export interface Application {
  clientId: string;
  clientSecret: string;
  name: string;
  /** The permissions of the application's permission group. */
  permissions: readonly Permission[];
  scopes: readonly Scope[];
  /** An optional bearer token that never expires. */
  token?: string;
  /** True for the legacy API key of the clinic. The key belongs to no application, so it owns no records. */
  isLegacyKey?: boolean;
}

/** The application of the accounting integration, which has every permission. `token` never expires. */
export interface Credentials {
  token: string;
  clientId: string;
  clientSecret: string;
}

/**
 * Applications that every sandbox has besides the accounting one: a wholesaler's integration, and an application with
 * every permission for trying out the API.
 */
export const builtInApplications: readonly Application[] = [
  {
    ...{ clientId: 'wholesaler-client', clientSecret: 'wholesaler-secret', token: 'wholesaler-token' },
    ...{ name: 'wholesaler', permissions: [], scopes: ['wholesaler'] },
  },
  {
    ...{ clientId: 'explorer-client', clientSecret: 'explorer-secret', token: 'explorer-token' },
    ...{ name: 'explorer', permissions, scopes: ['read write', 'wholesaler'] },
  },
];

/** The answer of the token endpoint to a wrong client id or secret. */
export const invalidClient: Answer = {
  status: 401,
  body: {
    error: 'invalid_client',
    error_description: 'Send the client id and secret in a Basic Authorization header.',
  },
  headers: { 'www-authenticate': 'Basic' },
};

export interface IssuedToken {
  clientId: string;
  scopes: readonly Scope[];
  expiresMs: number;
}

/** The maximum number of tokens; each further token ends the oldest one. */
const maxTokens = 1000;
const maxApplications = 100;

/** The JSON form of an application in settings files and control requests. */
export const applicationSchema = z.strictObject({
  name: z.string().min(1).max(100),
  client_id: givenName(100),
  client_secret: z.string().min(1).max(255),
  token: z
    .string()
    .regex(/^[\w.~+/=-]{1,255}$/, 'Send a bearer token: letters, digits and "-._~+/=".')
    .optional()
    .meta({ description: 'A bearer token that never expires. Without it tokens come from the token endpoint alone.' }),
  permissions: z
    .array(z.enum(permissions))
    .max(permissions.length)
    .default([...permissions]),
  scopes: z
    .array(z.enum(['read write', 'wholesaler']))
    .min(1)
    .max(2)
    .default(['read write']),
});

export const applicationOf = ({
  client_id,
  client_secret,
  token,
  ...rest
}: z.output<typeof applicationSchema>): Application => ({
  ...rest,
  clientId: client_id,
  clientSecret: client_secret,
  ...(token === undefined ? {} : { token }),
});

export class Auth {
  /** Applications by client id; the first one is the accounting integration. */
  readonly #applications: Map<string, Application>;
  #legacyKey: string | null;
  /** Issued tokens that have not expired, in order of issue. */
  readonly #issued = new Map<string, IssuedToken>();
  #issues = 0;

  constructor(credentials: Credentials, others: readonly Application[] = [], legacyKey: string | null = null) {
    const main: Application = { ...credentials, name: 'accounting', permissions, scopes: ['read write'] };
    this.#applications = new Map([main, ...builtInApplications, ...others].map((one) => [one.clientId, one]));
    this.#legacyKey = legacyKey;
  }

  /** All applications without their secrets, in the JSON form of settings files. */
  applications(): object[] {
    return this.#all().map(({ clientId: client_id, name, permissions, scopes }) => ({
      client_id,
      name,
      permissions,
      scopes,
    }));
  }

  /** All applications with their credentials. `token` is null if the application has no permanent token. */
  credentials(): {
    name: string;
    token: string | null;
    client_id: string;
    client_secret: string;
    scopes: readonly Scope[];
  }[] {
    return this.#all().map(({ name, token = null, clientId: client_id, clientSecret: client_secret, scopes }) => ({
      ...{ name, token, client_id, client_secret, scopes },
    }));
  }

  /** Adds an application, or replaces the one with the same client id. Tokens that it was issued stay valid. */
  put(application: Application): void {
    if (!this.#applications.has(application.clientId) && this.#applications.size >= maxApplications)
      throw new ValidationProblem('client_id', `There are ${maxApplications} applications. Reset the sandbox first.`);
    this.#applications.set(application.clientId, application);
  }

  /** The issued tokens, for a snapshot. */
  issuedTokens(): ReadonlyMap<string, IssuedToken> {
    return new Map(this.#issued);
  }

  restoreTokens(tokens: ReadonlyMap<string, IssuedToken>): void {
    this.#issued.clear();
    for (const [token, issued] of tokens) this.#issued.set(token, issued);
  }

  setLegacyKey(key: string | null): void {
    this.#legacyKey = key;
  }

  /** Returns the application whose valid token is in the header, or the answer that refuses the request. */
  identify(header: string | undefined, nowMs: number): Application | Answer {
    if (this.#legacyKey !== null && header === `Token ${this.#legacyKey}`) {
      const [main] = this.#all() as [Application];
      return { ...main, clientId: '', name: 'legacy API key', scopes: ['read write'], isLegacyKey: true };
    }
    const token = /^Bearer (\S+)$/i.exec(header ?? '')?.[1];
    if (token === undefined) return unauthorized('Authentication credentials were not provided.');
    const known = this.#all().find((application) => application.token === token);
    if (known) return known;
    const issued = this.#issued.get(token);
    const owner = issued && nowMs < issued.expiresMs ? this.#applications.get(issued.clientId) : undefined;
    return issued && owner ? { ...owner, scopes: issued.scopes } : unauthorized('Invalid or expired token.');
  }

  /** Returns the application whose client id and secret are in the Basic header; null if there is none. */
  client(header: string | undefined): Application | null {
    const encoded = /^Basic (\S+)$/i.exec(header ?? '')?.[1] ?? '';
    const given = Buffer.from(encoded, 'base64').toString('utf8');
    return this.#all().find((known) => given === `${known.clientId}:${known.clientSecret}`) ?? null;
  }

  /**
   * POST oauth2/token/: client credentials in a Basic header, with a form-encoded body. `scope` requests some of the
   * application's scopes; without it the token gets all of them.
   */
  issue(header: string | undefined, body: Record<string, unknown>, nowMs: number, lifeSeconds: number): Answer {
    const application = this.client(header);
    if (!application) return invalidClient;
    if (body.grant_type !== 'client_credentials') return { status: 400, body: { error: 'unsupported_grant_type' } };
    const scopes = grantedScopes(application.scopes, body.scope);
    if (scopes.length === 0) return { status: 400, body: { error: 'invalid_scope' } };
    const { clientId, clientSecret } = application;
    const text = `${clientSecret}/${++this.#issues}/${nowMs}`;
    const access_token = createHash('sha256').update(text).digest('hex').slice(0, 40);
    this.#forget(nowMs);
    this.#issued.set(access_token, { clientId, scopes, expiresMs: nowMs + lifeSeconds * 1000 });
    const scope = scopes.join(' ');
    return { status: 200, body: { access_token, token_type: 'Bearer', expires_in: lifeSeconds, scope } };
  }

  /** Makes room for one token: removes the expired tokens, and the oldest tokens above the maximum. */
  #forget(nowMs: number): void {
    for (const [token, { expiresMs }] of this.#issued) {
      if (expiresMs <= nowMs || this.#issued.size >= maxTokens) this.#issued.delete(token);
    }
  }

  #all(): Application[] {
    return [...this.#applications.values()];
  }
}

/** The requested scopes; an empty list if the application lacks one of them. */
const grantedScopes = (scopes: readonly Scope[], asked: unknown): readonly Scope[] => {
  if (typeof asked !== 'string' || asked.trim() === '') return scopes;
  const words = asked.trim().split(/\s+/);
  const granted = scopes.filter((scope) => scope.split(' ').every((word) => words.includes(word)));
  const known = granted.flatMap((scope) => scope.split(' '));
  return words.every((word) => known.includes(word)) ? granted : [];
};
