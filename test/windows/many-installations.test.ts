// Schedules of many installations: their offsets in the interval, the windows that a daemon's start opens, and the
// reports of the watch. The Schedules are those of a real Temporal. No worker uses their task queue, so no window runs.

import { Client, Connection, type ScheduleHandle } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type Config, type InstallationConfig, loadConfig } from '../../src/config/load-config.ts';
import type { Schedule } from '../../src/domain/intervals.ts';
import type { App } from '../../src/runtime/app.ts';
import type { Engine } from '../../src/runtime/worker.ts';
import { setPaused } from '../../src/sync/pauses.ts';
import { watchedSchedules } from '../../src/sync/schedule-state.ts';
import { scheduleId } from '../../src/windows/schedule-names.ts';
import { pauseUnserved, scheduleHandle } from '../../src/windows/schedules.ts';
import { openDue, startSchedules } from '../../src/windows/start.ts';
import { startWatch, Watcher } from '../../src/windows/watch.ts';
import { folderOf } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig } from '../support/demo-config.ts';
import { query } from '../support/sql.ts';

const { db, truncate } = useDatabase();
const databaseId = `many-${process.pid}`;
let connection: Connection;
let client: Client;
let config: Config;
let now: Date;
let said: { level: string; fields: Record<string, unknown>; line: string }[];

beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
  client = new Client({ connection });
  const file = folderOf({
    'vetledger.yaml': demoConfig([{ id: 1, base_url: 'http://127.0.0.1:1', name: 'Haukka' }]),
  });
  config = await loadConfig(`${file}/vetledger.yaml`, { PRACTICE_TOKEN: 't' });
});

afterAll(async () => {
  for await (const { scheduleId } of client.schedule.list()) {
    if (scheduleId.includes(databaseId)) await client.schedule.getHandle(scheduleId).delete();
  }
  await connection.close();
});

beforeEach(async () => {
  now = new Date('2026-05-04T09:00:00Z');
  said = [];
  await truncate();
});

/** The parts of the program that Schedules use, for this many installations from `first` on. */
function appOf(of: number, { first = 1, schedule = { everySeconds: 300 } as Schedule } = {}): App {
  const [one] = config.installations as [InstallationConfig];
  const tell = (level: string) => (fields: Record<string, unknown>, line: string) => said.push({ level, fields, line });
  return {
    config: {
      ...config,
      schedule,
      installations: Array.from({ length: of }, (_, n) => ({ ...one, id: first + n })),
    },
    db,
    databaseId,
    temporalName: databaseId,
    log: { debug: () => undefined, info: tell('info'), warn: tell('warn') },
    clock: () => now,
    outages: { of: () => null },
    events: { emit: () => undefined },
  } as unknown as App;
}

const engine = () => ({ client, taskQueue: 'nobody', searchAttributes: false }) as unknown as Engine;
const described = (app: App, id: number) => scheduleHandle(app, engine(), id).describe();

/** Adds a closed window that opened this long before `now`. */
async function closed(installation: number, agoSeconds: number, posted = 0): Promise<void> {
  const at = new Date(now.getTime() - agoSeconds * 1000);
  await query(
    db,
    `insert into sync_window (installation, kind, trigger, to_time, outcome, workflow_id, run_id, opened_at, closed_at, counts)
     values (?, 'window', 'schedule', ?, 'closed', 'w', gen_random_uuid()::text, ?, ?, ?::json)`,
    [installation, at, at, at, JSON.stringify({ posted, pulled: { invoices: posted, rows: 0 } })],
  );
}

describe('the start of a daemon', () => {
  test('gives each installation its place, evenly spread, and opens what is due, the longest wait first', async () => {
    const app = appOf(12, { first: 100 });
    for (let n = 0; n < 10; n++) await closed(100 + n, n < 3 ? 100 : 1000 * n);
    const { due, intervals } = await startSchedules(app, engine());
    // The last two never had a window; the first three had theirs in this interval.
    expect(due).toEqual([110, 111, 109, 108, 107, 106, 105, 104, 103]);
    expect(new Set(intervals.values())).toEqual(new Set([300]));
    const offsets: number[] = [];
    for (let id = 100; id < 112; id++) {
      const { spec, policies, info, action } = await described(app, id);
      offsets.push(spec.intervals![0]!.offset);
      expect(spec.intervals![0]!.every).toBe(300_000);
      expect(policies).toMatchObject({ overlap: 'BUFFER_ONE', catchupWindow: 600_000 });
      expect(info.numActionsTaken).toBe(0);
      expect(action.workflowType).toBe('syncWindow');
    }
    const sorted = offsets.sort((a, b) => a - b);
    for (const [i, offset] of sorted.entries()) {
      expect(offset - (i === 0 ? sorted.at(-1)! - 300_000 : sorted[i - 1]!)).toBe(25_000);
    }
  });

  test('one installation alone gets its window at once, though it had one just now', async () => {
    await closed(200, 1);
    const app = appOf(1, { first: 200 });
    const { due } = await startSchedules(app, engine());
    expect(due).toEqual([200]);
    await openDue(app, engine(), due, new AbortController().signal);
    expect((await described(app, 200)).info.numActionsTaken).toBe(1);
  });

  test('what the Schedule has opened meanwhile is not opened again, and a stop ends the start', async () => {
    const app = appOf(3, { first: 210 });
    const { due } = await startSchedules(app, engine());
    await closed(211, -1);
    await openDue(app, engine(), due, new AbortController().signal, 0);
    const actions = async () =>
      Promise.all([210, 211, 212].map(async (id) => (await described(app, id)).info.numActionsTaken));
    expect(await actions()).toEqual([1, 0, 1]);
    await openDue(app, engine(), due, AbortSignal.abort(), 60_000);
    expect(await actions()).toEqual([1, 0, 1]);
  });

  test('as many windows as may work side by side open at once, and another one as soon as one of them has ended', async () => {
    const app = appOf(10, { first: 220 });
    const { due } = await startSchedules(app, engine());
    const stop = new AbortController();
    const opening = openDue(app, engine(), due, stop.signal, 60_000);
    const opened = async () => {
      const of = await Promise.all(due.map(async (id) => (await described(app, id)).info.numActionsTaken));
      return of.reduce((sum, n) => sum + n, 0);
    };
    await expect.poll(opened, { timeout: 10_000 }).toBe(8);
    await closed(223, -1);
    await expect.poll(opened, { timeout: 10_000 }).toBe(9);
    stop.abort();
    await opening;
    expect(await opened()).toBe(9);
  });
});

describe('the watch', () => {
  /** Starts the Schedules and waits until Temporal's list, which is behind, shows them. */
  const started = async (app: Parameters<typeof startSchedules>[0]) => {
    const result = await startSchedules(app, engine());
    const missing = async () => {
      const ids = new Set(app.config.installations.map(({ id }) => scheduleId(app, id)));
      for await (const { scheduleId: shown } of engine().client.schedule.list()) ids.delete(shown);
      return ids.size;
    };
    await expect.poll(missing, { timeout: 20_000 }).toBe(0);
    return result;
  };
  const round = async (watcher: Watcher) => {
    await watcher.look();
    await watcher.tend(new AbortController().signal);
  };

  test('reports once that installations are late, and once that they are not any more', async () => {
    const app = appOf(3, { first: 300 });
    const { intervals } = await started(app);
    for (const id of [300, 301, 302]) await closed(id, 0);
    const watcher = new Watcher(app, engine(), intervals);
    await round(watcher);
    expect(said).toEqual([]);
    now = new Date(now.getTime() + 700_000);
    await closed(300, 10);
    for (let n = 0; n < 3; n++) await round(watcher);
    expect(said).toEqual([
      {
        level: 'warn',
        fields: { installations: [301, 302], of: 2, late: 2, lag_seconds: 700 },
        line: expect.stringContaining('late'),
      },
    ]);
    expect(watcher.watched.map(({ installation, late }) => [installation, late])).toEqual([
      [300, false],
      [301, true],
      [302, true],
    ]);
    await closed(301, 1);
    for (let n = 0; n < 2; n++) await round(watcher);
    expect(said.slice(1)).toEqual([{ level: 'info', fields: { installation: 301, late: 1 }, line: 'no longer late' }]);
  });

  test('paused windows are not late, as `status` says', async () => {
    const app = appOf(2, { first: 330 });
    await started(app);
    for (const id of [330, 331]) await closed(id, 0);
    const watcher = new Watcher(app, engine(), new Map());
    const seen = () => watcher.watched.map(({ paused, late }) => ({ paused, late }));
    now = new Date(now.getTime() + 700_000);
    await setPaused(app.db, 330, true, { actedBy: 'M. Virtanen', reason: 'the practice moves' });
    await round(watcher);
    expect(seen()).toEqual([
      { paused: true, late: false },
      { paused: false, late: true },
    ]);
    await setPaused(app.db, 330, false, { actedBy: 'M. Virtanen', reason: 'moved' });
    await round(watcher);
    expect(seen()).toEqual([
      { paused: false, late: true },
      { paused: false, late: true },
    ]);
  });

  test('a Schedule that is gone is made again, and the error of one installation keeps none of the others', async () => {
    const app = appOf(3, { first: 340 });
    const { intervals } = await started(app);
    for (const id of [340, 341, 342]) await closed(id, 0);
    await scheduleHandle(app, engine(), 340).pause('moving');
    await scheduleHandle(app, engine(), 341).delete();
    await setPaused(app.db, 342, true, { actedBy: 'Bo', reason: 'upgrade' });
    const real = engine();
    const getHandle = (id: string) => {
      if (id.startsWith('sync-window/340-')) throw new Error('the server fails for this one');
      return real.client.schedule.getHandle(id);
    };
    const schedule = Object.assign(Object.create(real.client.schedule), { getHandle });
    const failing = { ...real, client: Object.create(real.client, { schedule: { value: schedule } }) } as Engine;
    const watcher = new Watcher(app, failing, intervals);
    const states = async () => ({
      gone: await described(app, 341).then(
        () => false,
        () => true,
      ),
      held: (await described(app, 342)).state.paused,
    });
    // Temporal's list of Schedules may be some seconds old.
    await expect
      .poll(async () => round(watcher).then(states), { timeout: 20_000, interval: 200 })
      .toEqual({ gone: false, held: true });
    expect(said).toContainEqual(
      expect.objectContaining({ fields: { installation: 341 }, line: expect.stringContaining('created again') }),
    );
    expect(said).toContainEqual(
      expect.objectContaining({ fields: { installation: 340, err: expect.anything() }, level: 'warn' }),
    );
    expect((await described(app, 340)).state).toMatchObject({ paused: true, note: 'moving' });
  });

  test('lag and lateness go on while Temporal answers nothing', async () => {
    const app = appOf(1, { first: 350 });
    await closed(350, 0);
    const never = new Promise<never>(() => undefined);
    const client = {
      withDeadline: (_: number, work: () => Promise<unknown>) => work(),
      schedule: { list: () => never },
    };
    const watch = startWatch(app, { ...engine(), client } as unknown as Engine, new Map(), 20);
    try {
      await expect.poll(() => watch.watched()).toMatchObject([{ installation: 350, late: false }]);
      now = new Date(now.getTime() + 700_000);
      await expect.poll(() => watch.watched()).toMatchObject([{ lagSeconds: 700, late: true }]);
      await closed(350, 5);
      await expect.poll(() => watch.watched()).toMatchObject([{ lagSeconds: 5, late: false }]);
    } finally {
      // The test does not await the end, because it would wait for Temporal.
      void watch.stop();
    }
  });

  test('one Schedule that cannot be set at the start or paused keeps none of the others', async () => {
    const app = appOf(2, { first: 360 });
    const real = engine();
    const getHandle = (id: string) => {
      if (id.startsWith('sync-window/360-')) throw new Error('the server fails for this one');
      return real.client.schedule.getHandle(id);
    };
    const schedule = Object.assign(Object.create(real.client.schedule), { getHandle });
    const failing = { ...real, client: Object.create(real.client, { schedule: { value: schedule } }) } as Engine;
    await started(app);
    const { intervals } = await startSchedules(app, failing);
    expect([...intervals.keys()]).toEqual([361]);
    app.config.installations.length = 0;
    await pauseUnserved(app, failing);
    expect((await described(app, 360)).state.paused).toBe(false);
    expect((await described(app, 361)).state).toMatchObject({ paused: true });
    expect(said.filter(({ fields }) => fields.installation === 360).map(({ level }) => level)).toEqual([
      'warn',
      'warn',
    ]);
  });

  test('an installation that a reload brings is late from two intervals after the reload on', async () => {
    const app = appOf(1, { first: 360 });
    const watcher = new Watcher(app, engine(), new Map());
    const isLate = async (afterSeconds: number) => {
      now = new Date(now.getTime() + afterSeconds * 1000);
      await watcher.look();
      return watcher.watched.map(({ installation, late }) => [installation, late]);
    };
    await closed(361, 86_400);
    expect(await isLate(0)).toEqual([[360, false]]);
    const [, ...added] = appOf(3, { first: 360 }).config.installations;
    app.config = { ...app.config, installations: [...app.config.installations, ...added] };
    expect(await isLate(700)).toEqual([
      [360, true],
      [361, false],
      [362, false],
    ]);
    app.config = { ...app.config, installations: added };
    expect(await isLate(700)).toEqual([
      [361, true],
      [362, true],
    ]);
    app.config = appOf(1, { first: 360 }).config;
    expect(await isLate(5)).toEqual([[360, false]]);
  });

  test('an installation that never had a window is late from two intervals after the start on', async () => {
    const app = appOf(1, { first: 310 });
    const watcher = new Watcher(app, engine(), new Map());
    await started(app);
    await round(watcher);
    expect(watcher.watched[0]).toMatchObject({ lagSeconds: null, late: false });
    now = new Date(now.getTime() + 631_000);
    await round(watcher);
    expect(watcher.watched[0]).toMatchObject({ lagSeconds: null, late: true });
  });

  test('ticks that Temporal dropped are logged once, noted for `status`, and their end is logged', async () => {
    const app = appOf(2, { first: 320 });
    await started(app);
    const missed = new Map([
      [320, 3],
      [321, 0],
    ]);
    const counting = counters(app, missed);
    const watcher = new Watcher(app, counting, new Map([[320, 300]]));
    await closed(320, 0);
    await closed(321, 0);
    await round(watcher);
    // Windows that were missed before the watch started are not reported.
    expect(said).toEqual([]);
    missed.set(320, 5);
    await round(watcher);
    missed.set(321, 1);
    await round(watcher);
    expect(said).toMatchObject([{ level: 'warn', fields: { installation: 320, missed: 5 } }]);
    const listed = { nextAt: expect.any(Date), isMissing: false, seenAt: expect.any(Date) };
    expect(await watchedSchedules(db, [320, 321], 'vetledger')).toMatchObject([
      { installation: 320, missed: 5, missedAt: expect.any(Date), ...listed },
      { installation: 321, missed: 1, missedAt: expect.any(Date), ...listed },
    ]);
    now = new Date(now.getTime() + 400_000);
    await closed(320, 0);
    await closed(321, 0);
    await round(watcher);
    expect(said.slice(1)).toMatchObject([{ level: 'info', line: 'windows open in time again', fields: { of: 2 } }]);
    expect(watcher.watched[1]).toMatchObject({ counters: { missed: 1, skipped: 0, dropped: 0, paused: false } });
  });

  test('a Schedule gets the interval of idleness, and the ordinary one back when something happens', async () => {
    const schedule = { everySeconds: 60, idle: { everySeconds: 600, afterWindows: 3 } };
    const app = appOf(1, { first: 330, schedule });
    const { intervals } = await started(app);
    const watcher = new Watcher(app, engine(), intervals);
    const every = async () => (await described(app, 330)).spec.intervals![0]!.every;
    await closed(330, 300, 1);
    await closed(330, 200);
    await closed(330, 100);
    await round(watcher);
    expect(await every()).toBe(60_000);
    await closed(330, 0);
    await round(watcher);
    expect(await every()).toBe(600_000);
    expect((await described(app, 330)).policies.catchupWindow).toBe(1_200_000);
    // A daemon that starts now keeps it.
    expect((await started(app)).intervals.get(330)).toBe(600);
    await closed(330, 0, 2);
    await round(watcher);
    expect(await every()).toBe(60_000);
  });
});

/** An engine with counters that the test chooses in place of Temporal's. */
function counters(app: App, missed: ReadonlyMap<number, number>): Engine {
  const real = engine();
  const getHandle = (scheduleId: string) => ({
    describe: async () => {
      const found = await real.client.schedule.getHandle(scheduleId).describe();
      const id = app.config.installations.find((one) => scheduleId.startsWith(`sync-window/${one.id}-`))!.id;
      return { ...found, info: { ...found.info, numActionsMissedCatchupWindow: missed.get(id) } };
    },
    update: (...given: Parameters<ScheduleHandle['update']>) =>
      real.client.schedule.getHandle(scheduleId).update(...given),
  });
  const schedule = Object.assign(Object.create(real.client.schedule), { getHandle });
  return { ...real, client: Object.create(real.client, { schedule: { value: schedule } }) } as Engine;
}
