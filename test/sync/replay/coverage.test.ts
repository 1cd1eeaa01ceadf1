import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { coveredBy, GapFinder, type ReadWindow } from '../../../src/sync/replay/coverage.ts';
import { type StreamReading, type StreamReadings, without } from '../../../src/sync/replay/intervals.ts';
import { type RecordKind, recordKinds } from '../../../src/terms.ts';

const read = (from: number | null, to: number | null): StreamReading => ({ from, to, isRead: true });
const unread = (from: number | null, to: number | null): StreamReading => ({ from, to, isRead: false });
const all = (reading: StreamReading, payment = reading): StreamReadings => ({
  ...{ invoice: reading, prepayment: reading, row: reading, payment },
});

let id = 0;
function made(given: Partial<ReadWindow>): ReadWindow {
  id += 1;
  return { id, kind: 'window', outcome: 'closed', streams: null, from: null, to: null, ...given };
}

test.each([
  ['apart below', [0, 5], [5, 9], [[0, 5]]],
  ['apart above', [5, 9], [0, 5], [[5, 9]]],
  ['its beginning', [0, 9], [0, 4], [[4, 9]]],
  ['its end', [0, 9], [4, 20], [[0, 4]]],
  [
    'its middle',
    [0, 9],
    [3, 5],
    [
      [0, 3],
      [5, 9],
    ],
  ],
  ['all of it', [3, 5], [0, 9], []],
  ['from the beginning', [3, 9], [null, 5], [[5, 9]]],
  [
    'of all since the beginning',
    [null, 9],
    [5, 7],
    [
      [null, 5],
      [7, 9],
    ],
  ],
  ['of all since the beginning, its beginning', [null, 9], [null, 7], [[7, 9]]],
] as const)('what is left without %s', (_name, [from, to], [readFrom, readTo], left) => {
  expect(without([{ from, to }], { from: readFrom, to: readTo }).map((each) => [each.from, each.to])).toEqual(left);
});

describe('a failed window is covered', () => {
  const failed = () => made({ outcome: 'failed', streams: all(unread(10, 20), unread(5, null)) });
  test.each<[string, ReadWindow, ReadWindow[], number[] | null]>([
    ['by nothing yet', failed(), [], null],
    [
      'by the next window, from the same cursors',
      failed(),
      [made({ id: 901, streams: all(read(10, 30), read(5, 7)) })],
      [901],
    ],
    ['not by one that began later', failed(), [made({ streams: all(read(12, 30), read(5, 7)) })], null],
    [
      'not where payments were asked from a later id',
      failed(),
      [made({ streams: all(read(10, 30), read(6, 9)) })],
      null,
    ],
    [
      'by two windows, the first of which failed among its rows',
      failed(),
      [
        made({ id: 902, outcome: 'failed', streams: { ...all(read(10, 25), read(5, 6)), row: unread(10, 25) } }),
        made({ id: 903, streams: { ...all(read(25, 30), read(6, 7)), row: read(10, 30) } }),
      ],
      [902, 903],
    ],
    [
      'only once a window has closed, though all of it was read',
      failed(),
      [made({ outcome: 'failed', streams: all(read(10, 25), read(5, 6)) })],
      null,
    ],
    [
      'by a replay whose payments have no end',
      failed(),
      [made({ id: 904, kind: 'replay', streams: all(read(10, 20), read(5, null)) })],
      [904],
    ],
    [
      'not by one that stopped at a payment',
      failed(),
      [made({ kind: 'replay', streams: all(read(10, 20), read(5, 6)) })],
      null,
    ],
    [
      'not by a replay of the mirror',
      failed(),
      [made({ kind: 'replay', streams: all(unread(10, 20), unread(5, null)) })],
      null,
    ],
    [
      'by a backfill',
      failed(),
      [made({ id: 905, kind: 'backfill', streams: all(read(null, 40), read(null, 3)) })],
      [905],
    ],
    [
      'not by a backfill of invoices from a date on',
      failed(),
      [made({ kind: 'backfill', streams: { ...all(read(null, 40)), invoice: unread(null, 40) } })],
      null,
    ],
    ['not by a window still open', failed(), [made({ outcome: 'open', streams: all(read(10, 30), read(5, 7)) })], null],
    [
      'that had read everything, once the next one has posted it',
      made({ outcome: 'failed', streams: all(read(10, 20)) }),
      [made({ id: 906, streams: all(read(20, 30)) })],
      [906],
    ],
    [
      'that never opened, with none before it, by the next that closes',
      made({ outcome: 'failed' }),
      [made({ outcome: 'failed' }), made({ id: 907, streams: all(read(50, 60)) })],
      [907],
    ],
  ])('%s', (_name, window, later, by) => {
    expect(coveredBy(window, later)).toEqual(by);
  });
});

describe('a gap', () => {
  const gapsOf = (...windows: ReadWindow[]) => {
    const finder = new GapFinder();
    for (const window of windows) finder.add(window);
    return finder.gaps().map(({ stream, from, to }) => [stream, from, to]);
  };
  const first = () => made({ streams: all(read(null, 10), read(null, 10)) });
  test.each<[string, ReadWindow[], unknown[]]>([
    ['is none where each begins where the last ended', [first(), made({ streams: all(read(10, 20)) })], []],
    [
      'is none where a failed window moved no cursor',
      [first(), made({ outcome: 'failed', streams: all(unread(10, 20)) }), made({ streams: all(read(10, 30)) })],
      [],
    ],
    [
      'is what a cursor has skipped',
      [first(), made({ streams: { ...all(read(10, 20)), row: read(13, 20) } })],
      [['row', 10, 13]],
    ],
    [
      'is seen though the window that shows it failed',
      [first(), made({ outcome: 'failed', streams: { ...all(unread(10, 20)), payment: unread(12, null) } })],
      [['payment', 10, 12]],
    ],
    [
      'is none where a replay has read it, before or after',
      [
        first(),
        made({ kind: 'replay', streams: all(read(10, 12)) }),
        made({ streams: all(read(15, 20)) }),
        made({ kind: 'replay', streams: all(read(11, 15)) }),
      ],
      [],
    ],
    [
      'is what a replay has left of it',
      [
        first(),
        made({ streams: all(read(20, 30)) }),
        made({ kind: 'replay', streams: { ...all(read(10, 20)), invoice: read(12, 15) } }),
      ],
      [
        ['invoice', 10, 12],
        ['invoice', 15, 20],
      ],
    ],
    [
      'is none where windows began before the cursor, the clock having been put back',
      [first(), made({ streams: all(read(2, 5)) }), made({ streams: all(read(5, 15)) })],
      [],
    ],
    [
      'before everything, where the first load ended without reading',
      [
        made({ outcome: 'failed', streams: all(unread(null, 5), unread(null, null)) }),
        made({ streams: all(read(10, 20), read(null, 9)) }),
      ],
      [
        ['invoice', null, 10],
        ['row', null, 10],
        ['prepayment', null, 10],
      ],
    ],
  ])('%s', (_name, windows, gaps) => {
    expect(gapsOf(...windows)).toEqual(gaps);
  });

  test('shows in a cursor that was put forward by hand', () => {
    const finder = new GapFinder();
    finder.add(first());
    for (const stream of recordKinds) finder.cursor(stream, stream === 'payment' ? 14 : 10);
    expect(finder.gaps()).toMatchObject([{ stream: 'payment', from: 10, to: 14 }]);
  });
});

/** Lives of windows over source times 0 to 40, with cursors that are put forward and clocks that are put back. */
const aWindow = fc.record({
  kind: fc.constantFrom('window', 'window', 'window', 'window', 'replay', 'backfill'),
  outcome: fc.constantFrom('closed', 'closed', 'failed'),
  isRead: fc.record({ invoice: fc.boolean(), prepayment: fc.boolean(), row: fc.boolean(), payment: fc.boolean() }),
  moved: fc.record({
    ...{ invoice: fc.constantFrom(0, 0, 0, 2, -2), prepayment: fc.constant(0) },
    ...{ row: fc.constantFrom(0, 0, 3, -1), payment: fc.constantFrom(0, 0, 0, 1) },
  }),
  length: fc.integer({ min: 0, max: 6 }),
  at: fc.integer({ min: 1, max: 30 }),
});
const lives = fc.array(aWindow, { minLength: 1, maxLength: 14 });

function live(steps: (typeof aWindow extends fc.Arbitrary<infer T> ? T : never)[]): ReadWindow[] {
  const cursor: Record<RecordKind, number> = { invoice: 5, prepayment: 5, row: 5, payment: 5 };
  return steps.map(({ kind, outcome, isRead, moved, length, at }, index) => {
    const streams = Object.fromEntries(
      recordKinds.map((stream) => {
        if (kind !== 'window') {
          const from = kind === 'backfill' ? null : at;
          return [stream, { from, to: at + length, isRead: outcome === 'closed' }];
        }
        cursor[stream] = Math.max(0, cursor[stream] + moved[stream]);
        const from = cursor[stream];
        const reads = outcome === 'closed' || isRead[stream];
        if (reads) cursor[stream] = from + length;
        return [stream, { from, to: from + length, isRead: reads }];
      }),
    ) as unknown as StreamReadings;
    return made({
      id: index + 1,
      kind: kind as ReadWindow['kind'],
      outcome: outcome as ReadWindow['outcome'],
      streams,
    });
  });
}

/** The points of an interval, on the grid on which these windows live. */
function points({ from, to }: StreamReading): Set<number> {
  const start = from ?? 0;
  return new Set(Array.from({ length: Math.max(0, (to ?? 0) - start) }, (_, i) => start + i));
}

test('gaps are the points that nobody has read, between the first window and the furthest cursor', () => {
  fc.assert(
    fc.property(lives, (steps) => {
      const windows = live(steps);
      const finder = new GapFinder();
      for (const window of windows) finder.add(window);
      const chain = windows.filter(({ kind }) => kind === 'window');
      for (const stream of recordKinds) {
        const of = ({ streams }: ReadWindow) => streams![stream];
        const begin = chain.length === 0 ? 0 : of(chain[0]!).from!;
        const end = Math.max(0, ...chain.map((each) => (of(each).isRead ? of(each).to! : of(each).from!)));
        const anybody = windows.filter((each) => of(each).isRead).map((each) => points(of(each)));
        const missed = points(read(begin, Math.max(begin, end)));
        for (const point of missed) if (anybody.some((each) => each.has(point))) missed.delete(point);
        const found = finder
          .gaps()
          .filter((gap) => gap.stream === stream)
          .flatMap(({ from, to }) => [...points(read(from, to))]);
        expect(found.toSorted((a, b) => a - b)).toEqual([...missed]);
        expect(new Set(found).size).toBe(found.length);
      }
    }),
    { numRuns: 500 },
  );
});

test('a failed window is covered by the first that closes once every point it left unread was read after it', () => {
  fc.assert(
    fc.property(lives, (steps) => {
      const windows = live(steps);
      for (const [index, failed] of windows.entries()) {
        if (failed.outcome !== 'failed') continue;
        const unreadPoints = new Map<RecordKind, Set<number>>(
          (['invoice', 'prepayment', 'row'] as const).map((stream) => {
            const reading = failed.streams![stream];
            return [stream, reading.isRead ? new Set<number>() : points(reading)];
          }),
        );
        const { from: above, isRead, to: through } = failed.streams!.payment;
        let needsPayments = !isRead;
        let expected: number | null = null;
        for (const later of windows.slice(index + 1)) {
          for (const [stream, left] of unreadPoints) {
            const reading = later.streams![stream];
            if (reading.isRead) for (const point of points(reading)) left.delete(point);
          }
          const payment = later.streams!.payment;
          const begins = payment.from === null || payment.from <= above!;
          const ends = later.kind !== 'replay' || payment.to! >= through!;
          if (payment.isRead && begins && ends) needsPayments = false;
          const isDone = !needsPayments && [...unreadPoints.values()].every((left) => left.size === 0);
          if (isDone && later.outcome === 'closed') {
            expected = later.id;
            break;
          }
        }
        expect(coveredBy(failed, windows.slice(index + 1))?.at(-1) ?? null).toBe(expected);
      }
    }),
    { numRuns: 500 },
  );
});
