// Measures the time from a change in the practice software to its entry in the journal, when a webhook nudges the
// daemon. It uses the embedded servers: PostgreSQL, Temporal's development server with its file database, a worker, the
// receiver, and a sandbox that sends the webhooks. Run: `node bench/nudge.ts [--changes N] [--print]`; with --print it
// does not write bench/RESULTS.md.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Sandbox, startSandbox } from '../sandbox/src/index.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { type App, openApp } from '../src/runtime/app.ts';
import { type Engine, startEngine } from '../src/runtime/worker.ts';
import { runSchedules } from '../src/windows/daemon.ts';
import { runWindowNow } from '../src/windows/run-window.ts';
import { demoConfig, fromEnvironment } from '../test/support/demo-config.ts';
import { query } from '../test/support/sql.ts';
import { machine, writeSection } from './measure.ts';

const { values: options } = parseArgs({
  options: { changes: { type: 'string', default: '24' }, print: { type: 'boolean', default: false } },
});
const changes = Number(options.changes);
const secret = 'secret-of-the-benchmark';
const entryTimeoutMs = 20_000;
/**
 * The pause between changes. It is random, so that each change finds vetledger idle and at another point of its poll
 * interval.
 */
const pauseMs = { least: 4_500, most: 6_500 };
const aimMs = { median: 800, longest: 2_000 };

/** The changes in the clinic, made in turn. Each returns the document whose entry the benchmark waits for. */
const happenings: [name: string, run: (sandbox: Sandbox) => { kind: string; id: number }][] = [
  ['a new invoice', ({ clinic }) => ({ kind: 'invoice', id: newInvoice(clinic).id })],
  [
    'its payment',
    ({ clinic }) => ({ kind: 'payment', id: clinic.pay(clinic.invoices.all().at(-1)!.id, { payment_type: 1 }).id }),
  ],
  [
    'a prepayment',
    ({ clinic }) => ({ kind: 'prepayment', id: clinic.takePrepayment({ payment_type: 1, paid: '50.00' }).id }),
  ],
];

function newInvoice(clinic: Sandbox['clinic']) {
  const row = { sum: '80.00', vat_percentage: '25.50', account_number: '3000' };
  return clinic.createInvoice({ rows: [row, { ...row, sum: '12.40' }] });
}

const folder = mkdtempSync(join(tmpdir(), 'vetledger-bench-'));
// PostgreSQL runs as another user, who must be able to enter the folder.
chmodSync(folder, 0o755);
const sandbox = await startSandbox({ seed: 1, invoices: 300 });
try {
  const app = await openDemo();
  try {
    const engine = await startEngine(app, {}, () => {});
    try {
      await measure(app, engine);
    } finally {
      await engine.stop();
    }
  } finally {
    await app.close();
  }
} finally {
  await sandbox.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function openDemo(): Promise<App> {
  const file = join(folder, 'vetledger.yaml');
  writeFileSync(
    file,
    demoConfig([{ id: sandbox.installation, base_url: sandbox.url }], {
      data_dir: '.',
      schedule: '{every: 1h}',
      webhooks: `{listen: "127.0.0.1:0", secret: ${fromEnvironment('WEBHOOK_SECRET')}}`,
    }),
  );
  const env = { ...process.env, PRACTICE_TOKEN: sandbox.token, WEBHOOK_SECRET: secret, VETLEDGER_LOG: 'error' };
  return openApp(await loadConfig(file, env), { temporal: true, progress: console.error, env });
}

async function measure(app: App, engine: Engine): Promise<void> {
  const stop = new AbortController();
  const first = await runWindowNow(app, engine, sandbox.installation, { trigger: 'bench', signal: stop.signal });
  if (first.outcome !== 'closed') throw new Error(first.error?.message);
  const [latest] = await query<{ id: number }>(app.db, 'select max(id) as id from sync_window');
  const listening = Promise.withResolvers<string>();
  const daemon = runSchedules(app, engine, { signal: stop.signal, onListening: listening.resolve });
  const times = new Map<string, number[]>(happenings.map(([name]) => [name, []]));
  const changedAt: number[] = [];
  try {
    const url = await Promise.race([listening.promise, daemon.then(() => '')]);
    await sleep(pauseMs.most);
    sandbox.setWebhooks({ url: `${url}/${sandbox.installation}/${secret}` });
    for (let i = 0; i < changes; i += 1) {
      const [name, run] = happenings[i % happenings.length]!;
      const started = performance.now();
      changedAt.push(Date.now());
      const document = run(sandbox);
      await entryOf(app, document);
      times.get(name)!.push(performance.now() - started);
      await sleep(pauseMs.least + Math.random() * (pauseMs.most - pauseMs.least));
    }
  } finally {
    stop.abort();
    await daemon;
  }
  await report(app, engine, times, changedAt, latest!.id);
}

async function entryOf(app: App, { kind, id }: { kind: string; id: number }): Promise<void> {
  const deadline = performance.now() + entryTimeoutMs;
  while (performance.now() < deadline) {
    const found = await query(app.db, 'select from entry where kind = ? and document_id = ?', [kind, id]);
    if (found.length > 0) return;
    await sleep(10);
  }
  throw new Error(`${kind} ${id} had no entry after ${entryTimeoutMs} ms`);
}

interface Step {
  /** Milliseconds from scheduling an activity to its start. */
  waited: number[];
  ran: number[];
}

/** Reads from the Temporal histories how long each step of the windows took. */
async function stepsOf(
  app: App,
  engine: Engine,
  after: number,
): Promise<{ steps: Map<string, Step>; between: number[]; begun: number[] }> {
  const begun: number[] = [];
  const steps = new Map<string, Step>();
  const between: number[] = [];
  const rows = await query<{ workflow_id: string; run_id: string }>(
    app.db,
    `select workflow_id, run_id from sync_window where id > ? and outcome = 'closed' and (counts->>'posted')::int > 0`,
    [after],
  );
  for (const { workflow_id, run_id } of rows) {
    const { events } = await engine.client.workflow.getHandle(workflow_id, run_id).fetchHistory();
    const scheduled = new Map<string, { name: string; at: number }>();
    const started = new Map<string, number>();
    let last = millisecondsOf(events?.[0]?.eventTime);
    begun.push(last);
    for (const event of events ?? []) {
      const at = millisecondsOf(event.eventTime);
      const { activityTaskScheduledEventAttributes: begin, activityTaskCompletedEventAttributes: end } = event;
      if (begin) {
        if (last > 0) between.push(at - last);
        last = 0;
        scheduled.set(String(event.eventId), { name: begin.activityType?.name ?? '', at });
      }
      const start = event.activityTaskStartedEventAttributes;
      if (start) started.set(String(start.scheduledEventId), at);
      if (!end) continue;
      last = at;
      const key = String(end.scheduledEventId);
      const { name, at: scheduledAt } = scheduled.get(key)!;
      const step = steps.get(name) ?? { waited: [], ran: [] };
      steps.set(name, step);
      step.waited.push(started.get(key)! - scheduledAt);
      step.ran.push(at - started.get(key)!);
    }
  }
  return { steps, between, begun };
}

function millisecondsOf(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1000 + (time?.nanos ?? 0) / 1e6;
}

async function report(
  app: App,
  engine: Engine,
  times: Map<string, number[]>,
  changedAt: number[],
  after: number,
): Promise<void> {
  const all = [...times.values()].flat();
  const { steps, between, begun } = await stepsOf(app, engine, after);
  // The window of a change is the first one that began after it.
  const untilWindow = changedAt
    .map((at) => Math.min(...begun.filter((begin) => begin > at)) - at)
    .filter(Number.isFinite);
  const [windows] = await query<{ n: number; nudged: number }>(
    app.db,
    `select count(*)::int as n, count(*) filter (where trigger = 'webhook')::int as nudged from sync_window where id > ?`,
    [after],
  );
  const isReached = quantile(all, 0.5) <= aimMs.median && Math.max(...all) <= aimMs.longest;
  const text = [
    ...machine(),
    '',
    `${changes} changes in turn, ${pauseMs.least / 1000} to ${pauseMs.most / 1000} s after the last one’s entry; from the change in the sandbox (its own`,
    `webhook) to the entry in PostgreSQL. ${windows!.n} windows, ${windows!.nudged} of them noted as a webhook’s. Aim: ${aimMs.median / 1000} s at the median, ${aimMs.longest / 1000} s at most: ${isReached ? 'reached' : 'not reached'}.`,
    '',
    '| change | n | median | 90 % | longest |',
    '|---|---:|---:|---:|---:|',
    ...[...times, ['all', all] as const].map(
      ([name, each]) =>
        `| ${name} | ${each.length} | ${shown(quantile(each, 0.5))} | ${shown(quantile(each, 0.9))} | ${shown(Math.max(...each))} |`,
    ),
    '',
    'Steps of the windows that posted something, medians in milliseconds (the three pulls run side by side):',
    '',
    '| step | waiting for the worker | running | longest run |',
    '|---|---:|---:|---:|',
    `| from the change to the window’s beginning | | ${Math.round(quantile(untilWindow, 0.5))} | ${Math.round(Math.max(...untilWindow))} |`,
    ...[...steps].map(
      ([name, { waited, ran }]) =>
        `| ${name} | ${Math.round(quantile(waited, 0.5))} | ${Math.round(quantile(ran, 0.5))} | ${Math.round(Math.max(...ran))} |`,
    ),
    `| between two steps | | ${Math.round(quantile(between, 0.5))} | ${Math.round(Math.max(...between))} |`,
  ].join('\n');
  console.log(text);
  if (!options.print) writeSection('From a change to its entry, by webhook', text);
}

function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

function shown(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
