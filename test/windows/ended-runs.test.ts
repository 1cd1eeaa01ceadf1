// Windows whose workflow cannot record its end: Temporal limits its run, and the watch records the end in the window's
// row.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeEnded } from '../../activities/taking-over.ts';
import type { TimedEvent } from '../../src/domain/events.ts';
import { recordedWindows } from '../../src/queries/windows.ts';
import { runTimeoutMs, windowInput } from '../../src/windows/run-window.ts';
import { scheduleHandle, setSchedule } from '../../src/windows/schedules.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { openRow, waitFor, windowRows } from '../workflows/support.ts';

let clinic: TestClinic;
const events: TimedEvent[] = [];
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 92, invoices: 10 });
  clinic.app.events.on((event) => events.push(event));
});
afterAll(async () => {
  await scheduleHandle(clinic.app, clinic.engine, 4711)
    .delete()
    .catch(() => undefined);
  await clinic.stop();
});

const started = async (id: { workflow_id: string; run_id: string }) => {
  const { workflowExecutionStartedEventAttributes: found } = (
    await clinic.engine.client.workflow.getHandle(id.workflow_id, id.run_id).fetchHistory()
  ).events![0]!;
  return { type: found!.workflowType!.name, timeoutSeconds: Number(found!.workflowRunTimeout!.seconds) };
};

test('a first load is a separate workflow, which the run time-out of windows does not end', async () => {
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed', from: null });
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed', from: expect.any(String) });
  const [first, second] = await windowRows(clinic);
  // The time-out has 2 minutes of waiting for another window, 2 for this window, and 15 for everything else.
  expect(await started(second!)).toEqual({ type: 'syncWindow', timeoutSeconds: 1_140 });
  expect(await started(first!)).toEqual({ type: 'firstLoad', timeoutSeconds: 7 * 86_400 });
  expect(first!.workflow_id).not.toBe(second!.workflow_id);
});

test('the windows of the Schedule have the same time-out', async () => {
  await setSchedule(clinic.app, clinic.engine, 4711, 3_600);
  const { action } = await scheduleHandle(clinic.app, clinic.engine, 4711).describe();
  expect(action).toMatchObject({ workflowType: 'syncWindow', workflowRunTimeout: runTimeoutMs(clinic.app) });
  expect(runTimeoutMs(clinic.app)).toBe(1_140_000);
});

/** A window without a running workflow, as when its workflow task always fails, or when its process was killed. */
async function dead(name: string, { timeout = '1 hour' as '1s' | '1 hour', first = false } = {}) {
  const { client } = clinic.engine;
  const workflowId = `sync-window/4711-${clinic.app.temporalName}/schedule-${name}`;
  const { firstExecutionRunId: runId } = await client.workflow.start('syncWindow', {
    ...{ workflowId, taskQueue: 'without-worker', args: [], workflowRunTimeout: timeout },
  });
  await clinic.rows(
    `insert into sync_window (installation, kind, trigger, from_time, to_time, workflow_id, run_id)
     values (4711, 'window', 'schedule', ?, clock_timestamp(), ?, ?)`,
    [first ? null : new Date(), workflowId, runId],
  );
  const holder = `${workflowId}/${runId}`;
  await clinic.rows(
    `update lease set token = token + 1, holder = ?, expires_at = clock_timestamp() where lane = 'live'`,
    [holder],
  );
  return { workflowId, runId, row: async () => (await windowRows(clinic)).find(({ run_id }) => run_id === runId)! };
}

const look = async () => {
  const { db, clock, log } = clinic.app;
  const { workflow: workflows } = clinic.engine.client;
  await closeEnded({ db, clock, log, workflows, onEvent: (event) => clinic.app.events.emit(event) });
};

test('what it was to read and has not is noted, and the next window covers it', async () => {
  await clinic.sync();
  const window = await dead('unread');
  await clinic.rows(
    `update sync_window set payment_span = '{0,null}', unread_streams = '{invoice,prepayment,row,payment}' where run_id = ?`,
    [window.runId],
  );
  await clinic.engine.client.workflow.getHandle(window.workflowId, window.runId).terminate('not needed');
  await look();
  const { id } = await window.row();
  const coverage = async () => (await recordedWindows(clinic.app.db, [4711], { failedOnly: true, limit: 1 }))[0];
  expect(await coverage()).toMatchObject({ id, covered_by: null });
  const { window: next } = await clinic.sync();
  expect(await coverage()).toMatchObject({ id, covered_by: [next] });
});

test.each([
  ['timed out', 'window_timed_out', false],
  ['terminated', 'window_terminated', false],
  ['lost with the data of Temporal', 'window_interrupted', false],
  ['a first load that was terminated', 'window_terminated', true],
] as const)('%s: its row says so, its lease is free, and it is told once', async (how, code, first) => {
  const { client } = clinic.engine;
  const window = await dead(code + String(first), { timeout: code === 'window_timed_out' ? '1s' : '1 hour', first });
  const handle = client.workflow.getHandle(window.workflowId, window.runId);
  if (code === 'window_timed_out') await handle.result().catch(() => undefined);
  else await handle.terminate('not needed');
  if (how.startsWith('lost')) {
    await client.workflowService.deleteWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: window.workflowId, runId: window.runId },
    });
    await waitFor('gone', async () =>
      handle.describe().then(
        () => false,
        () => true,
      ),
    );
  }
  await look();
  await look();
  const row = await window.row();
  expect(row).toMatchObject({ outcome: 'failed' });
  expect(JSON.parse(row.error!)).toMatchObject({ code });
  const told = events.filter((event) => 'window' in event && event.window === row.id);
  expect(told).toMatchObject([
    {
      event: 'window_failed',
      workflow_id: window.workflowId,
      run_id: window.runId,
      report: { error: JSON.parse(row.error!) },
    },
  ]);
  expect(await clinic.rows(`select holder from lease where lane = 'live'`)).toEqual([{ holder: '' }]);
});

test('one that runs, and one that holds its lease, stay open', async () => {
  const running = await dead('running');
  await look();
  expect(await running.row()).toMatchObject({ outcome: 'open' });
  await clinic.engine.client.workflow.getHandle(running.workflowId).terminate('over');
  await clinic.rows(`update lease set expires_at = clock_timestamp() + interval '1 hour' where lane = 'live'`);
  await look();
  expect(await running.row()).toMatchObject({ outcome: 'open' });
  await clinic.rows(`update lease set expires_at = clock_timestamp() where lane = 'live'`);
  await look();
  expect(await running.row()).toMatchObject({ outcome: 'failed' });
});

/** Sends a signal with an unreadable payload. Each workflow task then throws before the workflow's code runs. */
async function poison(workflowId: string, runId?: string): Promise<void> {
  const { client } = clinic.engine;
  await client.workflowService.signalWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId, ...(runId ? { runId } : {}) },
    signalName: 'health',
    input: { payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"health":') }] },
  });
}

test('a window whose task fails for ever is ended by its run time-out, and the next one goes on', async () => {
  const { client, taskQueue } = clinic.engine;
  const input = { installation: 4711, kind: 'window', trigger: 'schedule', fromDate: null } as const;
  // The opening of the window leaves this list to an activity, which retries.
  clinic.sandbox.setFaults({ http500: { action: 'invoicepayment.list' } });
  const handle = await client.workflow.start('syncWindow', {
    workflowId: `sync-window/4711-${clinic.app.temporalName}/schedule-poisoned`,
    taskQueue,
    args: [windowInput(clinic.app, clinic.engine, input)],
    workflowRunTimeout: '6s',
  });
  const stuck = await openRow(clinic);
  await poison(handle.workflowId);
  await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'TimeoutFailure' } });
  clinic.sandbox.setFaults({ http500: null });
  await waitFor('its end', async () => {
    // The window's activity has learned of the end by its heartbeat. The test does not wait until the lease expires.
    await clinic.rows(`update lease set expires_at = clock_timestamp() where lane = 'live'`);
    await look();
    return (await windowRows(clinic)).some(({ id, outcome }) => id === stuck.id && outcome === 'failed');
  });
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
  const row = (await windowRows(clinic)).find(({ id }) => id === stuck.id)!;
  expect(JSON.parse(row.error!)).toMatchObject({ code: 'window_timed_out' });
  expect(await clinic.wrongBooks()).toEqual([]);
}, 60_000);
