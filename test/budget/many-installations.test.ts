import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/index.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { type App, openApp } from '../../src/runtime/app.ts';
import { type Engine, startEngine } from '../../src/runtime/worker.ts';
import { runWindowNow } from '../../src/windows/run-window.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig, fromEnvironment } from '../support/demo-config.ts';
import { emptyList, type FakeServer, json, startServer } from '../support/practice-fakes.ts';
import { query } from '../support/sql.ts';

/** Their three lists wait in parallel in more activities than 40, which is a worker's default number of slots. */
const throttled = Array.from({ length: 15 }, (_, i) => 9001 + i);
const prompt = 4711;

let folder: string;
const { url: databaseUrl } = useDatabase();
let sandbox: Sandbox;
let busy: FakeServer;
let app: App;
let engine: Engine;

beforeAll(async () => {
  sandbox = await startSandbox({ installation: prompt, invoices: 30, rateWindowSeconds: 1 });
  const opened = new Set<string>();
  // The source lets the window of each installation open, and then has no budget for an hour.
  busy = await startServer((request, response) => {
    const [, installation = ''] = request.target.split('/');
    const answer = opened.has(installation) ? json('{}', 429, { 'retry-after': '3600' }) : emptyList;
    opened.add(installation);
    return answer(request, response);
  });
  folder = mkdtempSync(join(tmpdir(), 'vetledger-many-'));
  const one = (id: number, url: string, window: number) => ({ id, base_url: url, rate_window_seconds: window });
  const config = join(folder, 'vetledger.yaml');
  writeFileSync(
    config,
    demoConfig([...throttled.map((id) => one(id, busy.url, 60)), one(prompt, sandbox.url, 1)], {
      database_url: fromEnvironment('DATABASE_URL'),
      temporal: `{address: ${fromEnvironment('TEMPORAL_ADDRESS')}}`,
    }),
  );
  const env = {
    ...process.env,
    PRACTICE_TOKEN: sandbox.token,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    VETLEDGER_DATA_DIR: folder,
    VETLEDGER_LOG: 'silent',
  };
  app = await openApp(await loadConfig(config, env), { temporal: true, progress: () => undefined, env });
  engine = await startEngine(app, {}, () => undefined);
});

afterAll(async () => {
  await engine?.stop();
  await app?.close();
  await sandbox?.stop();
  await busy?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('installations that wait for their budgets keep no other from its window', async () => {
  const stop = new AbortController();
  const windows = throttled.map((id) => runWindowNow(app, engine, id, { trigger: 'sync', signal: stop.signal }));
  const waiting = async () => {
    const rows = await query<{ n: number }>(app.db, 'select count(*) as n from budget_claim where expires_at > now()');
    return rows[0]!.n;
  };
  await expect.poll(waiting, { timeout: 40_000, interval: 250 }).toBeGreaterThan(40);
  const started = performance.now();
  const report = await runWindowNow(app, engine, prompt, { trigger: 'sync', signal: new AbortController().signal });
  expect(report).toMatchObject({ outcome: 'closed', seen: { invoices: expect.any(Number) } });
  expect(report.seen.invoices).toBeGreaterThan(0);
  expect((performance.now() - started) / 1000).toBeLessThan(30);
  expect(await waiting()).toBeGreaterThan(40);
  stop.abort();
  const outcomes = await Promise.all(windows);
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(throttled.map(() => 'failed'));
});
