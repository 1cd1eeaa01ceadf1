import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runDaemon } from '../../src/windows/daemon.ts';
import { setSchedule } from '../../src/windows/schedules.ts';
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

/** Runs `work` with a daemon that opens a window every two seconds. */
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
  opened_at: Date;
  posted: number;
}

/** Closed windows of the Schedule that opened after `after`; of consecutive idle windows, the last one. */
function scheduled(after = new Date(0)): Promise<Scheduled[]> {
  return clinic.rows<Scheduled>(
    `select opened_at, (counts->>'posted')::int as posted from sync_window
     where trigger = 'schedule' and outcome = 'closed' and date_trunc('milliseconds', opened_at) > ? order by id`,
    [after],
  );
}

/** Waits for the next closed window of the Schedule for which `wanted` is true. */
const nextWindow = async (wanted: (window: Scheduled) => boolean = () => true) => {
  const after = (await scheduled()).at(-1)?.opened_at;
  return waitFor('window of the schedule', async () => (await scheduled(after)).find(wanted));
};

test('a daemon makes the schedule, and its windows post what happens in the clinic', async () => {
  await withDaemon(async () => {
    expect((await nextWindow()).posted).toBeGreaterThan(0);
    clinic.sandbox.live(30);
    await nextWindow(({ posted }) => posted > 0);
    await nextWindow(({ posted }) => posted === 0);
    // Each run has one workflow, and no workflow starts while another runs.
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
    // The daemon logs this after it has finished with the Schedule.
    await waitFor('warning', () => warned.mock.calls.some(([, line]) => line?.includes('was paused in Temporal')));
  });
  warned.mockRestore();
  const { state, info } = await schedule().describe();
  expect(state).toMatchObject({ paused: true, note: 'the practice moves its server' });
  // A window that was buffered at the pause may still run.
  expect((await scheduled()).length).toBeLessThanOrEqual(before + 1);
  expect(info.numActionsTaken).toBeLessThanOrEqual(actions + 1);
  await schedule().unpause();
  await withDaemon(async () => {
    await nextWindow();
  });
});

test('a schedule that is set keeps a pause that was made in Temporal', async () => {
  await setSchedule(clinic.app, clinic.engine, 4711, 3_600);
  // Temporal applies a pause before a change that it has not applied yet, and the change removes the pause.
  await waitFor('shown interval', async () => {
    const [interval] = (await schedule().describe()).spec.intervals ?? [];
    return interval?.every === 3_600_000;
  });
  await schedule().pause('by hand');
  await waitFor('shown pause', async () => (await schedule().describe()).state.paused);
  expect(await setSchedule(clinic.app, clinic.engine, 4711, 1_800)).toEqual({ paused: true, isNew: false });
  const { state, spec, action } = await schedule().describe();
  expect(state).toMatchObject({ paused: true, note: 'by hand' });
  expect(spec.intervals).toMatchObject([{ every: 1_800_000 }]);
  expect(action).toMatchObject({ workflowType: 'syncWindow' });
  await schedule().unpause('over');
  await waitFor('shown resumption', async () => !(await schedule().describe()).state.paused);
  expect(await setSchedule(clinic.app, clinic.engine, 4711, 1_800)).toEqual({ paused: false, isNew: false });
});

test('the schedule of an installation that no process serves is paused, and goes on when one does again', async () => {
  const { client } = clinic.engine;
  const { spec, action, policies } = await schedule().describe();
  await client.schedule.create({ scheduleId: orphan, spec, policies, action: { ...action, workflowId: orphan } });
  await clinic.rows(`insert into schedule_watch (installation, task_queue, paused) values (4712, 'vetledger', false)`);
  await withDaemon(() =>
    waitFor('paused orphan', async () => (await client.schedule.getHandle(orphan).describe()).state.paused).then(
      () => undefined,
    ),
  );
  expect((await schedule().describe()).state.paused).toBe(false);
  // The program paused it, not the operator, so the program also ends the pause.
  await schedule().pause((await client.schedule.getHandle(orphan).describe()).state.note);
  await withDaemon(async () => {
    await nextWindow();
  });
});
