// The opening that closes an idle window: it is killed, fails, runs beside another one, or loses its lease.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createActivities } from '../../activities/index.ts';
import type { ClosedReport, OpenReport } from '../../activities/window.ts';
import { seizeLease } from '../../src/db/lease.ts';
import { readCursors } from '../../src/sync/cursors.ts';
import { gapsOf } from '../../src/sync/replay/gaps.ts';
import type { WindowInput } from '../../workflows/messages.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { listRequests, waitFor } from '../workflows/support.ts';

let clinic: TestClinic;

beforeAll(async () => {
  clinic = await startTestClinic({ seed: 48, invoices: 20, overlapSeconds: 1 });
  // The first load, the census of the next window, and the overlap that is read again.
  await clinic.sync();
  await clinic.sync();
  await sleep(2_000);
});
afterAll(() => clinic.stop());

const input: WindowInput = {
  ...{ installation: 4711, trigger: 'sync', kind: 'window', windowTimeoutSeconds: 60 },
  ...{ searchAttributes: false, fromDate: null },
};

interface Run {
  workflowId: string;
  runId: string;
}
const newRun = (): Run => ({ workflowId: `sync-window/4711/${randomUUID()}`, runId: randomUUID() });

function open(run: Run, attempt = 1): Promise<OpenReport | ClosedReport> {
  const { app } = clinic;
  const deps = {
    ...{ db: app.db, clock: app.clock, log: pino({ enabled: false }), sealKey: null },
    installations: new Map(app.config.installations.map((each) => [each.id, each])),
    practice: (id: number) => app.practice(id),
    workflows: { getHandle: () => ({ signal: async () => undefined }) },
  } as unknown as ActivityDeps;
  const info = { attempt, activityId: '1', activityType: 'openWindow', workflowExecution: run };
  const { openWindow } = createActivities(deps);
  return new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') }).run(() => openWindow(input, true));
}

interface Row {
  id: number;
  outcome: string;
  idle_windows: number | null;
  workflow_id: string;
  run_id: string;
}
const rows = () =>
  clinic.rows<Row>('select id, outcome, idle_windows, workflow_id, run_id from sync_window order by id');
const newest = async () => (await rows()).at(-1)!;
const idOf = (report: OpenReport | ClosedReport) => ('closed' in report ? report.closed.window : null);
const asked = () => Object.values(listRequests(clinic)).reduce((all, n) => all + n, 0);
const lease = async () => (await clinic.rows<{ holder: string }>(`select holder from lease where lane = 'live'`))[0]!;

/** Adds a replay without changes, so that the next idle window begins a new row. */
beforeEach(async () => {
  await clinic.rows(
    `insert into sync_window (installation, kind, trigger, outcome, workflow_id, run_id, closed_at)
     values (4711, 'replay', 'replay', 'closed', 'r', ?, now())`,
    [randomUUID()],
  );
});

afterEach(async () => {
  clinic.sandbox.setFaults({ timeoutMs: null });
  // The next window covers the earlier ones. It does not wait for an abandoned lease.
  await clinic.rows('update lease set expires_at = now()');
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
  expect(await clinic.rows(`select from sync_window where outcome = 'open'`)).toEqual([]);
  expect((await gapsOf(clinic.app.db, 4711)).gaps).toEqual([]);
});

test('it closes in one activity, and the next one joins its row', async () => {
  const [first, second] = [newRun(), newRun()];
  const made = await open(first);
  expect(made).toMatchObject({ closed: { outcome: 'closed', pulled: { invoices: 0 }, posted: 0 }, trigger: 'sync' });
  expect(await newest()).toMatchObject({ id: idOf(made), idle_windows: 1, run_id: first.runId });
  expect(idOf(await open(second))).toBe(idOf(made));
  const { workflowId } = second;
  expect(await newest()).toMatchObject({
    id: idOf(made),
    idle_windows: 2,
    workflow_id: workflowId,
    run_id: first.runId,
  });
  expect((await lease()).holder).toBe('');
});

test('an attempt whose answer was lost, and which made the row, is not repeated', async () => {
  const run = newRun();
  const made = await open(run);
  const before = asked();
  expect(await open(run, 2)).toMatchObject({ closed: { window: idOf(made), outcome: 'closed' } });
  expect(asked()).toBe(before);
  expect(await newest()).toMatchObject({ idle_windows: 1 });
});

test('after one that joined a row, the next attempt opens a window', async () => {
  await open(newRun());
  const run = newRun();
  const joined = await open(run);
  expect(await open(run, 2)).toMatchObject({ window: { id: expect.any(Number) }, streams: [], idle: null });
  expect(await rows()).toMatchObject([
    ...(await rows()).slice(0, -2),
    { id: idOf(joined), idle_windows: 2 },
    { outcome: 'open', run_id: run.runId },
  ]);
});

test('a process that dies while it pulls has opened nothing, and its next attempt opens; it writes nothing if it lives on', async () => {
  await open(newRun());
  const before = await rows();
  const cursors = await readCursors(clinic.app.db, 4711);
  clinic.sandbox.setFaults({ timeoutMs: { ms: 3_000, action: 'invoicepayment.list' } });
  const { 'invoicepayment.list': sent } = listRequests(clinic);
  const run = newRun();
  const dead = open(run).catch((error: unknown) => error);
  await waitFor('question', () => listRequests(clinic)['invoicepayment.list'] !== sent);
  expect(await rows()).toEqual(before);
  expect(await readCursors(clinic.app.db, 4711)).toEqual(cursors);
  clinic.sandbox.setFaults({ timeoutMs: null });
  expect(await open(run, 2)).toMatchObject({ window: { id: expect.any(Number) } });
  await dead;
  expect(await rows()).toMatchObject([...before, { outcome: 'open', run_id: run.runId, idle_windows: null }]);
});

test('where its transaction fails nothing of it is there', async () => {
  await open(newRun());
  const before = await rows();
  const cursors = await readCursors(clinic.app.db, 4711);
  await clinic.asOwner(`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before insert or update on sync_window execute function refuse()`);
  const run = newRun();
  await expect(open(run)).rejects.toThrow('refused');
  await clinic.asOwner('drop trigger refuse on sync_window; drop function refuse');
  expect(await rows()).toEqual(before);
  expect(await readCursors(clinic.app.db, 4711)).toEqual(cursors);
  expect(await open(run, 2)).toMatchObject({ window: { id: expect.any(Number) } });
});

test('one that loses its lease while it pulls notes nothing', async () => {
  await open(newRun());
  const before = await rows();
  clinic.sandbox.setFaults({ timeoutMs: { ms: 3_000, action: 'invoicepayment.list' } });
  const { 'invoicepayment.list': sent } = listRequests(clinic);
  const fenced = open(newRun());
  fenced.catch(() => undefined);
  await waitFor('question', () => listRequests(clinic)['invoicepayment.list'] !== sent);
  const scope = { installation: 4711, lane: 'live' } as const;
  await seizeLease(clinic.app.db, scope, 'another');
  await expect(fenced).rejects.toMatchObject({ type: 'window_superseded' });
  expect(await rows()).toEqual(before);
  expect((await lease()).holder).toBe('another');
});

test('of two at once one waits for the other, and both are counted', async () => {
  const reports = await Promise.all([open(newRun()), open(newRun())]);
  const [one, other] = reports.map(idOf);
  expect(one).toBe(other);
  expect(await newest()).toMatchObject({ id: one, idle_windows: 2 });
});

test('a window that finds something between two idle ones has its own row', async () => {
  const first = idOf(await open(newRun()));
  clinic.sandbox.live(5);
  const busy = await clinic.sync();
  expect(busy).toMatchObject({ outcome: 'closed' });
  expect(busy.posted).toBeGreaterThan(0);
  await sleep(2_000);
  const next = idOf(await open(newRun()));
  expect(busy.window).toBeGreaterThan(first!);
  expect(next).toBeGreaterThan(busy.window!);
  expect(await clinic.wrongBooks()).toEqual([]);
});
