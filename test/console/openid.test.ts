// Signing in through OpenID Connect: against a real provider, and against one that lies.
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { returnPath } from '../../src/console/screens/sign-in/openid.ts';
import { disableSubject, linkIdentity } from '../../src/console/users/subjects.ts';
import { text } from '../../src/db/columns.ts';
import { rows } from '../../src/db/rows.ts';
import { useDatabase } from '../support/database.ts';
import { fromEnvironment } from '../support/demo-config.ts';
import { type Browser, openTestConsole, password, type TestConsole } from './support.ts';

const database = useDatabase();
const { db } = database;
const client = { id: 'console', secret: 'a secret of the console' };
const settings = (issuer: string) =>
  `{hosts: [books.example], passwords: false, oidc: {issuer: "${issuer}", client_id: ${client.id}, client_secret: ${fromEnvironment('OIDC_SECRET')}}}`;

/** A server on a free port. The handler comes later, because a provider must know its address. */
async function serve() {
  let handle: (request: IncomingMessage, response: ServerResponse) => unknown = () => {};
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answer = (handler: typeof handle) => {
    handle = handler;
  };
  return { server, url, answer };
}

/** A provider that signs everyone in at once, as the identity `account`. */
function realProvider({ url, answer }: Awaited<ReturnType<typeof serve>>, account: string): void {
  const provider = new Provider(url, {
    clients: [
      {
        ...{ client_id: client.id, client_secret: client.secret },
        ...{
          redirect_uris: [`http://localhost${returnPath}`],
          post_logout_redirect_uris: ['http://localhost/sign-in'],
        },
      },
    ],
    cookies: { keys: ['cookies of a test'] },
    ttl: { Interaction: 60, Grant: 60, Session: 60, AccessToken: 60, IdToken: 60 },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, email: 'aino@books.example' }) }),
    async loadExistingGrant(context) {
      const grant = new context.oidc.provider.Grant({ clientId: client.id, accountId: account });
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
  });
  answer((request, response) =>
    request.url?.startsWith('/interaction/')
      ? provider.interactionFinished(request, response, { login: { accountId: account } })
      : provider.callback()(request, response),
  );
}

/** A provider whose ID token is what a test wants. `attempt` has the nonce of the last sign-in. */
function lyingProvider({ url, answer }: Awaited<ReturnType<typeof serve>>) {
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const lie: { claims: object; header: object; isForeignKey: boolean } = {
    claims: {},
    header: {},
    isForeignKey: false,
  };
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url');
  const seen = { nonce: '', challenge: '', verifier: '' };
  const idToken = () => {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: url,
      sub: 'aino-7',
      aud: client.id,
      iat: now,
      exp: now + 60,
      nonce: seen.nonce,
      ...lie.claims,
    };
    const signed = `${part({ alg: 'RS256', kid: 'k', ...lie.header })}.${part(claims)}`;
    const key = (lie.isForeignKey ? foreign : own).privateKey;
    return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
  };
  const documents: Record<string, () => object> = {
    '/.well-known/openid-configuration': () => ({
      ...{
        issuer: url,
        authorization_endpoint: `${url}/auth`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/jwks`,
      },
      ...{ response_types_supported: ['code'], id_token_signing_alg_values_supported: ['RS256'] },
    }),
    '/jwks': () => ({ keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }] }),
    '/token': () => ({ access_token: 'x', token_type: 'bearer', id_token: idToken() }),
  };
  answer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    seen.verifier = new URLSearchParams(body).get('code_verifier') ?? seen.verifier;
    const document = documents[request.url ?? ''];
    response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document?.() ?? {}));
  });
  return { lie, seen };
}

const [real, lying] = await Promise.all([serve(), serve()]);
realProvider(real, 'aino-7');
const { lie, seen } = lyingProvider(lying);
const sites: TestConsole[] = [];
let [site, deceived] = [] as unknown as [TestConsole, TestConsole];
let aino: number;

beforeAll(async () => {
  const environment = { OIDC_SECRET: client.secret };
  site = await openTestConsole(database, {}, { console: settings(real.url), environment });
  deceived = await openTestConsole(database, {}, { console: settings(lying.url), environment });
  sites.push(site, deceived);
});
afterAll(async () => {
  for (const each of sites) await each.close();
  for (const { server } of [real, lying]) server.close();
});
beforeEach(async () => {
  await db.raw(`update vetledger_console.subject set issuer = null, issued_subject = null`);
  aino = await site.user(`aino-${randomUUID()}`, [['viewer', 4711]]);
  Object.assign(lie, { claims: {}, header: {}, isForeignKey: false });
});
const link = (issuer: string) => db.transaction((trx) => linkIdentity(trx, aino, { issuer, subject: 'aino-7' }));
/** A browser of the console, from an address without refused attempts. */
const browserOf = (of: TestConsole) => {
  addresses += 1;
  return Object.assign(of.browser(), { address: `198.51.100.${addresses}` });
};
let addresses = 0;
const lastSignIn = async () =>
  (await rows(db, { outcome: text }, 'select outcome from vetledger_console.sign_in order by id desc limit 1'))[0]
    ?.outcome;

/** Follows the real provider with its cookies until it returns to the console. */
async function throughProvider(from: string): Promise<string> {
  const cookies = new Map<string, string>();
  let url = new URL(from);
  for (let step = 0; step < 6; step += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    url = new URL(answer.headers.get('location') ?? '/no-redirect', url);
    if (url.pathname === returnPath) return `${url.pathname}${url.search}`;
  }
  throw new Error(`the provider did not return: ${url}`);
}

/** The address at which the lying provider returns the browser. */
async function fromLiar(browser: Browser): Promise<string> {
  const { location } = (await browser.get('/sign-in/openid')).headers;
  const asked = new URL(String(location)).searchParams;
  seen.nonce = asked.get('nonce') ?? '';
  seen.challenge = asked.get('code_challenge') ?? '';
  return `${returnPath}?${new URLSearchParams({ code: 'c', state: asked.get('state') ?? '' })}`;
}

test('a linked identity signs in through the provider, and comes to the page that was asked for', async () => {
  await link(real.url);
  const browser = browserOf(site);
  const begun = await browser.get('/sign-in/openid?next=/clinics');
  const asked = new URL(String(begun.headers.location));
  expect(Object.fromEntries(asked.searchParams)).toMatchObject({
    ...{ scope: 'openid', response_type: 'code', code_challenge_method: 'S256' },
    redirect_uri: `http://localhost${returnPath}`,
  });
  const answer = await browser.get(await throughProvider(asked.href));
  expect([answer.statusCode, answer.headers.location]).toEqual([303, '/clinics']);
  expect((await browser.get('/clinics')).statusCode).toBe(200);
  expect(await lastSignIn()).toBe('signed_in');
  expect((await browser.post('/sign-out')).statusCode).toBe(303);
  expect((await browser.get('/clinics')).statusCode).toBe(303);
});

test('an identity of no user gets no session, and sees what an administrator must link', async () => {
  const browser = browserOf(site);
  const { location } = (await browser.get('/sign-in/openid')).headers;
  const answer = await browser.get(await throughProvider(String(location)));
  expect(answer.statusCode).toBe(403);
  expect(answer.body).toContain(`The provider ${real.url} confirmed the identity aino-7`);
  expect(browser.cookie).toBeNull();
  expect(await lastSignIn()).toBe('refused');
});

test('an e-mail address is no identity', async () => {
  await db.transaction((trx) => linkIdentity(trx, aino, { issuer: real.url, subject: 'aino@books.example' }));
  const browser = browserOf(site);
  const { location } = (await browser.get('/sign-in/openid')).headers;
  expect((await browser.get(await throughProvider(String(location)))).statusCode).toBe(403);
});

test('the answer to one browser is worth nothing in another, or a second time', async () => {
  await link(real.url);
  const browser = browserOf(site);
  const { location } = (await browser.get('/sign-in/openid')).headers;
  const answer = await throughProvider(String(location));
  const victim = browserOf(site);
  expect((await victim.get(answer)).statusCode).toBe(403);
  await victim.get('/sign-in/openid');
  expect((await victim.get(answer)).statusCode).toBe(403);
  expect(victim.cookie).toBeNull();
  expect((await browser.get(answer)).statusCode).toBe(303);
  expect((await browser.get(answer)).statusCode).toBe(403);
});

test('a person signs out of the provider, too', async () => {
  const { headers } = await browserOf(site).get('/sign-in/openid/out');
  expect(headers.location).toContain(`${real.url}/session/end?`);
});

test('an honest answer of the second provider signs in, with the proof of PKCE', async () => {
  await link(lying.url);
  const browser = browserOf(deceived);
  const answer = await fromLiar(browser);
  expect((await browser.get(answer)).statusCode).toBe(303);
  expect(seen.verifier).toMatch(/^[\w-]{43}$/);
  expect(createHash('sha256').update(seen.verifier).digest('base64url')).toBe(seen.challenge);
});

const hour = 3600;
test.each<[string, Partial<typeof lie>]>([
  ['another nonce', { claims: { nonce: 'another' } }],
  ['no nonce', { claims: { nonce: undefined } }],
  ['another audience', { claims: { aud: 'another-client' } }],
  ['another issuer', { claims: { iss: 'https://evil.example' } }],
  ['no subject', { claims: { sub: undefined } }],
  ['an expired token', { claims: { exp: Math.floor(Date.now() / 1000) - hour } }],
  ['a foreign key', { isForeignKey: true }],
  ['no signature', { header: { alg: 'none' } }],
])('%s gets no session', async (_, change) => {
  await link(lying.url);
  Object.assign(lie, change);
  const browser = browserOf(deceived);
  const answer = await browser.get(await fromLiar(browser));
  expect([answer.statusCode, browser.cookie]).toEqual([403, null]);
});

test.each([
  ['another state', (url: string) => url.replace(/state=[\w-]+/, 'state=another')],
  ['no state', (url: string) => url.replace(/&state=[\w-]+/, '')],
  ['an error of the provider', (url: string) => url.replace('code=c', 'error=access_denied')],
])('%s gets no session', async (_, change) => {
  await link(lying.url);
  const browser = browserOf(deceived);
  const answer = await browser.get(change(await fromLiar(browser)));
  expect([answer.statusCode, browser.cookie]).toEqual([403, null]);
});

test('a disabled user does not sign in through the provider', async () => {
  await link(lying.url);
  await db.transaction((trx) => disableSubject(trx, aino));
  const browser = browserOf(deceived);
  const answer = await browser.get(await fromLiar(browser));
  expect([answer.statusCode, browser.cookie]).toEqual([403, null]);
});

test('with `passwords: false`, no password signs in', async () => {
  const { body } = await browserOf(site).get('/sign-in');
  expect(body).not.toContain('type="password"');
  expect((await browserOf(site).post('/sign-in', { name: 'aino', password })).statusCode).toBe(404);
  expect((await browserOf(site).get(`/password/${'a'.repeat(43)}`)).statusCode).toBe(404);
});
