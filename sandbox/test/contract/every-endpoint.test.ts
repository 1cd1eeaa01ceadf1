// Rules for every endpoint (practice-api: Conventions 3 and 5, Limits).
import { describe, expect, test } from 'vitest';
import { limitOf } from '../../src/http/rate.ts';
import { startSandbox } from '../../src/index.ts';
import { routes } from '../../src/resources/index.ts';
import { callApi, useSandbox } from './harness.ts';

const api = useSandbox();
/** The credentials of the built-in application that has every permission. */
const authorization = 'Bearer explorer-token';
const urlOf = (path: string, query = '') =>
  `${api().sandbox.url}/4711/api/0.1/${path.replace(/:[a-z_]+/g, '1')}${query}`;

const lists = routes.filter(({ action }) => action.endsWith('.list'));

describe('practice-api "Conventions" 5: every list has pages', () => {
  test.each(lists.filter(({ path }) => !path.includes(':')))('GET $path', async ({ path }) => {
    const page = (await (await fetch(urlOf(path, '?page_size=1'), { headers: { authorization } })).json()) as object;
    expect(page).toEqual({
      ...{ count: expect.any(Number), num_pages: expect.any(Number), previous: null, results: expect.any(Array) },
      next: (page as { count: number }).count > 1 ? expect.stringContaining('page=2') : null,
    });
    expect((page as { results: unknown[] }).results.length).toBeLessThanOrEqual(1);
    expect((await fetch(urlOf(path, '?page=200'), { headers: { authorization } })).status).toBe(404);
  });
});

describe('practice-api "Conventions" 3: media types', () => {
  const withBody = routes
    .filter(({ body }) => body !== undefined)
    .map(({ method, path, form }) => ({ method, path, form }));

  test.each(withBody)('$method $path takes forms: $form', async ({ method, path, form }) => {
    const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
    const { status } = await fetch(urlOf(path), { method, headers, body: 'x=1' });
    if (form) expect(status).not.toBe(415);
    else expect(status).toBe(415);
  });

  test.each(withBody)('$method $path refuses other media types and broken JSON', async ({ method, path }) => {
    const send = (type: string) =>
      fetch(urlOf(path), { method, headers: { authorization, 'content-type': type }, body: '{"x": ' });
    expect((await send('text/plain')).status).toBe(415);
    expect((await send('application/json')).status).toBe(400);
  });

  test.each(routes.filter(({ method }) => method === 'GET'))('GET $path is offered as text/html', async ({ path }) => {
    const answer = await fetch(urlOf(path), { headers: { authorization, accept: 'text/html' } });
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await answer.text()).toMatch(/^<!DOCTYPE html>/);
  });
});

describe('practice-api "Limits": every action has a separate limit', () => {
  test('clients: 60 lists a minute, by weight, while one client can still be read', async () => {
    const limited = callApi(await startSandbox({ invoices: 10, now: () => new Date('2026-05-20T12:00:00Z') }));
    try {
      expect((await limited.get('client/', { page_size: 1000 })).status).toBe(200);
      expect((await limited.get('client/', { page_size: 1000 })).status).toBe(200);
      expect((await limited.get('client/', { page_size: 1000 })).status).toBe(200);
      const refused = await limited.get('client/');
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
      expect((await limited.get('client/2001/')).status).toBe(200);
      expect((await limited.get('patient/')).status).toBe(200);
    } finally {
      await limited.sandbox.stop();
    }
  });

  test.each(routes)('$method $path has a limit, and no other endpoint shares it', ({ action }) => {
    expect(limitOf(action)).toBeGreaterThanOrEqual(60);
    expect(routes.filter((other) => other.action === action)).toHaveLength(1);
  });
});
