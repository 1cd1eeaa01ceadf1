import { afterEach, beforeEach, expect, test } from 'vitest';
import { type HealthReport, type ObservationServer, startObservation } from '../../src/http/health.ts';

let server: ObservationServer;
let live: HealthReport;
let ready: () => Promise<HealthReport>;
const well: HealthReport = { ok: true, checks: { workers: { ok: true } } };
const ill: HealthReport = {
  ok: false,
  checks: { postgres: { ok: false, reason: 'gone', since: '2026-03-01T00:00:00Z' } },
};

const start = (port = 0) =>
  startObservation({
    host: '127.0.0.1',
    port,
    live: () => live,
    ready: () => ready(),
    metrics: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', text: 'one 1\n' }),
  });

beforeEach(async () => {
  live = well;
  ready = async () => well;
  server = await start();
});

afterEach(() => server.close());

const get = (path: string, init: RequestInit = {}) => fetch(`${server.url}${path}`, init);

test('health and readiness are JSON, with 200 where all is well and 503 and the reason where it is not', async () => {
  for (const path of ['/healthz', '/readyz']) {
    const answer = await get(path);
    expect([path, answer.status, await answer.json()]).toEqual([path, 200, well]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  }
  live = ill;
  ready = async () => ill;
  for (const path of ['/healthz', '/readyz']) {
    const answer = await get(path);
    expect([path, answer.status, await answer.json()]).toEqual([path, 503, ill]);
  }
});

test('metrics come as Prometheus reads them', async () => {
  const answer = await get('/metrics');
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(await answer.text()).toBe('one 1\n');
});

test('an answer contains no details of an error; other paths and methods give 404', async () => {
  ready = async () => {
    throw new Error('password=secret');
  };
  const failed = await get('/readyz');
  expect([failed.status, await failed.text()]).toEqual([500, '{"detail":"The request could not be answered."}']);
  for (const [path, method] of [
    ['/', 'GET'],
    ['/metrics', 'POST'],
    ['/healthz', 'DELETE'],
  ] as const) {
    expect([path, (await get(path, { method })).status]).toEqual([path, 404]);
  }
});

test('an address that is taken may be free a moment later: exit code 3, and it names its key', async () => {
  await expect(start(Number(new URL(server.url).port))).rejects.toMatchObject({
    code: 'metrics_cannot_listen',
    exitCode: 3,
    todo: expect.stringContaining('metrics.listen'),
  });
});
