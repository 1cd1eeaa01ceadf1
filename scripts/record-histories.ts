// Records the histories of real windows into test/histories. Every later version of the workflows must replay them
// (test/workflows/replay.test.ts). Run: `node scripts/record-histories.ts [NAME…]`, and commit the written files.
// Without names it records all histories; older histories stay unless they have the same name.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import proto from '@temporalio/proto';
import { type Sandbox, startSandbox } from '../sandbox/src/index.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { integer } from '../src/db/columns.ts';
import { execute, rows } from '../src/db/rows.ts';
import { startEphemeralPostgres, startEphemeralTemporal } from '../src/embedded/index.ts';
import type { SliceReport } from '../src/erp/deliver/slice.ts';
import type { Delivery } from '../src/erp/delivery.ts';
import { scrubStatus } from '../src/queries/scrub.ts';
import { type App, openApp } from '../src/runtime/app.ts';
import { migrateAsOwner } from '../src/runtime/database.ts';
import { isDelivering } from '../src/runtime/request-deliveries.ts';
import { type Engine, startEngine } from '../src/runtime/worker.ts';
import { runReplay } from '../src/windows/replay.ts';
import { runWindowNow } from '../src/windows/run-window.ts';
import { startScrubs } from '../src/windows/scrubs.ts';
import { demoConfig, fromEnvironment } from '../test/support/demo-config.ts';
import type { ReplayRequest } from '../workflows/messages.ts';

/** The replay test checks that no name of this clinic is in the histories. */
const clinic = { seed: 51, invoices: 60, token: 'token-of-the-recorded-clinic' };
/** A pass of the scrub takes some seconds with this value. */
const scrubDays = 0.00005;
const target = fileURLToPath(new URL('../test/histories/', import.meta.url));
/** The names of the histories to write; without names, all are written. */
const only = process.argv.slice(2);
const never = new AbortController().signal;

/** The results of the next delivery slices: the first one fails, the second waits for the ERP, the third delivers. */
const slices: (() => Promise<SliceReport>)[] = [];
const nothing: SliceReport = { delivered: 0, refused: 0, uncertain: 0, left: 0, nextDueMs: null, waitingFor: null };
const noTarget = () => {
  throw new Error('no delivery asks for it');
};
const delivery: Delivery = {
  enqueue: async () => 0,
  foreign: async () => ({ error: null, isComplete: true }),
  target: noTarget,
  capabilities: noTarget,
  slice: () => slices.shift()?.() ?? Promise.resolve(nothing),
  matchItems: async () => ({ matched: 0, nextDueMs: null }),
  close: async () => undefined,
};

const postgres = await startEphemeralPostgres();
await migrateAsOwner(postgres);
const temporal = await startEphemeralTemporal();
const folder = mkdtempSync(join(tmpdir(), 'vetledger-histories-'));
const sandbox = await startSandbox({ ...clinic, rateWindowSeconds: 1 });
try {
  const app = await open();
  try {
    const scripted = { ...app, delivery };
    const engine = await startEngine(scripted, {}, (line) => console.error(line), { scrubs: true });
    try {
      await record(app, engine);
    } finally {
      await engine.stop();
    }
  } finally {
    await app.close();
  }
} finally {
  await sandbox.stop();
  await temporal.release();
  await postgres.release();
  rmSync(folder, { recursive: true, force: true });
}

async function open(): Promise<App> {
  const file = join(folder, 'vetledger.yaml');
  writeFileSync(
    file,
    demoConfig(
      [
        {
          id: sandbox.installation,
          base_url: sandbox.url,
          rate_window_seconds: 1,
          overlap_seconds: 60,
          scrub_days: scrubDays,
          erp: '{kind: csv}',
        },
      ],
      {
        database_url: fromEnvironment('DATABASE_URL'),
        temporal: `{address: "${temporal.address}"}`,
      },
    ),
  );
  const env = { ...process.env, PRACTICE_TOKEN: sandbox.token, DATABASE_URL: postgres.url, VETLEDGER_DATA_DIR: folder };
  return openApp(await loadConfig(file, env), { temporal: true, progress: (line) => console.error(line), env });
}

/** Runs one window of each kind and outcome. */
async function record(app: App, engine: Engine): Promise<void> {
  mkdirSync(target, { recursive: true });
  const { installation } = sandbox;
  const window = async (name: string, trigger = 'sync', timeoutMinutes = app.config.windowTimeoutMinutes) => {
    const as = { ...app, config: { ...app.config, windowTimeoutMinutes: timeoutMinutes } };
    const report = await runWindowNow(as, engine, installation, { trigger, signal: never });
    await save(engine, name);
    console.error(`${name}: ${report.outcome}${report.error ? ` (${report.error.code})` : ''}`);
  };

  // A page of payments fails at first, so that this history contains health signals.
  sandbox.setFaults({ http500: { action: 'invoicepayment.list', count: 5 } });
  await window('first-window');
  await window('census-window');
  await window('idle-window');
  await doubtfulDocument(app, sandbox);
  await window('refetch-window');
  sandbox.live(10);
  sandbox.setFaults({ unauthorizedOnce: { action: 'unallocatedpayment.list', count: 9 } });
  await window('failed-window');
  sandbox.setFaults({ unauthorizedOnce: null, timeoutMs: { ms: 4_000 } });
  await window('timed-out-window', 'sync', 2 / 60);
  sandbox.setFaults({ timeoutMs: null, http500: { action: 'invoicepayment.list' } });
  await window('given-up-window', 'sync', 6 / 60);
  sandbox.setFaults({ http500: null, unauthorizedOnce: { count: 100 } });
  await window('not-opened-window');
  sandbox.setFaults({ unauthorizedOnce: null });
  await replayed(app, engine);
  await window('retry-window', 'retry');
  await window('backfill', 'backfill');
  await scrubbed(app, engine);
  await delivered(app, engine);
  // Without cursors, the next window is a first load again.
  await execute(app.db, 'delete from sync_cursor');
  sandbox.setFaults({ http500: { action: 'invoicepayment.list' } });
  await window('first-window-given-up', 'sync', 2 / 60);
}

/**
 * A delivery whose first slice fails and whose second slice finds the ERP down. A signal wakes it, and it delivers the
 * rest.
 */
async function delivered(app: App, engine: Engine): Promise<void> {
  const waiting = Promise.withResolvers<void>();
  slices.push(
    () => Promise.reject(new Error('the first slice failed')),
    async () => {
      waiting.resolve();
      const waitingFor = { code: 'erp_unreachable', message: 'the ERP does not answer', todo: 'start it' };
      return { ...nothing, left: 2, nextDueMs: 60_000, waitingFor };
    },
    async () => ({ ...nothing, delivered: 1, left: 1, nextDueMs: 0 }),
    async () => ({ ...nothing, delivered: 1 }),
  );
  await engine.requestDelivery(sandbox.installation);
  await waiting.promise;
  await sleep(1_000);
  await engine.requestDelivery(sandbox.installation);
  while (await isDelivering(app, engine.client, sandbox.installation)) await sleep(100);
  await save(engine, 'deliver');
}

/** Replays the failed windows from the source, and sends an input that is refused. */
async function replayed(app: App, engine: Engine): Promise<void> {
  const { installation } = sandbox;
  const recorded = async (suffix: string, request: ReplayRequest) => {
    const { windows } = await runReplay(app, engine, request, never);
    console.error(`replay${suffix}: ${windows.map(({ outcome }) => outcome).join()}`);
    await save(engine, `replay${suffix}`, 'replay');
  };
  await recorded('', { installation, failed: true });
  await save(engine, 'replay-window', 'replayWindow');
  await recorded('-refused', { installation });
  // Two windows far apart: the first request of one fails, and the requests of the other succeed.
  const apart: number[] = [];
  for (const day of ['2026-01-05', '2026-02-05']) {
    const [made] = await rows(
      app.db,
      { id: integer },
      `insert into sync_window (installation, kind, trigger, outcome, from_time, to_time, payment_span, workflow_id, run_id, closed_at)
       values (?, 'window', 'schedule', 'closed', ?::timestamptz, ?::timestamptz + interval '1 hour',
         '{1,2}', ?, ?, now()) returning id`,
      [installation, day, day, `apart-${day}`, `apart-${day}`],
    );
    if (made) apart.push(made.id);
  }
  sandbox.setFaults({ http500: { action: 'invoice.list', count: 4 } });
  await recorded('-one-failed', { installation, windows: apart });
  sandbox.setFaults({ http500: null });
}

/** One pass of the scrub, slice by slice. */
async function scrubbed(app: App, engine: Engine): Promise<void> {
  await startScrubs(app, engine);
  while ((await scrubStatus(app.db, sandbox.installation, scrubDays, new Date())).state !== 'done') await sleep(100);
  await save(engine, 'scrub');
}

/** Deletes the rows of a mirrored invoice, so that its proof fails and its parts are fetched again. */
async function doubtfulDocument(app: App, { clinic }: Sandbox): Promise<void> {
  const [invoice] = clinic.invoices.all();
  if (!invoice) throw new Error('the clinic has no invoices');
  await execute(app.db, `delete from mirror_record where kind = 'row' and parent_id = ?`, [invoice.id]);
  await execute(
    app.db,
    `update document set dirty = true, dirty_mark = dirty_mark + 1 where kind = 'invoice' and id = ?`,
    [invoice.id],
  );
}

/** Saves the history of the newest workflow, optionally of one type, without the names of the machine. */
async function save(engine: Engine, name: string, type: string | null = null): Promise<void> {
  if (only.length > 0 && !only.includes(name)) return;
  let newest: { workflowId: string; runId: string; startTime: Date } | null = null;
  for await (const run of engine.client.workflow.list()) {
    if (type !== null && run.type !== type) continue;
    if (!newest || run.startTime > newest.startTime) newest = run;
  }
  if (!newest) throw new Error('no workflow to record');
  const history = await engine.client.workflow.getHandle(newest.workflowId, newest.runId).fetchHistory();
  const { History } = proto.temporal.api.history.v1;
  const told: unknown = History.toObject(History.fromObject(history), { bytes: String, longs: String, enums: String });
  writeFileSync(join(target, `${name}.json`), `${JSON.stringify(told, withoutMachine)}\n`);
}

function withoutMachine(key: string, value: unknown): unknown {
  if (key === 'identity') return 'worker';
  // The name of a worker's sticky task queue contains its process and machine.
  if (key === 'name' && typeof value === 'string' && /^\d+@/.test(value)) return 'sticky';
  return key === 'stackTrace' ? undefined : value;
}
