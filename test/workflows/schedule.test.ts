import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { pauseStates } from '../../src/sync/pauses.ts';
import { runDaemon } from '../../src/windows/daemon.ts';
import { ensureSchedule, setInterval as setScheduleInterval } from '../../src/windows/schedules.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { waitFor } from './support.ts';

let clinic: TestClinic;
let orphan: string;
const own = () => `sync-window/4711-${clinic.app.databaseId}`;
const schedule = () => clinic.engine.client.schedule.getHandle(own());

beforeAll(async () => {
  clinic = await startTestClinic({ seed: 41, invoices: 80 });
  orphan = `sync-window/4712-${clinic.app.databaseId}`;
});

afterAll(async () => {
  for (const id of [own(), orphan]) {
    await clinic.engine.client.schedule
      .getHandle(id)
      .delete()
      .catch(() => undefined);
  }
  await clinic.stop();
});

/** A daemon with a window every two seconds; ends when `work` has. */
async function withDaemon(work: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const app = { ...clinic.app, config: { ...clinic.app.config, schedule: { everySeconds: 2 } } };
  const daemon = runDaemon(app, { signal: stop.signal });
  try {
    await Promise.race([work(), daemon]);
  } finally {
    stop.abort();
    await daemon;
  }
}

interface Scheduled {
  id: number;
  posted: number;
}

/** Closed windows that the schedule started, after the window `after`. */
function scheduled(after = 0): Promise<Scheduled[]> {
  return clinic.rows<Scheduled>(
    `select id, (counts->>'posted')::int as posted from sync_window
     where trigger = 'schedule' and outcome = 'closed' and id > ? order by id`,
    [after],
  );
}

/** The next window of the schedule that closes, and for which `wanted` holds. */
const nextWindow = async (wanted: (window: Scheduled) => boolean = () => true) => {
  const after = (await scheduled()).at(-1)?.id ?? 0;
  return waitFor('window of the schedule', async () => (await scheduled(after)).find(wanted), 40_000);
};

test('a daemon makes the schedule, and its windows post what happens in the clinic', async () => {
  await withDaemon(async () => {
    expect((await nextWindow()).posted).toBeGreaterThan(0);
    clinic.sandbox.live(30);
    await nextWindow(({ posted }) => posted > 0);
    await nextWindow(({ posted }) => posted === 0);
    // Of each run there is one workflow, none is started while another is under way.
    const overlapping = await clinic.rows(
      `select a.id from sync_window a join sync_window b on b.id > a.id and b.opened_at < a.closed_at`,
    );
    expect(overlapping).toEqual([]);
  });
  expect(await clinic.wrongBooks()).toEqual([]);
  const report = await clinic.reconcile();
  expect(report.ok, JSON.stringify(report.installations[0]!.equations)).toBe(true);
});

test('the next daemon finds the schedule, sets it to its configuration, and opens a window at once', async () => {
  const { info } = await schedule().describe();
  await schedule().update((previous) => ({ ...previous, spec: { intervals: [{ every: '1 hour' }] } }));
  await withDaemon(async () => {
    await nextWindow();
  });
  const described = await schedule().describe();
  expect(described.info.createdAt).toEqual(info.createdAt);
  expect(described.spec.intervals).toMatchObject([{ every: 2_000 }]);
  expect(described.policies).toMatchObject({ overlap: 'BUFFER_ONE', catchupWindow: 600_000 });
});

test('a schedule that the operator paused stays paused over a restart', async () => {
  await schedule().pause('the practice moves its server');
  const before = (await scheduled()).length;
  const actions = (await schedule().describe()).info.numActionsTaken;
  const warned = vi.spyOn(clinic.app.log, 'warn');
  await withDaemon(async () => {
    // Said once the daemon has done all that it does with the schedule.
    await waitFor('warning', () => warned.mock.calls.some(([, line]) => line?.includes('was paused in Temporal')));
  });
  warned.mockRestore();
  const { state, info } = await schedule().describe();
  expect(state).toMatchObject({ paused: true, note: 'the practice moves its server' });
  // One that was buffered when it was paused may still run.
  expect((await scheduled()).length).toBeLessThanOrEqual(before + 1);
  expect(info.numActionsTaken).toBeLessThanOrEqual(actions + 1);
  await schedule().unpause();
  await withDaemon(async () => {
    await nextWindow();
  });
});

type Temporal = TestClinic['engine']['client']['workflowService'];

/** Has somebody pause the schedule right before the nth call of a method of Temporal's service. */
function pausedBefore(method: 'describeSchedule' | 'updateSchedule', nth: number) {
  const service = clinic.engine.client.workflowService;
  const real = service[method].bind(service) as (...request: unknown[]) => unknown;
  let calls = 0;
  return vi.spyOn(service, method).mockImplementation((async (...request: unknown[]) => {
    calls += 1;
    if (calls === nth) await schedule().pause('by hand');
    return real(...request);
  }) as Temporal[typeof method]);
}

test.each([
  ['before a starting daemon reads the schedule', 'describeSchedule', 1],
  ['after it has looked for a pause', 'describeSchedule', 2],
  ['between its reading of the schedule and its update', 'updateSchedule', 1],
] as const)('a pause that is made in Temporal %s holds', async (_when, method, nth) => {
  await ensureSchedule(clinic.app, clinic.engine, 4711, 3_600);
  const calls = pausedBefore(method, nth);
  try {
    expect(await ensureSchedule(clinic.app, clinic.engine, 4711, 1_800)).toEqual({ paused: true });
  } finally {
    calls.mockRestore();
  }
  const { state, spec, action } = await schedule().describe();
  expect(state).toMatchObject({ paused: true, note: 'by hand' });
  expect(spec.intervals).toMatchObject([{ every: 1_800_000 }]);
  expect(action).toMatchObject({ workflowType: 'syncWindow' });
  const pauses = await pauseStates(clinic.app.db, [4711]);
  expect(pauses.get(4711)).toMatchObject({ isPaused: true, actedBy: 'somebody in Temporal', reason: 'by hand' });
  await schedule().unpause('over');
  expect(await ensureSchedule(clinic.app, clinic.engine, 4711, 1_800)).toEqual({ paused: false });
});

test('a pause that is made while the interval is set holds', async () => {
  await ensureSchedule(clinic.app, clinic.engine, 4711, 3_600);
  const calls = pausedBefore('updateSchedule', 1);
  try {
    await setScheduleInterval(clinic.app, clinic.engine, 4711, 900);
  } finally {
    calls.mockRestore();
  }
  const { state, spec } = await schedule().describe();
  expect(state).toMatchObject({ paused: true, note: 'by hand' });
  expect(spec.intervals).toMatchObject([{ every: 900_000 }]);
  await schedule().unpause('over');
});

/** As a newer server refuses an update whose token is another than the schedule's. */
const mismatch = () =>
  Object.assign(new Error('mismatched conflict token'), {
    code: 9,
    details: 'mismatched conflict token',
    metadata: { get: () => [] },
  });

test.each([
  ['once is set up all the same', 1, { paused: false }],
  ['again and again is told', 99, /was changed by somebody else 5 times/],
])('a schedule that others change %s', async (_how, refusals, expected) => {
  await ensureSchedule(clinic.app, clinic.engine, 4711, 3_600);
  const service = clinic.engine.client.workflowService;
  const real = service.updateSchedule.bind(service) as (request: unknown) => unknown;
  let refused = 0;
  const calls = vi.spyOn(service, 'updateSchedule').mockImplementation((async (request: unknown) => {
    refused += 1;
    if (refused <= refusals) throw mismatch();
    return real(request);
  }) as Temporal['updateSchedule']);
  try {
    const set = ensureSchedule(clinic.app, clinic.engine, 4711, 1_800);
    if (expected instanceof RegExp) await expect(set).rejects.toThrow(expected);
    else expect(await set).toEqual(expected);
  } finally {
    calls.mockRestore();
  }
});

test('the schedule of an installation that is no longer configured is paused, and goes on when it is again', async () => {
  const { client } = clinic.engine;
  const { spec, action, policies } = await schedule().describe();
  await client.schedule.create({ scheduleId: orphan, spec, policies, action: { ...action, workflowId: orphan } });
  await withDaemon(() =>
    waitFor('paused orphan', async () => (await client.schedule.getHandle(orphan).describe()).state.paused).then(
      () => undefined,
    ),
  );
  expect((await schedule().describe()).state.paused).toBe(false);
  // Paused by the program, not by the operator: it takes its own pause back.
  await schedule().pause((await client.schedule.getHandle(orphan).describe()).state.note);
  await withDaemon(async () => {
    await nextWindow();
  });
});
