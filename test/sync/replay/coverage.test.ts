import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { execute } from '../../../src/db/rows.ts';
import { recordedWindows } from '../../../src/queries/windows.ts';
import { uncoveredWindows } from '../../../src/sync/replay/coverage.ts';
import { gapsOf } from '../../../src/sync/replay/gaps.ts';
import { type RecordKind, recordKinds } from '../../../src/terms.ts';
import { useDatabase } from '../../support/database.ts';
import { runs } from '../../support/runs.ts';
import { all, type Played, play, playUnopened, type Reading, type Readings, read, setCursors, unread } from './play.ts';

const { db } = useDatabase();
let installation = 0;
beforeEach(() => {
  installation += 1;
});

const closed = (streams: Readings, kind: Played['kind'] = 'window'): Played => ({ kind, outcome: 'closed', streams });
const failed = (streams: Readings, kind: Played['kind'] = 'window'): Played => ({ kind, outcome: 'failed', streams });
/** The windows that cover one; null if it is not covered yet. */
async function coveredBy(id: number): Promise<number[] | null> {
  const windows = await recordedWindows(db, [installation], { failedOnly: true, limit: 1_000 });
  return windows.find((window) => window.id === id)!.covered_by;
}

describe('a failed window is covered', () => {
  const left = failed(all(unread(10, 20), unread(5, null)));
  test.each<[string, Played, Played[], number[] | null]>([
    ['by nothing yet', left, [], null],
    ['by the next window, from the same cursors', left, [closed(all(read(10, 30), read(5, 7)))], [0]],
    ['not by one that began later', left, [closed(all(read(12, 30), read(5, 7)))], null],
    ['not where payments were asked from a later id', left, [closed(all(read(10, 30), read(6, 9)))], null],
    [
      'by two windows, the first of which failed among its rows',
      left,
      [
        failed({ ...all(read(10, 25), read(5, 6)), row: unread(10, 25) }),
        closed({ ...all(read(25, 30), read(6, 7)), row: read(10, 30) }),
      ],
      [0, 1],
    ],
    ['only once a window has closed, though all of it was read', left, [failed(all(read(10, 25), read(5, 6)))], null],
    [
      'where another one has read all of it, by that and the next that closes',
      left,
      [failed(all(read(10, 25), read(5, 6))), closed(all(read(25, 30), read(6, 7)))],
      [0, 1],
    ],
    ['by a replay whose payments have no end', left, [closed(all(read(10, 20), read(5, null)), 'replay')], [0]],
    ['not by one that stopped at a payment', left, [closed(all(read(10, 20), read(5, 6)), 'replay')], null],
    ['not by a replay that failed', left, [failed(all(unread(10, 20), unread(5, null)), 'replay')], null],
    ['not by what judged the mirror again', left, [{ kind: 'replay', outcome: 'closed', streams: null }], null],
    ['by a backfill', left, [closed(all(read(null, 40), read(null, 3)), 'backfill')], [0]],
    [
      'not by a backfill of invoices from a date on',
      left,
      [closed({ ...all(read(null, 40)), invoice: read(null, null) }, 'backfill')],
      null,
    ],
    ['not by a window still open', left, [{ ...closed(all(read(10, 30), read(5, 7))), outcome: 'open' }], null],
    [
      'that had read everything, once the next one has posted it',
      failed(all(read(10, 20))),
      [closed(all(read(20, 30)))],
      [0],
    ],
    [
      'a backfill by another one',
      failed(all(unread(null, 40), unread(null, null)), 'backfill'),
      [closed(all(read(10, 50))), closed(all(read(null, 50)), 'backfill')],
      [0, 1],
    ],
    [
      'a replay by another one of the same payments',
      failed(all(unread(10, 20), unread(5, 8)), 'replay'),
      [closed(all(read(10, 20), read(5, 8)), 'replay')],
      [0],
    ],
  ])('%s', async (_name, window, later, by) => {
    const id = await play(db, installation, window);
    const ids: number[] = [];
    for (const each of later) ids.push(await play(db, installation, each));
    expect(await coveredBy(id)).toEqual(by?.map((index) => ids[index]) ?? null);
  });

  test('that never opened and has no cursor, by the next live window that closes', async () => {
    const id = await playUnopened(db, installation, 'window', new Date(8));
    await playUnopened(db, installation, 'window', new Date(9));
    expect(await coveredBy(id)).toBeNull();
    const first = await play(db, installation, closed(all(read(null, 60))));
    expect(await coveredBy(id)).toEqual([first]);
    expect(await uncoveredWindows(db, installation)).toEqual([]);
  });

  test('that never opened, from where the cursors stand up to its attempt', async () => {
    await play(db, installation, closed(all(read(null, 10), read(null, 3))));
    const id = await playUnopened(db, installation, 'window', new Date(20));
    const short = await play(db, installation, closed(all(read(10, 15), read(3, 4))));
    expect(await coveredBy(id)).toBeNull();
    const rest = await play(db, installation, closed(all(read(15, 25), read(4, 4))));
    expect(await coveredBy(id)).toEqual([short, rest]);
  });

  test('and its coverage goes with it when the retention deletes it', async () => {
    const id = await play(db, installation, left);
    await execute(db, 'delete from sync_window where id = ?', [id]);
    expect(await uncoveredWindows(db, installation)).toEqual([]);
  });
});

describe('a gap', () => {
  const first = () => closed(all(read(null, 10), read(null, 10)));
  const gapsIn = async () => (await gapsOf(db, installation)).gaps.map(({ stream, from, to }) => [stream, from, to]);
  test.each<[string, Played[], unknown[]]>([
    ['is none where each begins where the last ended', [first(), closed(all(read(10, 20)))], []],
    [
      'is none where a failed window moved no cursor',
      [first(), failed(all(unread(10, 20))), closed(all(read(10, 30)))],
      [],
    ],
    ['is what a cursor has skipped', [first(), closed({ ...all(read(10, 20)), row: read(13, 20) })], [['row', 10, 13]]],
    [
      'is seen though the window that shows it failed',
      [first(), failed({ ...all(unread(10, 20)), payment: unread(12, null) })],
      [['payment', 10, 12]],
    ],
    [
      'is none where a replay has read it, before or after',
      [first(), closed(all(read(10, 12)), 'replay'), closed(all(read(15, 20))), closed(all(read(11, 15)), 'replay')],
      [],
    ],
    [
      'is what a replay has left of it',
      [first(), closed(all(read(20, 30))), closed({ ...all(read(10, 20)), invoice: read(12, 15) }, 'replay')],
      [
        ['invoice', 10, 12],
        ['invoice', 15, 20],
      ],
    ],
    [
      'is not closed by a replay that failed',
      [first(), closed(all(read(20, 30))), failed(all(unread(10, 20)), 'replay')],
      [
        ['invoice', 10, 20],
        ['row', 10, 20],
        ['payment', 10, 20],
        ['prepayment', 10, 20],
      ],
    ],
    [
      'is none where windows began before the cursor, the clock having been put back',
      [first(), closed(all(read(2, 5))), closed(all(read(5, 15)))],
      [],
    ],
    [
      'before everything, where the first load ended without reading',
      [failed(all(unread(null, 5), unread(null, null))), closed(all(read(10, 20), read(null, 9)))],
      [
        ['invoice', null, 10],
        ['row', null, 10],
        ['prepayment', null, 10],
      ],
    ],
  ])('%s', async (_name, windows, gaps) => {
    for (const window of windows) await play(db, installation, window);
    expect(await gapsIn()).toEqual(gaps);
  });

  test('shows in a cursor that was put forward by hand, unless a window is open that may read it', async () => {
    await play(db, installation, first());
    await setCursors(db, installation, { invoice: 10, prepayment: 10, row: 10, payment: 14 });
    expect(await gapsIn()).toEqual([['payment', 10, 14]]);
    await play(db, installation, { ...closed(all(unread(10, 12))), outcome: 'open' });
    await setCursors(db, installation, { invoice: 10, prepayment: 10, row: 10, payment: 14 });
    expect(await gapsIn()).toEqual([]);
  });

  test('of payments has the times of the windows around it', async () => {
    await play(db, installation, first());
    await play(db, installation, closed(all(read(10, 20), read(10, 12))));
    await play(db, installation, closed(all(read(20, 30), read(15, 18))));
    await play(db, installation, closed(all(read(30, 40), read(18, 18))));
    const { since, gaps } = await gapsOf(db, installation);
    expect(since).toEqual(new Date(10));
    expect(gaps).toEqual([{ stream: 'payment', from: 12, to: 15, since: new Date(20), until: new Date(30) }]);
  });

  test('is not reported before a window has stored what it read', async () => {
    expect(await gapsOf(db, installation)).toEqual({ since: null, gaps: [] });
  });
});

/** Random windows over source times 0 to 40, with cursors that move forward and clocks that are set back. */
const aWindow = fc.record({
  kind: fc.constantFrom('window', 'window', 'window', 'unopened', 'replay', 'backfill', 'retry'),
  outcome: fc.constantFrom('closed', 'closed', 'failed'),
  isRead: fc.record({ invoice: fc.boolean(), prepayment: fc.boolean(), row: fc.boolean(), payment: fc.boolean() }),
  moved: fc.record({
    ...{ invoice: fc.constantFrom(0, 0, 0, 2, -2), prepayment: fc.constant(0) },
    ...{ row: fc.constantFrom(0, 0, 3, -1), payment: fc.constantFrom(0, 0, 0, 1) },
  }),
  length: fc.integer({ min: 0, max: 6 }),
  at: fc.integer({ min: 1, max: 30 }),
});
type Step = typeof aWindow extends fc.Arbitrary<infer T> ? T : never;
const lives = fc.array(aWindow, { minLength: 1, maxLength: 14 });

interface Lived extends Played {
  id: number;
}

const streamsOf = (of: (stream: RecordKind) => Reading): Readings => ({
  ...{ invoice: of('invoice'), row: of('row'), payment: of('payment'), prepayment: of('prepayment') },
});

async function live(steps: Step[]): Promise<Lived[]> {
  const cursor: Record<RecordKind, number> = { invoice: 5, prepayment: 5, row: 5, payment: 5 };
  const lived: Lived[] = [];
  for (const { kind, outcome, isRead, moved, length, at } of steps) {
    if (kind === 'unopened') {
      await setCursors(db, installation, cursor);
      const streams = streamsOf((stream) => unread(cursor[stream], stream === 'payment' ? null : at));
      const id = await playUnopened(db, installation, 'window', new Date(at));
      lived.push({ kind: 'window', outcome: 'failed', streams, id });
      continue;
    }
    const readings = streamsOf((stream) => {
      if (kind !== 'window')
        return { from: kind === 'backfill' ? null : at, to: at + length, isRead: outcome === 'closed' };
      cursor[stream] = Math.max(0, cursor[stream] + moved[stream]);
      const from = cursor[stream];
      // A cursor that does not move says nothing about a failed window.
      const reads = outcome === 'closed' || (isRead[stream] && length > 0);
      if (reads) cursor[stream] = from + length;
      return { from, to: stream === 'payment' && !reads ? null : from + length, isRead: reads };
    });
    const played: Played = {
      kind: kind === 'retry' ? 'replay' : (kind as Played['kind']),
      outcome: outcome as Played['outcome'],
      streams: kind === 'retry' ? null : readings,
    };
    lived.push({ ...played, id: await play(db, installation, played) });
  }
  return lived;
}

/** The end of the grid of these windows, for intervals without an end. */
const never = 60;

/** The points of an interval on the grid. */
function points({ from, to }: Pick<Reading, 'from' | 'to'>): Set<number> {
  const start = from ?? 0;
  return new Set(Array.from({ length: Math.max(0, (to ?? never) - start) }, (_, i) => start + i));
}

/** The windows that cover each failed one, computed point by point without the product's code. */
function modelOf(windows: readonly Lived[]): Map<number, number[] | null> {
  const covered = new Map<number, number[] | null>();
  for (const [index, window] of windows.entries()) {
    if (window.outcome !== 'failed') continue;
    const left = recordKinds.map((stream) => {
      const reading = window.streams?.[stream];
      return reading && !reading.isRead ? points(reading) : new Set<number>();
    });
    const by: number[] = [];
    covered.set(window.id, null);
    for (const later of windows.slice(index + 1)) {
      let helped = false;
      for (const [n, stream] of recordKinds.entries()) {
        const reading = later.streams?.[stream];
        if (!reading?.isRead) continue;
        const isEndless = stream === 'payment' && later.kind !== 'replay';
        for (const point of points({ from: reading.from, to: isEndless ? null : reading.to }))
          if (left[n]!.delete(point)) helped = true;
      }
      const isDone = later.outcome === 'closed' && left.every((each) => each.size === 0);
      if (helped || isDone) by.push(later.id);
      if (!isDone) continue;
      covered.set(window.id, by);
      break;
    }
  }
  return covered;
}

test('coverage is as the model says, after any life of windows', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(lives, async (steps) => {
      installation += 1;
      const windows = await live(steps);
      const found = await recordedWindows(db, [installation], { failedOnly: true, limit: 100 });
      expect(new Map(found.toReversed().map(({ id, covered_by }) => [id, covered_by]))).toEqual(modelOf(windows));
    }),
    { numRuns: runs(80) },
  );
});

test('gaps are the points that no window has read, between the first window and the furthest cursor', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(lives, async (steps) => {
      installation += 1;
      const windows = (await live(steps)).filter(({ streams }) => streams !== null);
      const chain = windows.filter(({ kind }) => kind === 'window');
      const { gaps } = await gapsOf(db, installation);
      for (const stream of recordKinds) {
        const of = ({ streams }: Played) => streams![stream];
        const begin = chain.length === 0 ? 0 : of(chain[0]!).from!;
        const end = Math.max(0, ...chain.map((each) => (of(each).isRead ? of(each).to! : of(each).from!)));
        const missed = points(read(begin, chain.length === 0 ? 0 : Math.max(begin, end)));
        for (const each of windows) if (of(each).isRead) for (const point of points(of(each))) missed.delete(point);
        const found = gaps.filter((gap) => gap.stream === stream).flatMap((gap) => [...points(gap)]);
        expect(found.toSorted((a, b) => a - b)).toEqual([...missed]);
        expect(new Set(found).size).toBe(found.length);
      }
    }),
    { numRuns: runs(60) },
  );
});
