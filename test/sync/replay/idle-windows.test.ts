import { beforeEach, describe, expect, test } from 'vitest';
import { execute } from '../../../src/db/rows.ts';
import { newestWindows, recordedWindows } from '../../../src/queries/windows.ts';
import { idleWindowOfRun, noteIdleWindow } from '../../../src/sync/idle-windows.ts';
import { gapsOf } from '../../../src/sync/replay/gaps.ts';
import { planReplay } from '../../../src/sync/replay/plan.ts';
import { windowPaces } from '../../../src/sync/schedule-state.ts';
import { noCounts } from '../../../workflows/messages.ts';
import { useDatabase } from '../../support/database.ts';
import { query } from '../../support/sql.ts';
import { all, play, read, setCursors, unread } from './play.ts';

const { db, owner } = useDatabase();
let installation = 0;
let runs = 0;
beforeEach(() => {
  installation += 1;
});

const api = { requests: 4, weight: 4, throttled: 0, waited_seconds: 0.25 };
const counts = { ...noCounts, seen: { ...noCounts.seen, invoices: 3 }, held: 2, api };

/** A window that read an interval of time, and payments above an id, and found nothing. */
async function idle(from: number, to: number, { payment = read(5, 5), trigger = 'schedule' } = {}): Promise<number> {
  runs += 1;
  const id = await db.transaction((trx) =>
    noteIdleWindow(trx, {
      ...{ installation, trigger, from: new Date(from), to: new Date(to), openedAt: new Date(), counts },
      ...{ spans: all(read(from, to), payment), workflowId: `idle ${runs}`, runId: `idle run ${installation}/${runs}` },
    }),
  );
  await setCursors(db, installation, { invoice: to, prepayment: to, row: to, payment: payment.to });
  return id;
}

const windows = async () => (await recordedWindows(db, [installation], { failedOnly: false, limit: 100 })).reverse();
const closed = (from: number, to: number) =>
  play(db, installation, { kind: 'window', outcome: 'closed', streams: all(read(from, to), read(5, 5)) });
const failed = (from: number, to: number, kind: 'window' | 'replay' = 'window') =>
  play(db, installation, { kind, outcome: 'failed', streams: all(unread(from, to), unread(5, null)) });

test('one row stands for idle windows in a row: their interval, their cost, and the last one’s times', async () => {
  const first = await idle(10, 20);
  const [alone] = await windows();
  expect([await idle(20, 30), await idle(30, 45, { payment: read(5, 8) })]).toEqual([first, first]);
  const [row, ...others] = await windows();
  expect(others).toEqual([]);
  expect(row).toMatchObject({ id: first, from: new Date(10), to: new Date(45), outcome: 'closed', idle_windows: 3 });
  expect(row!.workflow_id).toBe(`idle ${runs}`);
  expect(row!.opened_at.getTime()).toBeGreaterThan(alone!.opened_at.getTime());
  expect(row!.closed_at!.getTime()).toBeGreaterThan(alone!.closed_at!.getTime());
  const [stored] = await query<{ counts: string }>(db, 'select counts from sync_window where id = ?', [first]);
  expect(JSON.parse(stored!.counts)).toEqual({
    ...{ ...counts, seen: { ...counts.seen, invoices: 9 } },
    api: { requests: 12, weight: 12, throttled: 0, waited_seconds: 0.75 },
  });
  expect(await gapsOf(db, installation)).toMatchObject({ since: new Date(10), gaps: [] });
  // A replay of the row reads everything that its windows have read.
  const wanted = { by: 'windows', windows: [first] } as const;
  const { spans } = await planReplay(db, installation, wanted, { overlapMs: 0, now: new Date() });
  const whole = { from: 10, to: 45 };
  expect(spans).toEqual([
    { windows: [first], invoice: whole, prepayment: whole, row: whole, payment: { from: 5, to: 8 } },
  ]);
});

describe('an idle window begins a row', () => {
  const damage = async () => {
    await execute(owner, 'alter table vetledger.sync_window disable trigger user');
    await execute(owner, `update vetledger.sync_window set counts = '{}' where installation = ?`, [installation]);
    await execute(owner, 'alter table vetledger.sync_window enable trigger user');
  };
  test.each<[string, number, () => Promise<unknown>]>([
    ['after one that had content', 30, () => closed(20, 30)],
    ['after one that failed', 20, () => failed(20, 30)],
    ['after a replay', 20, () => failed(10, 20, 'replay')],
    ['after one of another trigger', 30, () => idle(20, 30, { trigger: 'webhook' })],
    ['where the one before did not end at its beginning', 30, async () => undefined],
    ['after one whose counts are damaged', 20, damage],
  ])('%s', async (_name, from, between) => {
    const first = await idle(10, 20);
    await between();
    const next = await idle(from, 40);
    expect(next).toBeGreaterThan(first);
    expect((await windows()).find(({ id }) => id === first)).toMatchObject({ idle_windows: 1, to: new Date(20) });
    expect(await idle(40, 50)).toBe(next);
  });
});

test('a gap between two rows of idle windows is found', async () => {
  await idle(10, 20);
  await idle(20, 30);
  await idle(35, 40);
  const { gaps } = await gapsOf(db, installation);
  expect(gaps.filter(({ stream }) => stream === 'invoice')).toMatchObject([{ from: 30, to: 35 }]);
});

test('a row of idle windows covers failed ones, and is named once', async () => {
  const replay = await failed(30, 50, 'replay');
  const window = await failed(20, 30);
  const row = await idle(20, 40);
  const coverOf = async (id: number) => (await windows()).find((each) => each.id === id)!.covered_by;
  expect(await coverOf(window)).toEqual([row]);
  expect(await coverOf(replay)).toBeNull();
  expect(await idle(40, 60)).toBe(row);
  expect(await coverOf(window)).toEqual([row]);
  expect(await coverOf(replay)).toEqual([row]);
});

test('the pace counts each of the windows, up to one that found something, and the newest is the last of them', async () => {
  const pace = async (most: number) => (await windowPaces(db, [installation], most))[0];
  await idle(10, 20);
  await idle(20, 30);
  await closed(30, 40);
  await execute(owner, 'alter table vetledger.sync_window disable trigger user');
  await execute(owner, `update vetledger.sync_window set counts = '{"posted": 1}' where idle_windows is null`);
  await execute(owner, 'alter table vetledger.sync_window enable trigger user');
  expect(await pace(6)).toMatchObject({ idleWindows: 0, syncedTo: new Date(40) });
  for (const from of [40, 50, 60]) await idle(from, from + 10);
  const opened = (await windows()).at(-1)!.opened_at;
  expect(await pace(6)).toMatchObject({ idleWindows: 3, syncedTo: new Date(70), openedAt: opened });
  expect(await pace(2)).toMatchObject({ idleWindows: 2 });
  expect(await newestWindows(db, [installation])).toMatchObject([{ outcome: 'closed', opened_at: opened }]);
});

test('an attempt after the one that made the row finds it by its run; one that joined a row made none', async () => {
  const id = await idle(10, 20);
  const made = `idle run ${installation}/${runs}`;
  await idle(20, 30);
  expect(await idleWindowOfRun(db, made)).toMatchObject({ id, trigger: 'schedule' });
  expect(await idleWindowOfRun(db, `idle run ${installation}/${runs}`)).toBeNull();
});

test.each([
  ['no other column', 'idle_windows = idle_windows + 1, from_time = now()'],
  ['no outcome', `idle_windows = idle_windows + 1, outcome = 'failed'`],
  ['none without a further window', 'to_time = now()'],
  ['two windows at once', 'idle_windows = idle_windows + 2, to_time = now()'],
])('the next window changes only what is its own: %s', async (_name, change) => {
  const id = await idle(10, 20);
  await expect(execute(db, `update sync_window set ${change} where id = ?`, [id])).rejects.toThrow(/never changed/);
});
