// The web page and the JSON at `/`, and GET /health.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { type Controlled, start } from './support.ts';

const now = () => new Date('2026-05-20T12:00:00Z');
const html = async ({ sandbox }: Controlled): Promise<string> =>
  (await fetch(sandbox.url, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })).text();

/** An address of this machine other than its loopback address; undefined if there is none. */
const outer = Object.values(networkInterfaces())
  .flat()
  .find((one) => one && !one.internal && one.family === 'IPv4')?.address;

describe('the page', () => {
  test('as JSON', async () => {
    const api = await start({
      ...{ now, quirks: { order: 'id_desc' as const }, faults: { http500: { count: 2 } } },
      others: [{ installation: 4712, invoices: 1, timezone: 'Europe/Lisbon' }],
    });
    await api.get('invoice/', { page_size: 1 });
    await api.get('invoices/');
    const { json, headers } = await api.control('GET', '/', undefined, { accept: 'application/json' });
    expect(headers.get('cache-control')).toBe('no-store');
    const { url } = api.sandbox;
    const [first, second] = json.installations;
    expect(first).toMatchObject({
      ...{ installation: 4711, api: `${url}/4711/api/0.1/`, scenario: null, webhook_attempts: [] },
      ...{ quirks: { order: 'id_desc' }, faults: { http500: { count: 1 } } },
      clock: { now: '2026-05-20T12:00:00.000Z', runs: true, timezone: 'Europe/Helsinki' },
      requests: [
        { id: 2, status: 404, nearest: 'GET /4711/api/0.1/invoice/' },
        { id: 1, status: 500, faults: ['http500'] },
      ],
    });
    expect(first.applications[0]).toEqual({
      ...{ name: 'accounting', token: 'sandbox-token', client_id: 'sandbox-client', client_secret: 'sandbox-secret' },
      scopes: ['read write'],
    });
    expect(second).toMatchObject({
      ...{ installation: 4712, requests: [], quirks: {}, faults: {}, clock: { timezone: 'Europe/Lisbon' } },
    });
    for (const link of [...Object.values(json.links), ...Object.values(second.links)] as string[])
      expect([link, (await fetch(link)).status]).toEqual([link, 200]);
  });

  test('for browsers: a page that has the same, and may load and run nothing', async () => {
    const api = await start({ now });
    await api.get('invoices/');
    const answer = await fetch(api.sandbox.url, { headers: { accept: 'text/html' } });
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'unsafe-inline';/);
    const page = await answer.text();
    for (const text of ['Installation 4711', 'sandbox-token', 'explorer-secret', 'GET /invoices/', 'Europe/Helsinki'])
      expect(page).toContain(text);
    expect(page).not.toMatch(/<script|<form| on[a-z]+=|style=/i);
  });

  test.each([
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['text/html', 'text/html'],
    ['text/plain', 'application/json'],
  ])('Accept: %s gets %s', async (accept, type) => {
    const { sandbox } = await start({ invoices: 1 });
    const answer = await fetch(sandbox.url, { headers: { accept } });
    expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).toEqual([200, type]);
  });

  test('what comes from outside is text', async () => {
    const api = await start({ now, webhooks: { url: 'http://127.0.0.1:1/?<img>', triggers: [1] } });
    const bad = `"><img src=x onerror=alert(1)>'`;
    const added = { name: bad, client_id: 'x', client_secret: bad };
    expect((await api.control('POST', 'applications', added)).status).toBe(200);
    // A URL parser would encode these characters, so the test passes the path directly.
    const asked = request({ port: api.sandbox.port, host: '127.0.0.1', path: '/4711/api/0.1/<img>?<img>"' });
    asked.end();
    await once(asked, 'response');
    await api.control('POST', 'quirks', { ignoredFilters: ['id__gt'] });
    await api.send('POST', 'client/', { lastname: 'New' });
    await expect.poll(() => html(api)).toContain('trigger 1');
    expect(await html(api)).not.toMatch(/<img|onerror=alert\(1\)>/);
  });

  test('twenty requests, the newest first, and twenty installations', async () => {
    const others = Array.from({ length: 21 }, (_, n) => ({ installation: 5000 + n, invoices: 0, historyDays: 1 }));
    const api = await start({ invoices: 1, others });
    for (let n = 0; n < 23; n++) await api.get('user/', { page_size: 1 });
    const { installations, more } = (await api.control('GET', '/')).json;
    expect(installations[0].requests.map(({ id }: { id: number }) => id)).toEqual(
      Array.from({ length: 20 }, (_, n) => 23 - n),
    );
    expect([installations.length, more]).toEqual([20, 2]);
    expect(await html(api)).toContain('2 more installations are not shown.');
  });

  test.each([['late-commits'], ['flaky']])('the scenario %s', async (name) => {
    const api = await start({ invoices: 1 });
    await api.control('POST', 'scenario', { name });
    expect((await api.control('GET', '/')).json.installations[0].scenario).toBe(name);
    await api.control('POST', 'faults', { notJson: { count: 1 } });
    expect((await api.control('GET', '/')).json.installations[0].scenario).toBeNull();
  });

  test('not to pages of other sites', async () => {
    const { sandbox } = await start({ invoices: 1 });
    const answer = await fetch(sandbox.url, { headers: { origin: 'https://evil.example' } });
    expect([answer.status, await answer.text()]).toEqual([403, expect.not.stringContaining('sandbox-token')]);
  });

  test.skipIf(outer === undefined)('not to other machines, which may ask for health', async () => {
    const { sandbox } = await start({ invoices: 1, host: '0.0.0.0' });
    const ask = async (path: string) => {
      const answer = await fetch(`http://${outer}:${sandbox.port}${path}`);
      return [answer.status, await answer.json()];
    };
    expect(await ask('/')).toEqual([404, { detail: 'Not found.' }]);
    expect(await ask('/sandbox/requests')).toEqual([404, { detail: 'Not found.' }]);
    expect(await ask('/health')).toEqual([200, { status: 'ok', installations: [{ installation: 4711, saved: null }] }]);
  });
});

describe('GET /health', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-health-'));
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  test('saved: true with a state file, null without', async () => {
    const { sandbox } = await start({
      ...{ invoices: 1, stateFile: join(folder, 'a.ndjson'), others: [{ installation: 4712, invoices: 1 }] },
    });
    const answer = await fetch(`${sandbox.url}/health`);
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        status: 'ok',
        installations: [
          { installation: 4711, saved: true },
          { installation: 4712, saved: null },
        ],
      },
    ]);
  });

  test('503 once the state file cannot be written', async () => {
    const file = join(folder, 'b.ndjson');
    const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
    const begin = async (blocks: string) => {
      const options = [main, '--port', '0', '--invoices', '1', '--state', file, '--durable', '--json'];
      // `blocks` is the maximum size of a file that the process may write, in units of 512 bytes.
      const child = spawn('sh', ['-c', 'ulimit -f "$1"; shift; exec "$@"', 'sh', blocks, process.execPath, ...options]);
      children.push(child);
      const [line] = await once(child.stdout, 'data');
      return { child, url: JSON.parse(String(line)).url as string };
    };
    const first = await begin('unlimited');
    first.child.kill('SIGTERM');
    await once(first.child, 'exit');
    const { url } = await begin(String(Math.ceil(statSync(file).size / 512)));
    const add = () =>
      fetch(`${url}/4711/api/0.1/client/`, {
        method: 'POST',
        headers: { authorization: 'Bearer sandbox-token', 'content-type': 'application/json' },
        body: JSON.stringify({ lastname: 'x'.repeat(100) }),
      });
    expect((await fetch(`${url}/health`)).status).toBe(200);
    for (let n = 0; n < 3; n++) expect((await add()).status).toBe(201);
    const answer = await fetch(`${url}/health`);
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { status: 'the state cannot be saved', installations: [{ installation: 4711, saved: false }] },
    ]);
  });
});
