import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventLine } from '../../src/cli/commands/run.ts';
import type { TimedEvent } from '../../src/domain/events.ts';
import { installationStatuses } from '../../src/queries/status.ts';
import { presentCauses, recordedWindows } from '../../src/queries/windows.ts';
import { prune } from '../../src/runtime/retention.ts';
import type { PlainError } from '../../src/texts/plain-error.ts';
import { runWindowNow, type WindowReport } from '../../src/windows/run-window.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { healths, type WindowRow, waitFor, windowRows } from './support.ts';

const never = new AbortController().signal;
const id = 4711;
let clinic: TestClinic;
const events: TimedEvent[] = [];
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 81, invoices: 20 });
  clinic.app.events.on((event) => events.push(event));
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
});
afterAll(() => clinic.stop());
beforeEach(() => {
  clinic.sandbox.setFaults({ http500: null, unauthorizedOnce: null });
});

const rowOf = async (report: WindowReport) => (await windowRows(clinic)).find((row) => row.id === report.window)!;
const newest = async () => (await windowRows(clinic)).at(-1)!;
const errorOf = (row: { error: string | null }) => JSON.parse(row.error!) as PlainError;
/** The events with the ids of a window's row. */
const toldOf = ({ id: window, workflow_id, run_id }: WindowRow) =>
  events.flatMap((event) =>
    'window' in event && event.window === window && event.workflow_id === workflow_id && event.run_id === run_id
      ? [event]
      : [],
  );
const requests = () => Object.values(clinic.sandbox.stats().byAction).reduce((sum, of) => sum + of.requests, 0);
const failed = () => recordedWindows(clinic.app.db, [id], { failedOnly: true, limit: 100 });
const status = async () => {
  const { db, config } = clinic.app;
  const { schedule, temporal, installations } = config;
  const ports = { db, now: new Date(), schedule, taskQueue: temporal.taskQueue, seals: false };
  const [one] = await installationStatuses(ports, installations);
  return one!;
};
const syncWithin = (seconds: number) => {
  // The activity sends at most four requests in about four seconds, and then starts again.
  const app = { ...clinic.app, config: { ...clinic.app.config, windowTimeoutMinutes: seconds / 60 } };
  return runWindowNow(app, clinic.engine, id, { trigger: 'sync', signal: never });
};

test('a window that has ended says where the books end and which window it was, in its line of the log and in Temporal', async () => {
  const closed = async () => {
    const row = await rowOf(await clinic.sync());
    const handle = clinic.engine.client.workflow.getHandle(row.workflow_id);
    const line = eventLine(toldOf(row).find(({ event }) => event === 'window_closed')!);
    const [last] = await clinic.rows<{ seq: string; hash: string }>(
      'select seq, hash from entry order by seq desc limit 1',
    );
    const { searchAttributes } = await handle.describe();
    return { row, line, last: last!, result: await handle.result(), number: searchAttributes.WindowNumber };
  };
  clinic.sandbox.live(10);
  const busy = await closed();
  const idle = await closed();
  for (const { row, line, last, result, number } of [busy, idle]) {
    expect(result).toMatchObject({ window: row.id, head: { seq: Number(last.seq), hash: last.hash } });
    expect(line).toContain(`head ${last.seq} ${last.hash}`);
    expect(number).toEqual([String(row.id)]);
  }
  expect(idle.row.id).not.toBe(busy.row.id);
});

describe('a window that is given up', () => {
  test('says what kept it from going on, how often and since when, and what that has cost', async () => {
    const before = requests();
    clinic.sandbox.setFaults({ http500: { action: 'invoicepayment.list' } });
    const window = syncWithin(6);
    const open = await waitFor('trouble', async () => {
      const { cause } = await status();
      return cause?.code === 'server_error' && cause;
    });
    expect(open.attempts).toBeGreaterThan(0);
    const report = await window;
    const said = /\(500\) \((\d+) times since \d\d:\d\d UTC\); the window was given up after 6 s$/;
    expect(report.error).toMatchObject({ code: 'server_error', message: expect.stringMatching(said) });
    const times = Number(said.exec(report.error!.message)![1]);
    const refused = clinic.sandbox.stats().byAction['invoicepayment.list']!;
    expect(times).toBeGreaterThanOrEqual(4);
    expect(refused.requests).toBeGreaterThanOrEqual(times);
    // A request that was under way when the window was given up counts, although it may not have reached the source.
    const seen = requests() - before;
    expect([seen, seen + 1]).toContain(report.api.requests);
    const row = await rowOf(report);
    expect(errorOf(row)).toEqual(report.error);
    expect((await failed())[0]).toMatchObject({ id: row.id, error: report.error });
    expect((await status()).cause).toMatchObject({ code: 'server_error', attempts: 1, since: row.opened_at });
  });

  test('says so only as long as the trouble lasts: the next window closes, counts its repeated requests, and has no cause', async () => {
    const before = requests();
    clinic.sandbox.setFaults({ http500: { action: 'invoicepayment.list', count: 5 } });
    const report = await syncWithin(60);
    expect(report).toMatchObject({ outcome: 'closed' });
    expect(report.api.requests).toBe(requests() - before);
    expect((await presentCauses(clinic.app.db, [id])).size).toBe(0);
  });

  test('is not reported as an error of the source when a person cancelled it', async () => {
    clinic.sandbox.setFaults({ http500: { action: 'invoicepayment.list' } });
    const window = syncWithin(60);
    await waitFor('trouble', async () => (await presentCauses(clinic.app.db, [id])).size > 0);
    const { workflow_id, run_id } = await newest();
    await clinic.engine.client.workflow.getHandle(workflow_id, run_id).cancel();
    expect((await window).error).toMatchObject({
      code: 'window_cancelled',
      message: expect.stringMatching(/cancelled before it was complete; the error before that: .*500/),
    });
  });
});

describe('every attempt to open a window leaves a row', () => {
  test.each([
    ['a source that answers 500', { http500: { action: 'invoice.list' } }, 'server_error', 'The practice API failed'],
    ['a source that refuses the token', { unauthorizedOnce: { count: 100 } }, 'unauthorized', 'Check the token'],
  ])('%s', async (_name, faults, code, todo) => {
    clinic.sandbox.setFaults(faults);
    const one = await clinic.sync();
    const two = await clinic.sync();
    expect([one.failedToOpen?.code, two.failedToOpen?.code]).toEqual([code, code]);
    const rows = (await windowRows(clinic)).slice(-2);
    for (const row of rows) {
      expect(row).toMatchObject({ outcome: 'failed', trigger: 'sync' });
      expect(errorOf(row)).toMatchObject({ code });
      expect((await healths(clinic, row)).at(-1)).toBe('failed');
      expect(toldOf(row)).toMatchObject([{ event: 'window_not_opened', installation: id, error: errorOf(row) }]);
      expect(row.closed_at!.getTime()).toBeGreaterThanOrEqual(row.opened_at.getTime());
    }
    expect((await failed()).slice(0, 2)).toMatchObject([
      { from: null, to: null },
      { from: null, to: null },
    ]);
    const present = { attempts: 2, since: rows[0]!.opened_at };
    expect((await presentCauses(clinic.app.db, [id])).get(id)).toMatchObject({ code, ...present });
    expect((await status()).cause).toMatchObject(present);
    expect((await status()).next_step).toContain(todo);
  });

  test('another cause begins another streak, and a window that closes ends it', async () => {
    clinic.sandbox.setFaults({ http500: { action: 'invoice.list' } });
    await clinic.sync();
    expect((await presentCauses(clinic.app.db, [id])).get(id)).toMatchObject({ code: 'server_error', attempts: 1 });
    clinic.sandbox.setFaults({ http500: null });
    expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
    expect((await presentCauses(clinic.app.db, [id])).size).toBe(0);
  });

  test('another window that is under way for too long', async () => {
    await clinic.rows(
      `update lease set token = token + 1, holder = 'another', expires_at = clock_timestamp() + interval '1 hour'`,
    );
    // The test does not wait for two minutes of grace; it cancels the workflow while it waits.
    const stop = new AbortController();
    const waiting = runWindowNow(clinic.app, clinic.engine, id, { trigger: 'sync', signal: stop.signal });
    await waitFor('its activity', () =>
      clinic.workers().some((worker) => worker.getStatus().numInFlightActivities > 0),
    );
    stop.abort();
    expect((await waiting).failedToOpen).toMatchObject({ code: 'window_cancelled' });
    expect(errorOf(await newest())).toMatchObject({ code: 'window_cancelled' });
    expect(toldOf(await newest())).toMatchObject([{ event: 'window_not_opened', error: { code: 'window_cancelled' } }]);
    await clinic.rows(`update lease set expires_at = clock_timestamp(), token = token + 1`);
  });
});

test('a window that never noted its end is logged with its own ids by the one that notes it', async () => {
  const lost = { workflow_id: 'sync-window/lost', run_id: '00000000-0000-4000-8000-000000000001' };
  await clinic.rows(
    `insert into sync_window (installation, kind, trigger, from_time, to_time, workflow_id, run_id)
     values (?, 'window', 'schedule', '2026-05-04T08:00:00Z', '2026-05-04T09:00:00Z', ?, ?)`,
    [id, lost.workflow_id, lost.run_id],
  );
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
  const row = (await windowRows(clinic)).find(({ run_id }) => run_id === lost.run_id)!;
  expect(errorOf(row)).toMatchObject({ code: 'window_interrupted' });
  const report = { outcome: 'failed', from: '2026-05-04T08:00:00.000Z', to: '2026-05-04T09:00:00.000Z' };
  expect(toldOf(row)).toMatchObject([{ event: 'window_failed', report: { ...report, error: errorOf(row) } }]);
  expect(toldOf(await newest()).map(({ event }) => event)).toEqual(['window_opened', 'window_closed']);
});

describe('the row of a window that has ended', () => {
  test('is never changed by any role; the retention deletes it', async () => {
    expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
    const row = await newest();
    const change = `update sync_window set outcome = 'failed', error = '{}' where id = ${row.id}`;
    await expect(clinic.rows(change)).rejects.toThrow(/has ended \(closed\).*never changed/);
    await expect(clinic.asOwner(change)).rejects.toThrow(/never changed/);
    await expect(clinic.rows(`update sync_window set outcome = 'open' where id = ${row.id}`)).rejects.toThrow(/never/);
    // If the first answer was lost, a daemon records the same end twice.
    await clinic.rows(`update sync_window set outcome = 'closed', closed_at = clock_timestamp() where id = ${row.id}`);
    expect(await newest()).toEqual(row);

    await clinic.rows(
      `insert into sync_window (installation, kind, trigger, outcome, workflow_id, run_id, opened_at, closed_at)
       values (${id}, 'window', 'old', 'failed', 'w', 'old', now() - interval '900 days', now() - interval '900 days')`,
    );
    await clinic.sync();
    const keep = { windowDays: 800, versionDays: 0, walkDays: 0, daemonDays: 0 };
    expect(await prune(clinic.app.db, keep, never)).toMatchObject({ windows: 1 });
  });

  test('outlives a reset of its workflow, which is refused with its own row', async () => {
    clinic.sandbox.live(10);
    await sleep(1_100);
    const closed = await rowOf(await clinic.sync());
    const { workflowService } = clinic.engine.client;
    const execution = { workflowId: closed.workflow_id, runId: closed.run_id };
    const handle = clinic.engine.client.workflow.getHandle(closed.workflow_id, closed.run_id);
    const { events } = await handle.fetchHistory();
    // The workflow task after the opening.
    const opened = events!.findIndex((event) => event.activityTaskCompletedEventAttributes);
    const task = events!.slice(opened).find((event) => event.workflowTaskCompletedEventAttributes)!;
    const { runId } = await workflowService.resetWorkflowExecution({
      namespace: clinic.engine.client.options.namespace,
      ...{ workflowExecution: execution, requestId: closed.run_id, reason: 'to see it again' },
      workflowTaskFinishEventId: task.eventId!,
    });
    const reset = clinic.engine.client.workflow.getHandle(closed.workflow_id, runId);
    await expect(reset.result()).rejects.toMatchObject({ cause: { type: 'window_failed' } });
    expect(await rowOf({ window: closed.id } as WindowReport)).toEqual(closed);
    const row = await newest();
    expect(row).toMatchObject({ outcome: 'failed', workflow_id: closed.workflow_id, run_id: runId });
    expect(errorOf(row)).toMatchObject({
      code: 'window_reset',
      todo: expect.stringContaining(`vetledger replay ${closed.id}`),
    });
    expect((await failed())[0]).toMatchObject({ id: row.id, reset_of: closed.id });
    expect(toldOf(row)).toMatchObject([{ event: 'window_failed', report: { window: row.id } }]);
    // The reset window is not a cause of trouble for the installation.
    expect((await presentCauses(clinic.app.db, [id])).size).toBe(0);
    expect(await status()).toMatchObject({ last_window: { outcome: 'closed' } });
  });
});
