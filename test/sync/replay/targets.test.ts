import { describe, expect, test } from 'vitest';
import type { StreamReading, StreamReadings } from '../../../src/sync/replay/intervals.ts';
import { mergeSpans, type Span, spanOf, spanOfTimes } from '../../../src/sync/replay/targets.ts';
import type { NotedWindow } from '../../../src/sync/replay/window-streams.ts';

/** Times in ms; windows of ten minutes beginning at 0, with the payments of ten ids each. */
const minute = 60_000;
const overlapMs = 10 * minute;
const at = (minutes: number) => new Date(minutes * minute);
const read = (from: number | null, to: number | null): StreamReading => ({ from, to, isRead: true });
const unread = (from: number | null, to: number | null): StreamReading => ({ from, to, isRead: false });
const streams = (changes: StreamReading, payment: StreamReading): StreamReadings => ({
  ...{ invoice: changes, prepayment: changes, row: changes, payment },
});

function closed(id: number, from: number, payments: [number, number | null]): NotedWindow {
  return {
    ...{ id, installation: 1, kind: 'window', trigger: 'schedule', outcome: 'closed' },
    ...{ from: at(from), to: at(from + 10), openedAt: at(from + 10), closedAt: at(from + 11) },
    streams: streams(read(from * minute, (from + 10) * minute), read(...payments)),
  };
}
function failed(id: number, from: number, over: Partial<NotedWindow> = {}): NotedWindow {
  const window = closed(id, from, [id * 10, null]);
  const wanted = unread(from * minute, (from + 10) * minute);
  return { ...window, outcome: 'failed', streams: streams(wanted, unread(id * 10, null)), ...over };
}
const span = (windows: number[], from: number, to: number, payment: [number | null, number | null]): Span => {
  const changes = { from: from * minute, to: to * minute };
  return {
    ...{ windows, invoice: changes, prepayment: changes, row: changes },
    payment: { from: payment[0], to: payment[1] },
  };
};
const chain = [closed(1, 0, [0, 10]), closed(2, 10, [10, 20]), closed(3, 20, [20, 30]), closed(4, 30, [30, 40])];

describe('what a replay of a window asks', () => {
  const cases: [string, NotedWindow, NotedWindow[], ReturnType<typeof spanOf>][] = [
    ['of a closed one: from cursor to cursor', chain[1]!, chain, span([2], 10, 20, [10, 20])],
    ['of a failed one: its payments up to the present', failed(2, 10), [chain[0]!], span([2], 10, 20, [20, null])],
    [
      'of a failed one that others have read since: payments up to where they had settled',
      failed(2, 10),
      [chain[0]!, closed(3, 10, [20, 20]), closed(4, 20, [20, 25]), closed(5, 40, [25, 31])],
      span([2], 10, 20, [20, 31]),
    ],
    [
      'of one that got no answer: up to its opening',
      failed(2, 10, { to: null, openedAt: at(17), streams: streams(unread(10 * minute, null), unread(20, null)) }),
      [],
      span([2], 10, 17, [20, null]),
    ],
    [
      'of one that never opened: from where the one before stood',
      failed(3, 20, { from: null, to: null, openedAt: at(25), streams: null }),
      chain.slice(0, 2),
      span([3], 20, 25, [20, null]),
    ],
    [
      'of one that never opened, with none before it',
      failed(1, 0, { streams: null }),
      [],
      { window: 1, reason: 'never opened' },
    ],
    [
      'of the first load',
      failed(1, 0, { streams: streams(unread(null, 9), unread(null, null)) }),
      [],
      { window: 1, reason: 'loads everything' },
    ],
    [
      'where no payment had settled: none of them',
      { ...chain[0]!, streams: streams(read(0, 9 * minute), read(7, null)) },
      [],
      { ...span([1], 0, 9, [7, 7]) },
    ],
  ];
  test.each(cases)('%s', (_name, window, neighbours, expected) => {
    expect(spanOf(window, neighbours, overlapMs)).toEqual(expected);
  });
});

describe('times given by hand', () => {
  const mirrored = { from: 500, to: 600 };
  test.each<[string, [number, number], NotedWindow[], Span]>([
    ['are widened to the windows that they meet', [12, 21], chain, span([2, 3], 10, 30, [10, 30])],
    ['on the edges of a window are that window', [10, 20], chain, span([2], 10, 20, [10, 20])],
    [
      'take failed windows with them',
      [15, 35],
      [...chain.slice(0, 2), failed(3, 20)],
      span([2, 3], 10, 35, [10, null]),
    ],
    [
      'before the first window are themselves, with the payments of the mirror',
      [-90, -60],
      [],
      span([], -90, -60, [500, 600]),
    ],
    [
      'in a hole between windows are themselves, with the payments between the cursors',
      [12, 18],
      [chain[0]!, closed(3, 20, [20, 30]), closed(4, 30, [30, 40]), closed(5, 50, [40, 50])],
      // The first of them to close did at 31; where its payments had settled shows who opened after 41.
      span([], 12, 18, [0, 50]),
    ],
  ])('%s', (_name, [from, to], windows, expected) => {
    expect(spanOfTimes(at(from), at(to), windows, overlapMs, mirrored)).toEqual(expected);
  });
});

describe('several windows', () => {
  test.each<[string, Span[], Span[]]>([
    [
      'that follow one another are one',
      [span([1], 0, 10, [0, 5]), span([2], 10, 20, [5, 9])],
      [span([1, 2], 0, 20, [0, 9])],
    ],
    [
      'of an outage, all from the same cursors, are one',
      [span([3], 0, 30, [0, null]), span([1], 0, 10, [0, null]), span([2], 0, 20, [0, null])],
      [span([1, 2, 3], 0, 30, [0, null])],
    ],
    [
      'apart stay apart, the earlier one first',
      [span([9], 50, 60, [40, 50]), span([1], 0, 10, [0, 5])],
      [span([1], 0, 10, [0, 5]), span([9], 50, 60, [40, 50])],
    ],
    [
      'that meet in their times alone stay apart',
      [span([1], 0, 10, [0, 5]), span([2], 10, 20, [7, 9])],
      [span([1], 0, 10, [0, 5]), span([2], 10, 20, [7, 9])],
    ],
  ])('%s', (_name, spans, merged) => {
    expect(mergeSpans(spans)).toEqual(merged);
  });
});
