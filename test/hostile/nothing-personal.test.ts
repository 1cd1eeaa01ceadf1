// A daemon at work, with errors: its output and everything that it stores outside of PostgreSQL contain no personal
// names and no secrets.

import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../sandbox/src/index.ts';
import { startObservation } from '../../src/http/health.ts';
import { createLog } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics/metrics.ts';
import { ensureSearchAttributes } from '../../src/runtime/search-attributes.ts';
import { startDaemon } from '../support/daemon-process.ts';
import { createTestDatabase } from '../support/database.ts';
import { fromEnvironment } from '../support/demo-config.ts';
import { personalIn } from '../support/personal.ts';
import { answersOf, historiesOf, leaks } from './searching.ts';

test('neither streams, metrics and health, nor histories and search attributes name a person or a secret', {
  timeout: 240_000,
}, async () => {
  const sandbox = await startSandbox({ seed: 11, invoices: 60, rateWindowSeconds: 1 });
  const database = await createTestDatabase();
  const { invoices, invoicePayments, prepayments } = sandbox.clinic;
  for (const invoice of invoices.all()) {
    Object.assign(invoice, {
      payer_street_address: `Siltakatu ${invoice.id}`,
      payer_email: `aino${invoice.id}@example.fi`,
    });
  }
  const personal = personalIn([...invoices.all(), ...invoicePayments.all(), ...prepayments.all()]);
  expect(personal.size).toBeGreaterThan(100);
  const password = new URL(database.url).password;
  const secrets = [sandbox.token, ...(password.length < 8 ? [] : [password])];
  sandbox.setFaults({ http500: { count: 3 }, truncatedBody: { count: 2, skip: 6 }, notJson: { count: 1, skip: 9 } });
  const daemon = startDaemon(sandbox, {
    settings: {
      database_url: fromEnvironment('DATABASE_URL'),
      metrics: '{listen: "127.0.0.1:0"}',
      schedule: '{every: 2s}',
    },
    env: { DATABASE_URL: database.url, VETLEDGER_LOG: 'trace' },
  });
  await daemon.event('closed window', ({ event }) => event === 'window_closed');
  sandbox.live(20);
  sandbox.setFaults({ http500: { count: 2 } });
  await daemon.event('another one', ({ event }) => event === 'window_closed', daemon.events().length);
  const url = /metrics: (http:\S+)\/metrics/.exec(daemon.stderr())?.[1];
  const answers = await answersOf(String(url));
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  onTestFinished(() => connection.close());
  const client = new Client({ connection });
  const runs = new Map(daemon.events().map((event) => [event.run_id, event.workflow_id]));
  const histories = await historiesOf(client, runs);
  expect(histories.length).toBeGreaterThan(2);
  // The searched data is complete: ids and counts, retries, and log lines with the ids of their window.
  expect(histories.join('')).toContain('pullInvoices');
  expect(histories.join('')).toContain('windowTimeoutSeconds');
  expect(daemon.stderr()).toContain('trying again');
  expect(daemon.log().filter(({ action }) => action === 'invoice.list')).toContainEqual(
    expect.objectContaining({
      installation: sandbox.installation,
      workflow_id: expect.any(String),
      run_id: expect.any(String),
    }),
  );
  const places = { stdout: daemon.stdout(), stderr: daemon.stderr(), answers, histories: histories.join('\n') };
  expect(leaks(places, [...personal, ...secrets])).toEqual([]);
  daemon.process.kill('SIGTERM');
  await daemon.ended;
  await database.drop();
  await sandbox.stop();
});

test('the search finds what is planted: in a log line, a workflow’s input and end, a metric’s label, a search attribute', async () => {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  onTestFinished(() => connection.close());
  await ensureSearchAttributes(connection, 'default', () => undefined);
  const client = new Client({ connection });
  const runs = new Map<string, string>();
  /** Starts a workflow without a worker. */
  const started = async (options: object) => {
    const workflowId = `planted/${randomUUID()}`;
    const handle = await client.workflow.start('nothing', { workflowId, taskQueue: workflowId, ...options });
    runs.set(handle.firstExecutionRunId, workflowId);
    return handle;
  };
  const records = [{ payer_name: 'Aino Virtanen', pets: [{ name: 'Rekku Karhu' }], payer_email: 'aino@example.fi' }];
  const [owner, pet, email] = [...personalIn(records)] as [string, string, string];
  const token = 'planted-token-0123456789';

  const lines: string[] = [];
  const log = createLog('info', { write: (line) => lines.push(line) });
  log.warn({ installation: 4711, record: { payer_name: owner } }, 'a record');
  log.info({ signed_in_with: token }, 'a request');

  await started({ args: [{ installation: 4711, note: { about: pet } }] });
  await (await started({})).terminate(`the source said: ${email}`);
  await started({ searchAttributes: { Installation: [`4711 ${owner}`] } });

  const pool = { used: 0, free: 0, waiting: 0, limit: 0 };
  const dependencies = { postgres: true, temporal: true };
  const metrics = new Metrics(async () => ({
    ...{
      installations: [],
      version: '0',
      dependencies,
      pool,
      requests: new Map(),
      figures: null,
      watched: [],
      nowMs: 0,
    },
  }));
  const error = { code: 'c', message: 'm', todo: 't' };
  metrics.count({ time: '', event: 'outage', installation: null, dependency: owner as 'erp', error });
  const server = await startObservation({
    ...{ host: '127.0.0.1', port: 0 },
    live: () => ({ ok: true, checks: {} }),
    ready: async () => ({ ok: false, checks: { practice: { ok: false, reason: `${token} was refused` } } }),
    metrics: () => metrics.text(),
  });
  onTestFinished(() => server.close());

  const histories = (await historiesOf(client, runs)).join('\n');
  const places = { stdout: '', stderr: lines.join(''), answers: await answersOf(server.url), histories };
  expect(leaks(places, [owner, pet, email, token])).toEqual([
    { place: 'stderr', text: owner },
    { place: 'stderr', text: token },
    { place: 'answers', text: owner },
    { place: 'answers', text: token },
    { place: 'histories', text: owner },
    { place: 'histories', text: pet },
    { place: 'histories', text: email },
  ]);
});
