import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { TimedEvent } from '../../src/domain/events.ts';
import { runDaemon } from '../../src/windows/daemon.ts';
import { isToEnd, type Seen, type Stuck, StuckWatch, stuckNow, usualTimes } from '../../src/windows/stuck.ts';
import { UnopenedWatch } from '../../src/windows/unopened.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { waitFor, windowRows } from '../workflows/support.ts';

const minute = 60_000;
/** A window that works, 31 minutes old, of a time-out of 30. */
const works: Seen = {
  ...{ kind: 'sync-window', ageMs: 31 * minute, taskAttempt: null },
  ...{ isOpen: true, isFirstLoad: false, holdsLease: true },
};

test.each<[string, Partial<Seen>, 'failing' | 'idle' | null]>([
  ['works', {}, null],
  ['its task waits for a worker', { taskAttempt: 1 }, null],
  ['its task fails', { taskAttempt: 2 }, 'failing'],
  ['its task fails, and it may still take its time', { taskAttempt: 9, ageMs: 29 * minute }, 'failing'],
  ['its task fails while it still opens', { taskAttempt: 2, isOpen: false, holdsLease: false }, 'failing'],
  ['nothing of it works', { holdsLease: false }, 'idle'],
  ['it waits for another window', { isOpen: false, holdsLease: false }, null],
  ['it waits for longer than it ever does', { isOpen: false, holdsLease: false, ageMs: 64 * minute }, 'idle'],
  ['a first load', { isFirstLoad: true, ageMs: 900 * minute }, null],
  ['a first load that goes on while its task fails', { isFirstLoad: true, taskAttempt: 5 }, null],
  ['a first load whose task fails', { isFirstLoad: true, taskAttempt: 5, holdsLease: false }, 'failing'],
  ['a first load of which nothing works', { isFirstLoad: true, holdsLease: false }, 'idle'],
  ['a delivery that lives for days', { kind: 'deliver', ageMs: 9_000 * minute, holdsLease: false }, null],
  ['a delivery whose task fails', { kind: 'deliver', taskAttempt: 4, holdsLease: false }, 'failing'],
  ['a scrub whose task fails', { kind: 'scrub', taskAttempt: 4, holdsLease: false }, 'failing'],
])('%s', (_name, seen, stuck) => {
  expect(stuckNow({ ...works, ...seen }, 30 * minute)).toBe(stuck);
});

const looksAt = { everyMs: 15_000, failingMs: 25_000, idleMs: 120_000 };
test.each<[string, Stuck, { ageMs: number; foundForMs: number }, boolean]>([
  ['failing for long enough', 'failing', { ageMs: 31 * minute, foundForMs: 25_000 }, true],
  ['failing for a moment', 'failing', { ageMs: 31 * minute, foundForMs: 24_000 }, false],
  ['failing for long enough, within its time', 'failing', { ageMs: 29 * minute, foundForMs: 600_000 }, false],
  ['idle for two minutes when its time is over', 'idle', { ageMs: 30 * minute, foundForMs: 120_000 }, true],
  ['idle for less than two minutes', 'idle', { ageMs: 40 * minute, foundForMs: 119_000 }, false],
  ['idle for two minutes, within its time', 'idle', { ageMs: 29 * minute, foundForMs: 120_000 }, false],
])('%s: is it ended?', (_name, stuck, found, isEnded) => {
  expect(isToEnd(stuck, found, looksAt, 30 * minute)).toBe(isEnded);
});

let clinic: TestClinic;
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 92, invoices: 10 });
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
});
afterAll(async () => {
  await clinic.engine.client.schedule
    .getHandle(`sync-window/4711-${clinic.app.databaseId}`)
    .delete()
    .catch(() => undefined);
  await clinic.stop();
});

/** A signal whose payload no converter reads: it throws before any code of the workflow sees it. */
async function poison({ workflow_id, run_id }: { workflow_id: string; run_id: string }): Promise<void> {
  const { client } = clinic.engine;
  await client.workflowService.signalWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId: workflow_id, runId: run_id },
    signalName: 'health',
    input: { payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"health":') }] },
  });
}

test('a window whose task fails for ever is ended within its time-out and the grace, and the next one opens', async () => {
  const timeoutSeconds = 4;
  const stop = new AbortController();
  const app = {
    ...clinic.app,
    config: { ...clinic.app.config, schedule: { everySeconds: 1 }, windowTimeoutMinutes: timeoutSeconds / 60 },
  };
  const told = vi.spyOn(app.log, 'error');
  const events: TimedEvent[] = [];
  const unsubscribe = app.events.on((event) => events.push(event));
  clinic.sandbox.setFaults({ timeoutMs: { ms: 1_000 } });
  const daemon = runDaemon(app, { signal: stop.signal, stuckTimes: { everyMs: 200, failingMs: 300, idleMs: 60_000 } });
  try {
    const stuck = await Promise.race([
      daemon.then(() => Promise.reject(new Error('the daemon has ended'))),
      waitFor('open window', async () => (await windowRows(clinic)).find(({ outcome }) => outcome === 'open')),
    ]);
    await poison(stuck);
    clinic.sandbox.setFaults({ timeoutMs: null });
    const next = await waitFor('next window', async () => (await windowRows(clinic)).find(({ id }) => id > stuck.id));
    const { workflow_id, run_id } = stuck;
    const handle = clinic.engine.client.workflow.getHandle(workflow_id, run_id);
    // The time-out counts from the start of the workflow; on a busy machine its row is written a second or two later.
    const { startTime } = await handle.describe();
    const seconds = (next.opened_at.getTime() - startTime.getTime()) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(timeoutSeconds);
    expect(seconds).toBeLessThan(timeoutSeconds + 10);
    await waitFor('its end', async () =>
      (await windowRows(clinic)).some((row) => row.id >= next.id && row.outcome === 'closed'),
    );

    const row = (await windowRows(clinic)).find(({ id }) => id === stuck.id)!;
    expect(row.outcome).toBe('failed');
    expect(JSON.parse(row.error!)).toMatchObject({
      code: 'window_terminated',
      message: expect.stringContaining('its workflow task fails again and again'),
    });
    const failed = events.filter(({ event }) => event === 'window_failed');
    expect(failed).toMatchObject([
      { window: stuck.id, workflow_id, run_id, report: { error: JSON.parse(row.error!) } },
    ]);
    expect((await handle.describe()).status.name).toBe('TERMINATED');
    const lines = told.mock.calls.filter(([, line]) => line?.includes('stood still'));
    expect(lines.map(([ids]) => ids)).toEqual([
      {
        ...{ installation: 4711, window: stuck.id, workflow_id: stuck.workflow_id, run_id: stuck.run_id },
        stuck: 'failing',
      },
    ]);
  } finally {
    unsubscribe();
    told.mockRestore();
    stop.abort();
    await daemon;
  }
  expect(await clinic.wrongBooks()).toEqual([]);
});

test('one that has not opened by then has a row that says so, and is told of with its ids', async () => {
  const stop = new AbortController();
  const app = {
    ...clinic.app,
    config: { ...clinic.app.config, schedule: { everySeconds: 1 }, windowTimeoutMinutes: 4 / 60 },
  };
  const events: TimedEvent[] = [];
  const unsubscribe = app.events.on((event) => events.push(event));
  await clinic.rows(
    `update lease set token = token + 1, holder = 'another', expires_at = clock_timestamp() + interval '1 hour'`,
  );
  const last = (await windowRows(clinic)).at(-1)!.id;
  const daemon = runDaemon(app, { signal: stop.signal, stuckTimes: { everyMs: 200, failingMs: 300, idleMs: 60_000 } });
  try {
    const { client, taskQueue } = clinic.engine;
    const query = `TaskQueue = '${taskQueue}' and WorkflowType = 'syncWindow' and ExecutionStatus = 'Running'`;
    // On a busy machine one may have given up waiting before it is poisoned: then the next one is.
    const seen = new Set<string>();
    const stuckOne = async () => {
      const waiting = await waitFor('window that waits for another one', async () => {
        for await (const { workflowId, runId } of client.workflow.list({ query }))
          if (!seen.has(runId)) return { workflow_id: workflowId, run_id: runId };
        return null;
      });
      seen.add(waiting.run_id);
      await poison(waiting).catch(() => undefined);
      const told = await waitFor('event', () =>
        events.find((event) => event.event === 'window_not_opened' && event.run_id === waiting.run_id),
      );
      return { waiting, told };
    };
    let { waiting, told } = await stuckOne();
    while (!JSON.stringify(told).includes('window_terminated') && seen.size < 8) ({ waiting, told } = await stuckOne());
    const row = (await windowRows(clinic)).find(({ id, run_id }) => id > last && run_id === waiting.run_id)!;
    expect(row).toMatchObject({ outcome: 'failed', trigger: 'schedule', ...waiting });
    expect(told).toMatchObject({ window: row.id, ...waiting, error: JSON.parse(row.error!) });
    expect(JSON.parse(row.error!)).toMatchObject({ code: 'window_terminated' });
  } finally {
    unsubscribe();
    await clinic.rows(`update lease set expires_at = clock_timestamp(), token = token + 1`);
    stop.abort();
    await daemon;
  }
});

test.each([
  ['timed out', 'window_timed_out', async () => undefined],
  ['was terminated', 'window_terminated', (handle: WorkflowHandle) => handle.terminate('not needed')],
] as const)(
  'one that Temporal %s before it opened, while no daemon worked, has a row and is told of',
  async (_how, code, end) => {
    const { client, taskQueue } = clinic.engine;
    const workflowId = `sync-window/4711-${clinic.app.temporalName}/schedule-${code}`;
    const handle = await client.workflow.start('syncWindow', {
      ...{ workflowId, taskQueue: `${taskQueue}-without-worker`, args: [], workflowRunTimeout: '1s' },
    });
    await end(handle);
    await handle.result().catch(() => undefined);
    const events: TimedEvent[] = [];
    const unsubscribe = clinic.app.events.on((event) => events.push(event));
    const watch = new UnopenedWatch(clinic.app, { ...clinic.engine, taskQueue: `${taskQueue}-without-worker` });
    try {
      const told = await waitFor('event', async () => {
        await watch.look();
        return events.find(({ event }) => event === 'window_not_opened');
      });
      // A later look finds it again, and its row.
      await watch.look();
      const own = (await windowRows(clinic)).filter((row) => row.workflow_id === workflowId);
      expect(own).toMatchObject([{ outcome: 'failed', trigger: 'schedule', run_id: handle.firstExecutionRunId }]);
      expect(JSON.parse(own[0]!.error!)).toMatchObject({ code });
      expect(events.filter(({ event }) => event === 'window_not_opened')).toEqual([told]);
      expect(told).toMatchObject({ installation: 4711, window: own[0]!.id, workflow_id: workflowId });
    } finally {
      unsubscribe();
    }
  },
);

/** Temporal as the watch asks it: one workflow, of which only the state can be asked, and which can be terminated. */
function temporalWith(run: { workflowId: string; runId: string; startTime: Date }) {
  const terminated: string[] = [];
  const isListed = (query: string) => run.startTime < new Date(/StartTime < '(.*?)'/.exec(query)![1]!);
  const workflow = {
    list: async function* ({ query }: { query: string }) {
      if (terminated.length === 0 && isListed(query)) yield run;
    },
    getHandle: () => ({
      describe: async () => ({ status: { name: 'RUNNING' }, raw: {} }),
      terminate: async (why: string) => {
        terminated.push(why);
      },
    }),
  };
  return { terminated, client: { workflow, withDeadline: async (_until: number, work: () => unknown) => work() } };
}

test.each([
  ['from its beginning', 0],
  ['for three minutes when its time is over', 27],
])('a first load that stands still %s is ended within a minute after its time-out', async (_since, stillFrom) => {
  const startTime = new Date('2026-03-02T08:00:00Z');
  const run = {
    workflowId: `sync-window/4712-${clinic.app.temporalName}/${stillFrom}`,
    runId: `run ${stillFrom}`,
    startTime,
  };
  await clinic.rows(
    `insert into sync_window (installation, kind, trigger, from_time, to_time, workflow_id, run_id)
     values (4712, 'window', 'schedule', null, ?, ?, ?)`,
    [startTime.toISOString(), run.workflowId, run.runId],
  );
  const leaseUntil = (minutes: number) =>
    clinic.rows(
      `insert into lease (installation, lane, token, holder, expires_at)
       values (4712, 'live', 1, ?, case when ? > 0 then 'infinity'::timestamptz else '-infinity' end)
       on conflict (installation, lane) do update set holder = excluded.holder, expires_at = excluded.expires_at`,
      [`${run.workflowId}/${run.runId}`, minutes],
    );
  let now = startTime.getTime();
  const { client, terminated } = temporalWith(run);
  const app = {
    ...clinic.app,
    clock: () => new Date(now),
    config: { ...clinic.app.config, windowTimeoutMinutes: 30 },
  };
  const watch = new StuckWatch(app, { ...clinic.engine, client } as unknown as typeof clinic.engine, usualTimes);
  const signal = new AbortController().signal;
  while (terminated.length === 0 && now < startTime.getTime() + 60 * minute) {
    now += usualTimes.everyMs;
    await leaseUntil(now < startTime.getTime() + stillFrom * minute ? 1 : 0);
    await watch.look(signal);
  }
  const seconds = (now - startTime.getTime()) / 1000;
  expect(terminated).toEqual([expect.stringContaining('none of its activities works any more')]);
  expect(seconds).toBeGreaterThanOrEqual(30 * 60);
  expect(seconds).toBeLessThanOrEqual(31 * 60);
  const row = (await windowRows(clinic)).find(({ run_id }) => run_id === run.runId)!;
  expect(row.outcome).toBe('failed');
});
