import { describe, expect, test } from 'vitest';
import { useSandbox } from './harness.ts';

let nowMs = Date.parse('2026-05-20T12:00:00.000Z');
const api = useSandbox({ now: () => new Date(nowMs) });
const fetchToken = (credentials: string, body = 'grant_type=client_credentials') =>
  fetch(`${api().sandbox.url}/4711/oauth2/token/`, {
    method: 'POST',
    body,
    headers: {
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
  });
const ask = (authorization?: string) =>
  fetch(`${api().sandbox.url}/4711/api/0.1/invoice/`, authorization ? { headers: { authorization } } : {});

describe('practice-api "Authentication"', () => {
  test.each([undefined, 'Bearer wrong', 'Basic abc', 'sandbox-token'])(
    'authorization %s answers 401',
    async (header) => {
      const refused = await ask(header);
      expect(refused.status).toBe(401);
      expect(await refused.json()).toEqual({ detail: expect.any(String) });
    },
  );

  test('a refused token takes no slot', () => {
    expect(api().sandbox.stats().requests).toBe(0);
  });

  test('field notes: client credentials give a token that lives 10 h', async () => {
    const answer = await fetchToken('sandbox-client:sandbox-secret');
    const { access_token, expires_in, token_type } = (await answer.json()) as Record<string, string>;
    expect([expires_in, token_type]).toEqual([36_000, 'Bearer']);
    expect((await ask(`Bearer ${access_token}`)).status).toBe(200);
    nowMs += 36_000_000 - 1;
    expect((await ask(`Bearer ${access_token}`)).status).toBe(200);
    nowMs += 1;
    expect((await ask(`Bearer ${access_token}`)).status).toBe(401);
  });

  test('wrong credentials answer 401, another grant 400', async () => {
    expect((await fetchToken('sandbox-client:wrong')).status).toBe(401);
    expect((await fetchToken('sandbox-client:sandbox-secret', 'grant_type=password')).status).toBe(400);
  });
});
