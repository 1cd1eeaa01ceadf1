import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/db/pool.ts';
import type { HealthReport } from '../../src/http/health.ts';
import { readFigures } from '../../src/queries/figures.ts';
import { runDaemon } from '../../src/windows/daemon.ts';
import { scheduleHandle } from '../../src/windows/schedules.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { waitFor } from '../workflows/support.ts';

let clinic: TestClinic;
let url: string;
/** The database of the daemon's heartbeats; the tests make it unreachable. */
let databaseUrl: string;
const stop = new AbortController();
let daemon: Promise<unknown>;

beforeAll(async () => {
  clinic = await startTestClinic({ invoices: 60 });
  databaseUrl = clinic.env.DATABASE_URL ?? '';
  const presenceDb = openDatabase(() => databaseUrl, { max: 1, acquireTimeoutMs: 1_000, report: () => undefined });
  const probeDb = openDatabase(() => databaseUrl, { max: 1, connectionLifetimeMs: 100, report: () => undefined });
  const config = {
    ...clinic.app.config,
    schedule: { ...clinic.app.config.schedule, everySeconds: 2 },
    metrics: { listen: { host: '127.0.0.1', port: 0 }, temporalListen: null, backup: true },
  };
  const listening = Promise.withResolvers<string>();
  daemon = runDaemon(
    { ...clinic.app, config, presenceDb, probeDb },
    {
      ...{ signal: stop.signal, onObserving: listening.resolve, times: { heartbeatMs: 100 } },
      ...{ outageTimes: { everyMs: 100, answerWithinMs: 10_000 }, watchEveryMs: 100 },
    },
  ).finally(() => Promise.all([presenceDb.destroy(), probeDb.destroy()]));
  url = await Promise.race([listening.promise, daemon.then(() => Promise.reject(new Error('the daemon has ended')))]);
});

afterAll(async () => {
  stop.abort();
  await daemon;
  await clinic.stop();
});

const health = async (path: string) => {
  const answer = await fetch(`${url}${path}`);
  return { status: answer.status, ...((await answer.json()) as HealthReport) };
};

/** The metrics by series, as Prometheus reads them. */
async function metrics(): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

test('a daemon lives from the start, is ready once its workers poll, and reports the windows that it closes', async () => {
  expect(await health('/healthz')).toMatchObject({ status: 200, ok: true });
  await waitFor('readiness', async () => (await health('/readyz')).ok);
  expect(await health('/readyz')).toEqual({
    status: 200,
    ok: true,
    checks: { postgres: { ok: true }, temporal: { ok: true }, workers: { ok: true } },
  });
  await waitFor('closed window', async () =>
    (await metrics()).get('vetledger_windows_total{installation="4711",outcome="closed"}'),
  );
  const seen = await metrics();
  expect(seen.get('vetledger_windows_total{installation="4711",outcome="failed"}')).toBe(0);
  expect(seen.get('vetledger_dependency_up{dependency="temporal"}')).toBe(1);
  expect(seen.get('vetledger_api_requests_total{installation="4711"}')).toBeGreaterThan(3);
  expect(seen.get('vetledger_database_pool_limit')).toBe(10);
  // There is no backup yet, so the metric has the time at which the tables were created.
  expect(Date.now() / 1000 - (seen.get('vetledger_backup_timestamp_seconds') ?? 0)).toBeLessThan(3_600);
  expect([...seen.keys()].some((name) => name.startsWith('vetledger_nodejs_eventloop_lag_seconds'))).toBe(true);
});

test('without PostgreSQL the daemon lives and is not ready, and says why and since when; both pass', async () => {
  const reachable = databaseUrl;
  databaseUrl = 'postgresql://nobody@127.0.0.1:1/none';
  await waitFor('outage', () => clinic.app.outages.of('postgres'));
  expect(await health('/healthz')).toMatchObject({ status: 200 });
  const { status, checks } = await health('/readyz');
  expect(status).toBe(503);
  expect(checks).toMatchObject({
    postgres: { ok: false, reason: expect.stringContaining('PostgreSQL does not answer'), since: expect.any(String) },
    temporal: { ok: true },
    workers: { ok: true },
  });
  expect((await metrics()).get('vetledger_dependency_up{dependency="postgres"}')).toBe(0);
  expect((await metrics()).get('vetledger_outages_total{dependency="postgres"}')).toBe(1);
  databaseUrl = reachable;
  await waitFor('recovery', () => clinic.app.outages.of('postgres') === null);
  expect(await health('/readyz')).toMatchObject({ status: 200 });
  expect((await metrics()).get('vetledger_dependency_up{dependency="postgres"}')).toBe(1);
});

test('a Temporal that came back empty is named, nothing is made in its namespace, and all goes on when its data is back', async () => {
  const schedules = clinic.engine.client.schedule;
  const isThere = async () => {
    for await (const { scheduleId } of schedules.list())
      if (scheduleId.includes(`4711-${clinic.app.temporalName}`)) return true;
    return false;
  };
  const namespace = async (change: string) =>
    clinic.asOwner(
      `update vetledger.meta set value = jsonb_set(value::jsonb, '{namespace}', to_jsonb(${change}))::text where key = 'binding'`,
    );
  const before = `replace(value::jsonb ->> 'namespace', ' of before', '')`;
  await waitFor('schedule', isThere);
  await namespace(`(value::jsonb ->> 'namespace') || ' of before'`);
  await waitFor('outage', () => clinic.app.outages.of('temporal')?.error.code === 'temporal_replaced');
  const { status, checks } = await health('/readyz');
  expect(status).toBe(503);
  expect(checks.temporal).toMatchObject({ ok: false, reason: expect.stringContaining('has lost its data') });
  expect((await metrics()).get('vetledger_dependency_up{dependency="temporal"}')).toBe(0);
  await scheduleHandle(clinic.app, clinic.engine, 4711).delete();
  await waitFor('deletion', async () => !(await isThere()));
  // Waits for some rounds of the watch.
  await sleep(500);
  expect(await isThere()).toBe(false);
  await namespace(before);
  await waitFor('recovery', () => clinic.app.outages.of('temporal') === null);
  await waitFor('schedule that was made again', isThere);
  expect(await health('/readyz')).toMatchObject({ status: 200 });
}, 60_000);

test('the figures take as many statements for three hundred installations as for one, and are those of the tables', async () => {
  const ids = Array.from({ length: 300 }, (_, n) => 9001 + n);
  await clinic.asOwner(`
    insert into sync_window (installation, kind, trigger, to_time, outcome, workflow_id, run_id)
      select 9000 + i, 'window', 'schedule', '2026-03-01T12:00:00Z', 'closed', 'w', 'closed' || i from generate_series(1, 300) i;
    insert into sync_window (installation, kind, trigger, to_time, outcome, workflow_id, run_id)
      select 9001, 'window', 'schedule', '2026-03-01T12:05:00Z', 'failed', 'w', 'failed' || i from generate_series(1, 3) i;
    insert into document (installation, kind, id, state, problem_code, problem_message)
      select 9001, 'invoice', i, 'held', case when i = 1 then 'unmapped_vat' else 'unmapped_account' end, 'm'
      from generate_series(1, 3) i;
    insert into reconcile_verdict (installation, ok, failing) values (9001, false, '{E2}');
    insert into backup (finished_at) values ('2026-03-01T02:30:00Z');
    insert into scrub_pass (installation, pass, list, expected, records)
      values (9001, 1, 'invoice', 100, 100), (9001, 2, 'invoice', 100, 20), (9001, 2, 'row', 300, 80);`);
  const statements = async (installations: number[]) => {
    const asked: { __knexTxId?: string; sql: string }[] = [];
    const note = (query: { __knexTxId?: string; sql: string }) => asked.push(query);
    clinic.app.db.on('query', note);
    const figures = await readFigures(clinic.app.db, installations, { backup: true });
    clinic.app.db.off('query', note);
    // Selects the statements of its transaction only, because waiting windows may still run.
    const own = asked.find(({ sql }) => sql.startsWith('set local statement_timeout'))?.__knexTxId;
    expect(own).toBeDefined();
    const n = asked.filter(({ __knexTxId: transaction }) => transaction === own).length;
    return { n, figures };
  };
  const one = await statements([9001]);
  const all = await statements(ids);
  expect([one.n, all.n]).toEqual([12, 12]);
  expect(all.figures.windows).toHaveLength(300);
  expect(one.figures).toMatchObject({
    windows: [
      { installation: 9001, synced_to: new Date('2026-03-01T12:00:00Z'), failed_in_a_row: 3, open_since: null },
    ],
    held: expect.arrayContaining([
      { installation: 9001, code: 'unmapped_vat', n: 1 },
      { installation: 9001, code: 'unmapped_account', n: 2 },
    ]),
    scrubs: [{ installation: 9001, progress: 0.25 }],
    verdicts: [{ installation: 9001, ok: false }],
    deliveries: [],
    backup: new Date('2026-03-01T02:30:00Z'),
  });
});
