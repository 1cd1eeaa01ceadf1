// The requests of a replay of windows or times, from the windows in a real database.
import { beforeEach, describe, expect, test } from 'vitest';
import { execute } from '../../../src/db/rows.ts';
import { planReplay, type ReplayChoice } from '../../../src/sync/replay/plan.ts';
import type { Span } from '../../../src/sync/replay/spans.ts';
import { useDatabase } from '../../support/database.ts';
import { all, play, playUnopened, read, unread } from './play.ts';

const { db, owner } = useDatabase();
/** Windows of ten minutes with the payments of ten ids each. */
const minute = 60_000;
const at = (minutes: number) => new Date(Date.parse('2026-05-04T08:00:00Z') + minutes * minute);
const ms = (minutes: number) => at(minutes).getTime();
const now = at(10_000);
let installation = 0;
beforeEach(() => {
  installation += 1;
});

/** A live window that took a minute and whose answer came at its end. */
async function live(from: number, to: number, payments: [number, number]): Promise<number> {
  const streams = all(read(ms(from), ms(to)), read(...payments));
  return moved(await play(db, installation, { kind: 'window', outcome: 'closed', streams }), to);
}
async function failed(from: number, to: number, after: number): Promise<number> {
  const streams = all(unread(ms(from), ms(to)), unread(after, null));
  return moved(await play(db, installation, { kind: 'window', outcome: 'failed', streams }), to);
}
/** The row is created again with the test's time, because a row of an ended window cannot change. */
async function moved(id: number, openedAt: number): Promise<number> {
  await execute(owner, 'alter table sync_window disable trigger sync_window_finished');
  await execute(owner, 'update sync_window set opened_at = ?, closed_at = ? where id = ?', [
    ...[at(openedAt), at(openedAt + 1), id],
  ]);
  await execute(owner, 'alter table sync_window enable trigger sync_window_finished');
  return id;
}
const plan = (wanted: ReplayChoice) => planReplay(db, installation, wanted, { overlapMs: 10 * minute, now });
const times = (from: number, to: number) => plan({ by: 'times', from: at(from), to: at(to) });
const span = (windows: number[], from: number, to: number, payment: [number | null, number | null]): Span => {
  const changes = { from: ms(from), to: ms(to) };
  return {
    ...{ windows, invoice: changes, prepayment: changes, row: changes },
    payment: { from: payment[0], to: payment[1] },
  };
};
const chain = async () => [
  await live(0, 10, [0, 10]),
  await live(10, 20, [10, 20]),
  await live(20, 30, [20, 30]),
  await live(30, 40, [30, 40]),
];

describe('windows', () => {
  test('that failed are those that nothing covers; payments up to the present', async () => {
    await live(0, 10, [0, 10]);
    const ids = [await failed(10, 20, 10), await failed(10, 30, 10)];
    expect(await plan({ by: 'failed' })).toEqual({ spans: [span(ids, 10, 30, [10, null])], leftOut: [] });
    await live(10, 40, [10, 20]);
    expect(await plan({ by: 'failed' })).toEqual({ spans: [], leftOut: [] });
  });

  test('that failed and that others have read since ask payments up to where they had settled', async () => {
    await live(0, 10, [0, 20]);
    const id = await failed(10, 20, 20);
    await live(10, 30, [20, 20]);
    await live(30, 40, [20, 25]);
    await live(40, 50, [25, 31]);
    expect((await plan({ by: 'windows', windows: [id] })).spans).toEqual([span([id], 10, 20, [20, 31])]);
  });

  test('that never opened are asked from where the cursors stood up to their attempt', async () => {
    await live(0, 10, [0, 10]);
    const id = await playUnopened(db, installation, 'window', at(17));
    expect((await plan({ by: 'failed' })).spans).toEqual([span([id], 10, 17, [10, null])]);
  });

  test('that never opened and have no cursor load everything', async () => {
    const id = await playUnopened(db, installation, 'window', at(17));
    expect(await plan({ by: 'failed' })).toEqual({ spans: [], leftOut: [{ window: id, reason: 'loads everything' }] });
    await expect(plan({ by: 'windows', windows: [id] })).rejects.toMatchObject({ code: 'replay_of_load' });
  });

  test.each([
    ['a backfill', 'backfill', 'closed', 'replay_of_backfill'],
    ['one that is open', 'window', 'open', 'window_open'],
    ['a retry, which asked nothing', 'replay', 'closed', 'window_untold'],
  ] as const)('%s is refused', async (_name, kind, outcome, code) => {
    const streams = kind === 'replay' ? null : all(unread(ms(0), ms(10)));
    const id = await play(db, installation, { kind, outcome, streams, from: ms(0), to: ms(10) });
    await expect(plan({ by: 'windows', windows: [id] })).rejects.toMatchObject({ code });
  });
});

describe('times given by hand', () => {
  test('are widened to the windows that they meet', async () => {
    const ids = await chain();
    expect((await times(12, 21)).spans).toEqual([span(ids.slice(1, 3), 10, 30, [10, 30])]);
  });

  test('on the edges of a window are that window', async () => {
    const ids = await chain();
    expect((await times(10, 20)).spans).toEqual([span(ids.slice(1, 2), 10, 20, [10, 20])]);
  });

  test('take failed windows with them', async () => {
    await live(0, 10, [0, 10]);
    const ids = [await live(10, 20, [10, 20]), await failed(20, 30, 20)];
    expect((await times(15, 35)).spans).toEqual([span(ids, 10, 35, [10, null])]);
  });

  test('leave the first load out', async () => {
    const streams = all(read(null, ms(10)), read(null, 10));
    await play(db, installation, { kind: 'window', outcome: 'closed', streams });
    const id = await live(10, 20, [10, 20]);
    expect((await times(5, 15)).spans).toEqual([span([id], 5, 20, [10, 20])]);
  });

  test('before the first window are themselves, with the payments that the mirror has of them', async () => {
    for (const [id, minutes] of [
      [500, -101],
      [550, -80],
      [600, -51],
      [650, -49],
    ] as const) {
      await execute(
        db,
        `insert into mirror_record (installation, kind, id, version, modified, source_time, first_seen_at, content_hash, raw)
         values (?, 'payment', ?, 1, ?, ?, ?, 'x', '{}')`,
        [installation, id, at(minutes), at(minutes), at(minutes)],
      );
    }
    expect((await times(-90, -60)).spans).toEqual([span([], -90, -60, [500, 600])]);
  });

  test('in a hole between windows are themselves, with the payments between the cursors', async () => {
    await live(0, 10, [0, 10]);
    await live(20, 30, [20, 30]);
    await live(30, 40, [30, 40]);
    await live(50, 60, [40, 50]);
    // The first of them closed at 31. The windows that opened after 41 show up to which id its payments had settled.
    expect((await times(12, 18)).spans).toEqual([span([], 12, 18, [0, 50])]);
  });
});
