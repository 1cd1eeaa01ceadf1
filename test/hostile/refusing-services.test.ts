// PostgreSQL is read-only, full or has no free connection, or the Temporal namespace is gone, while a daemon runs. Each
// cause is named, and the daemon recovers without help.

import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { startSandbox } from '../../sandbox/src/index.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { HealthReport } from '../../src/http/health.ts';
import { type App, openApp } from '../../src/runtime/app.ts';
import { runDaemon } from '../../src/windows/daemon.ts';
import { vetledger } from '../cli/support.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { startDaemon } from '../support/daemon-process.ts';
import { runAlone, urlOfDatabase } from '../support/server.ts';
import { waitFor } from '../workflows/support.ts';

vi.setConfig({ testTimeout: 180_000 });

const everySeconds = 2;
/** The daemon has recovered after two intervals plus the pause before a step is retried. */
const recoveredWithinMs = 20_000;

let clinic: TestClinic;
let app: App;
let url: string;
const stop = new AbortController();
let daemon: Promise<unknown>;
const said: { event: string; error?: { code: string; message: string; todo: string } | null }[] = [];
const closed: number[] = [];

beforeAll(async () => {
  clinic = await startTestClinic({ seed: 71, invoices: 20 });
  await clinic.engine.stop();
  clinic.engine.stop = async () => {};
  app = await openApp(await loadConfig(clinic.config, clinic.env), {
    temporal: true,
    progress: () => undefined,
    env: clinic.env,
  });
  app.config.schedule = { ...app.config.schedule, everySeconds };
  app.config.metrics = { listen: { host: '127.0.0.1', port: 0 }, temporalListen: null, backup: false };
  app.events.on((event) => said.push(event as (typeof said)[number]));
  const listening = Promise.withResolvers<string>();
  daemon = runDaemon(app, {
    signal: stop.signal,
    onObserving: listening.resolve,
    onWindow: ({ outcome }) => outcome === 'closed' && closed.push(performance.now()),
    times: { heartbeatMs: 200 },
  })
    .catch((error: unknown) => error)
    .finally(() => app.close());
  url = await Promise.race([listening.promise, daemon.then((error) => Promise.reject(error))]);
  await waitFor('first window', () => closed.length > 0);
});

afterAll(async () => {
  stop.abort();
  await daemon;
  await clinic?.stop();
});

const name = () => new URL(clinic.ownerUrl).pathname.slice(1);
/** Runs a statement as the server's superuser, in another database than the clinic's. */
const server = (sql: string) => runAlone(urlOfDatabase(inject('databaseUrl'), 'postgres'), sql);
const endSessions = () =>
  server(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name()}' and usename <> current_user`,
  );

async function ready(): Promise<{ status: number; postgres?: HealthReport['checks'][string] }> {
  const answer = await fetch(`${url}/readyz`);
  const { checks } = (await answer.json()) as HealthReport;
  return { status: answer.status, ...(checks.postgres ? { postgres: checks.postgres } : {}) };
}

const refusals = [
  {
    what: 'read-only',
    code: 'postgres_read_only',
    message: /PostgreSQL is read-only.*25006/,
    begin: () => server(`alter database ${name()} set default_transaction_read_only = on`),
    end: () => server(`alter database ${name()} reset default_transaction_read_only`),
    opens: true,
  },
  {
    what: 'without a free connection',
    code: 'postgres_connections_used_up',
    message: /no more connections.*53300/,
    begin: () => server(`alter database ${name()} connection limit 0`),
    end: () => server(`alter database ${name()} connection limit -1`),
    opens: false,
  },
];

describe.each(refusals)('PostgreSQL is $what', ({ code, message, begin, end, opens }) => {
  const named = expect.objectContaining({ code, message: expect.stringMatching(message) });

  test('a daemon whose sessions go on is not ready, and is again when it is over', async () => {
    await begin();
    try {
      expect(
        await waitFor('no readiness', async () => ((await ready()).status === 503 ? ready() : null)),
      ).toMatchObject({
        status: 503,
        postgres: { ok: false, reason: expect.stringMatching(message) },
      });
    } finally {
      await end();
    }
    await waitFor('readiness', async () => (await ready()).status === 200, recoveredWithinMs);
  });

  test('a daemon that has lost its sessions, too, names it and continues', async () => {
    const from = said.length;
    await begin();
    try {
      await endSessions();
      await waitFor('outage', () => said.slice(from).some(({ event }) => event === 'outage'));
      // The first heartbeat may find only that its session has ended.
      await waitFor('cause', async () => message.test((await ready()).postgres?.reason ?? ''));
      await waitFor('cause of the outage', () => app.outages.of('postgres')?.error.code === code);
      expect(app.outages.of('postgres')?.error).toEqual(named);
      expect((await ready()).status).toBe(503);
    } finally {
      await end();
    }
    const over = performance.now();
    await waitFor('recovery', () => said.slice(from).some(({ event }) => event === 'recovery'), recoveredWithinMs);
    await waitFor('readiness', async () => (await ready()).status === 200, recoveredWithinMs);
    await waitFor('closed window', () => closed.some((at) => at > over), recoveredWithinMs);
    expect(await Promise.race([daemon, 'at work'])).toBe('at work');
  });

  test('commands name it, and advise on no other server', async () => {
    await begin();
    try {
      const commands = opens ? ['sync', 'run'] : ['sync', 'run', 'status'];
      for (const command of commands) {
        const ran = await vetledger([command, '--config', clinic.config, '--json'], clinic.env);
        const { error } = ran.json();
        expect({ command, code: ran.code, error }).toEqual({ command, code: 3, error: named });
        expect(error.todo).not.toMatch(/embedded|database_url/);
      }
      const doctor = await vetledger(['doctor', '--config', clinic.config, '--json'], clinic.env);
      expect(doctor.code).toBe(3);
      const check = doctor.json().checks.find((each: { check: string }) => each.check === 'PostgreSQL');
      expect(check).toMatchObject({ status: 'fail', message: expect.stringMatching(message) });
      if (!opens) return;
      const status = await vetledger(['status', '--config', clinic.config, '--check'], clinic.env);
      expect([status.code, status.stderr]).toEqual([1, expect.stringMatching(message)]);
    } finally {
      await end();
    }
  });
});

test('a full disk shows in /readyz by the heartbeats, and in the window that waits for it', async () => {
  await clinic.asOwner(`create function full_disk() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    create trigger full_disk before insert or update on daemon for each row execute function full_disk();
    create trigger full_disk before insert or update on sync_cursor for each row execute function full_disk();`);
  try {
    const told = async () => (await ready()).postgres?.reason?.includes('The disk of PostgreSQL is full (53100)');
    await waitFor('no readiness', told);
    expect((await ready()).status).toBe(503);
  } finally {
    await clinic.asOwner('drop function full_disk cascade');
  }
  const over = performance.now();
  await waitFor('readiness', async () => (await ready()).status === 200, recoveredWithinMs);
  await waitFor('closed window', () => closed.some((at) => at > over), recoveredWithinMs);
});

test('a Temporal server without the namespace: start, sync, status and doctor name it', async () => {
  const { env } = clinic;
  const config = clinic.config.replace(/\.yaml$/, '-elsewhere.yaml');
  const text = readFileSync(clinic.config, 'utf8');
  writeFileSync(config, text.replace(/^(temporal: .*)\}$/m, '$1, namespace: nowhere}'));
  const missing = { code: 'temporal_namespace_missing', message: 'The Temporal server has no namespace nowhere.' };
  for (const command of ['run', 'sync']) {
    const ran = await vetledger([command, '--config', config, '--json'], env);
    expect({ command, code: ran.code, ...ran.json() }).toMatchObject({ command, code: 3, error: missing });
    expect(ran.json().error.todo).not.toMatch(/embedded|TEMPORAL_ADDRESS/);
  }
  const status = await vetledger(['status', '--config', config, '--json'], env);
  expect(status.json().temporal).toMatchObject({ ok: false, error: missing });
  const doctor = await vetledger(['doctor', '--config', config, '--json'], env);
  expect(doctor.code).toBe(3);
  expect(doctor.json().checks).toContainEqual(
    expect.objectContaining({ check: 'Temporal', status: 'fail', message: missing.message }),
  );
});

test('the namespace is deleted under a daemon: it names that within seconds, and stays up', async () => {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  onTestFinished(() => connection.close());
  const namespace = `gone-${randomUUID()}`;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs(86_400_000),
  });
  await waitFor('namespace', () => connection.workflowService.countWorkflowExecutions({ namespace }).catch(() => null));
  const sandbox = await startSandbox({ seed: 72, invoices: 5, rateWindowSeconds: 1 });
  onTestFinished(() => sandbox.stop());
  const running = startDaemon(sandbox, {
    settings: { temporal: `{address: "${inject('temporalAddress')}", namespace: ${namespace}}` },
  });
  await running.event('closed window', ({ event }) => event === 'window_closed');
  await connection.operatorService.deleteNamespace({ namespace });
  const outage = await running.event('outage', ({ event }) => event === 'outage');
  expect(outage).toMatchObject({ dependency: 'temporal', error: { code: 'temporal_namespace_missing' } });
  const status = await vetledger(['status', '--config', running.config, '--json'], running.env);
  expect(status.json().temporal).toMatchObject({ ok: false, error: { code: 'temporal_namespace_missing' } });
  expect(running.process.exitCode).toBeNull();
});

test.each([
  [
    'a database that is not there',
    { DATABASE_URL: (url: URL) => Object.assign(url, { pathname: '/nowhere' }).href },
    'Create that database, or correct its name in database_url',
  ],
  [
    'a PostgreSQL that is not there',
    { DATABASE_URL: (url: URL) => Object.assign(url, { port: '1' }).href },
    'Start that server, or correct database_url',
  ],
  [
    'a Temporal that is not there',
    { TEMPORAL_ADDRESS: () => '127.0.0.1:1' },
    'Start that server, or correct temporal.address',
  ],
] as const)('%s: a daemon ends with exit code 3, and no embedded server is named', async (_, change, todo) => {
  const [[name, changed] = expect.unreachable()] = Object.entries(change);
  const env = { ...clinic.env, [name]: changed(new URL(clinic.env.DATABASE_URL ?? '')) };
  const ran = await vetledger(['run', '--config', clinic.config, '--json'], env);
  expect([ran.code, ran.json().error.todo]).toEqual([3, expect.stringContaining(todo)]);
  expect(ran.json().error.todo).not.toContain('embedded');
});
