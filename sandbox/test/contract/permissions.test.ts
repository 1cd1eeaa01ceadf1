// Calls every endpoint of the API without a token, without the permission, and without the scope.
import { describe, expect, test } from 'vitest';
import { type Application, type Permission, permissions } from '../../src/auth.ts';
import { routes } from '../../src/resources/index.ts';
import { useSandbox } from './harness.ts';

const nowMs = { value: Date.parse('2026-05-20T12:00:00.000Z') };
const openApi = ['read write'] as const;
const credentials = (name: string) => ({ clientId: `${name}-id`, clientSecret: `${name}-secret`, name });
/**
 * For each permission, one application with only this permission and one with all others. For each scope, one
 * application without it.
 */
const applications: Application[] = [
  ...permissions.map((one, at) => ({ ...credentials(`only-${at}`), permissions: [one], scopes: openApi })),
  ...permissions.map((one, at) => ({
    ...credentials(`without-${at}`),
    permissions: permissions.filter((other) => other !== one),
    scopes: openApi,
  })),
  { ...credentials('supplier'), permissions, scopes: ['wholesaler'] },
  { ...credentials('both'), permissions: [], scopes: ['read write', 'wholesaler'] },
  { ...credentials('bare'), permissions: [], scopes: ['wholesaler'] },
];
const api = useSandbox({ now: () => new Date(nowMs.value), applications, legacyKey: 'the-legacy-key' });

const fetchToken = async (name: string, scope?: string) => {
  const answer = await fetch(`${api().sandbox.url}/4711/oauth2/token/`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) }),
    headers: { authorization: `Basic ${Buffer.from(`${name}-id:${name}-secret`).toString('base64')}` },
  });
  return { status: answer.status, json: (await answer.json()) as Record<string, string> };
};
const tokenOf = async (name: string) => `Bearer ${(await fetchToken(name)).json.access_token}`;

/** Calls an endpoint without a body for a record that does not exist, so that nothing changes. Returns the status. */
const statusOf = async (method: string, path: string, authorization?: string): Promise<number> => {
  const url = `${api().sandbox.url}/4711/api/0.1/${path.replace(/:[a-z_]+/g, '1')}`;
  const answer = await fetch(url, { method, headers: authorization ? { authorization } : {} });
  await answer.body?.cancel();
  return answer.status;
};

const endpoints = routes.map(({ method, path, permission, scope = 'read write' }) => ({
  method,
  path,
  permission,
  scope,
}));

describe('practice-api "Authentication" 1, 2: every endpoint', () => {
  test.each(endpoints)('$method $path answers 401 without a valid token', async ({ method, path }) => {
    expect(await statusOf(method, path)).toBe(401);
    expect(await statusOf(method, path, 'Bearer unknown')).toBe(401);
    expect(await statusOf(method, path, 'Token wrong')).toBe(401);
    const token = await tokenOf('only-0');
    nowMs.value += 36_000_000;
    expect(await statusOf(method, path, token)).toBe(401);
  });

  const ofOpenApi = endpoints.filter(({ scope }) => scope === 'read write');

  test.each(ofOpenApi)(
    '$method $path answers 403 without the permission $permission',
    async ({ method, path, permission }) => {
      const at = permissions.indexOf(permission as Permission);
      expect(at).toBeGreaterThanOrEqual(0);
      expect(await statusOf(method, path, await tokenOf(`without-${at}`))).toBe(403);
      expect([401, 403]).not.toContain(await statusOf(method, path, await tokenOf(`only-${at}`)));
    },
  );

  test.each(ofOpenApi)('$method $path answers 403 without the scope of the Open API', async ({ method, path }) => {
    expect(await statusOf(method, path, await tokenOf('supplier'))).toBe(403);
  });

  test.each(ofOpenApi)('5: $method $path takes the legacy API key', async ({ method, path }) => {
    expect([401, 403]).not.toContain(await statusOf(method, path, 'Token the-legacy-key'));
  });
});

describe('practice-api "Authentication" 4: endpoints of wholesalers', () => {
  const ofWholesalers = endpoints.filter(({ scope }) => scope === 'wholesaler');

  test.each(ofWholesalers)('$method $path needs the scope and no permission', async ({ method, path }) => {
    expect(await statusOf(method, path, await tokenOf('only-0'))).toBe(403);
    for (const name of ['bare', 'both']) {
      expect([401, 403]).not.toContain(await statusOf(method, path, await tokenOf(name)));
    }
  });

  test.each(ofWholesalers)('5: $method $path answers 401 to the legacy API key', async ({ method, path }) => {
    expect(await statusOf(method, path, 'Token the-legacy-key')).toBe(401);
  });
});

describe('practice-api "Authentication" 2: the permissions that it shows', () => {
  test.each([
    ['accountingreport/', 'Financial: End of day and accounting reports'],
    ['accountnumber/', 'Financial: Invoices'],
    ['alternative_payer/', 'General: Patients and clients'],
    ['alternativepricing/', 'Settings: Items'],
  ])('%s needs %s', (start, permission) => {
    const needed = endpoints.filter(({ path }) => path.startsWith(start)).map((endpoint) => endpoint.permission);
    expect(new Set(needed)).toEqual(new Set([permission]));
  });
});

describe('OAuth2: tokens', () => {
  test('a token has the scopes that were asked for, by default all of the application', async () => {
    expect((await fetchToken('both')).json.scope).toBe('read write wholesaler');
    const narrow = await fetchToken('both', 'wholesaler');
    expect(narrow.json.scope).toBe('wholesaler');
    const authorization = `Bearer ${narrow.json.access_token}`;
    expect(await statusOf('GET', 'available_wholesaler/', authorization)).toBe(200);
    expect(await statusOf('GET', 'client/', authorization)).toBe(403);
  });

  test.each([
    ['only-0', 'wholesaler'],
    ['bare', 'read write'],
    ['both', 'read'],
    ['both', 'wholesaler admin'],
  ])('%s gets no token with the scope "%s"', async (name, scope) => {
    expect(await fetchToken(name, scope)).toEqual({ status: 400, json: { error: 'invalid_scope' } });
  });

  test('two applications have tokens of their own, which expire one by one', async () => {
    const first = await tokenOf('only-3');
    nowMs.value += 1000;
    const second = await tokenOf('only-1');
    expect(first).not.toBe(second);
    const clients = (authorization: string) => statusOf('GET', 'client/', authorization);
    const invoices = (authorization: string) => statusOf('GET', 'invoice/', authorization);
    expect([await clients(first), await invoices(first)]).toEqual([200, 403]);
    expect([await clients(second), await invoices(second)]).toEqual([403, 200]);
    nowMs.value += 36_000_000 - 1000;
    expect([await clients(first), await invoices(second)]).toEqual([401, 200]);
    nowMs.value += 1000;
    expect(await invoices(second)).toBe(401);
  });
});
