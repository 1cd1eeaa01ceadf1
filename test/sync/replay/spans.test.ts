import { describe, expect, test } from 'vitest';
import { mergeSpans, type NotedWindow, type Span, spanOf } from '../../../src/sync/replay/spans.ts';
import { recordKinds } from '../../../src/terms.ts';

/** Times in ms. Windows of ten minutes begin at 0, with the payments of ten ids each. */
const minute = 60_000;
const at = (minutes: number) => new Date(minutes * minute);
const span = (windows: number[], from: number, to: number, payment: [number | null, number | null]): Span => {
  const changes = { from: from * minute, to: to * minute };
  return {
    ...{ windows, invoice: changes, prepayment: changes, row: changes },
    payment: { from: payment[0], to: payment[1] },
  };
};
const window = (id: number, from: number | null, payments: [number | null, number | null]): NotedWindow => {
  const changes = { from: from && from * minute, to: 10 * minute + (from ?? 0) * minute };
  return {
    ...{ id, installation: 1, kind: 'window', outcome: 'closed', openedAt: at((from ?? 0) + 10), own: changes },
    spans: { invoice: changes, prepayment: changes, row: changes, payment: { from: payments[0], to: payments[1] } },
    unread: [],
  };
};

describe('what a replay of a window asks', () => {
  const failed: NotedWindow = { ...window(2, 10, [20, null]), outcome: 'failed', unread: [...recordKinds] };
  const cases: [string, NotedWindow, number | null, ReturnType<typeof spanOf>][] = [
    ['of a closed one: from cursor to cursor', window(2, 10, [10, 20]), null, span([2], 10, 20, [10, 20])],
    ['of a failed one: its payments up to the present', failed, null, span([2], 10, 20, [20, null])],
    ['of a failed one: its payments up to where they had settled', failed, 31, span([2], 10, 20, [20, 31])],
    ['of a failed one that had read its payments', { ...failed, unread: ['row'] }, null, span([2], 10, 20, [20, 20])],
    ['of one that noted nothing', { ...failed, spans: null, unread: [] }, null, { window: 2, reason: 'noted nothing' }],
    ['of the first load', window(1, null, [null, null]), null, { window: 1, reason: 'loads everything' }],
    ['where no payment had settled: none of them', window(1, 10, [7, null]), null, span([1], 10, 20, [7, 7])],
    [
      'of a replay without an end: payments up to the present',
      { ...window(1, 10, [7, null]), kind: 'replay' },
      null,
      span([1], 10, 20, [7, null]),
    ],
  ];
  test.each(cases)('%s', (_name, of, settled, expected) => {
    expect(spanOf(of, settled)).toEqual(expected);
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
