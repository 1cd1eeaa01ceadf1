import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { estimateText } from '../../src/cli/run-windows.ts';
import { about, between } from '../../src/domain/durations.ts';
import { estimateList, estimateLoad, type ListLoad, ListProgress, type Pace } from '../../src/sync/load-estimate.ts';
import { pageSizeFor } from '../../src/sync/walk/page-size.ts';

const pace = { maxPageSize: 1000, windowSeconds: 60, latencySeconds: 1 };

describe('a list by its rate budget, worked by hand', () => {
  test.each([
    // An empty list takes no time.
    { what: 'an empty list', records: 0, limit: 60, busy: [], requests: 0, weight: 0, seconds: 0 },
    // The list fits into one page of the default size.
    { what: 'one page', records: 50, limit: 60, busy: [], requests: 1, weight: 1, seconds: 1 },
    // The first page has 50 records at weight 1. A page of 1,000 (weight 20) and a page of 150 (weight 3) follow: 24 of 60.
    { what: 'room for all of it', records: 1200, limit: 60, busy: [], requests: 3, weight: 24, seconds: 3 },
    // 1 + 20 + 20 = 41 by second 3; the next 20 would make 61. The first slot is free at 1 + 60 = 61: requested then,
    // answered at 62.
    { what: 'one page too many', records: 3050, limit: 60, busy: [], requests: 4, weight: 61, seconds: 62 },
    // The same at 62. The second page was answered at 2, so its slot is free at 62 and the next page goes at once: 63.
    // The third likewise: 64. Now 60 are in use until 122, when the fourth slot is free: 123.
    { what: 'two windows', records: 6050, limit: 60, busy: [], requests: 7, weight: 121, seconds: 123 },
    // 55 of 60 are in use for another 30 s: 1 fits at once (1 s), 20 only at 30, then 31.
    {
      what: 'a budget in use',
      records: 1050,
      limit: 60,
      busy: [{ weight: 55, seconds: 30 }],
      requests: 2,
      weight: 21,
      seconds: 31,
    },
    // After a 429, half of the limit is less than a page: 1 at once; a page of 20 when nothing else is under way, at
    // 61: 62.
    { what: 'a page over the limit', records: 1050, limit: 15, busy: [], requests: 2, weight: 21, seconds: 62 },
  ])('$what', ({ records, limit, busy, requests, weight, seconds }) => {
    expect(estimateList({ action: 'a.list', defaultPageSize: 50, records, limit, busy }, pace)).toEqual({
      action: 'a.list',
      requests,
      weight,
      seconds,
    });
  });

  test('in the long run a window and an answer give the limit: 20,000 a 61 s, of pages of 20', () => {
    // 300,000 rows: 300 pages of 20, five at a time, every 61 s: 60 times.
    const { seconds } = estimateList(
      { action: 'invoicerow.list', defaultPageSize: 50, records: 300_000, limit: 100, busy: [] },
      pace,
    );
    expect(seconds).toBeGreaterThan(59 * 61);
    expect(seconds).toBeLessThan(61 * 61);
  });
});

test('the slowest list is the limit', () => {
  const lists = [
    { action: 'invoice.list', defaultPageSize: 50, records: 100_000, limit: 60, busy: [] },
    { action: 'invoicerow.list', defaultPageSize: 50, records: 300_000, limit: 100, busy: [] },
    { action: 'invoicepayment.list', defaultPageSize: 50, records: 80_000, limit: 100, busy: [] },
    { action: 'unallocatedpayment.list', defaultPageSize: 50, records: 20_000, limit: 200, busy: [] },
  ];
  const estimate = estimateLoad(lists, pace);
  expect(estimateText(estimate)).toBe('about 61 minutes: invoicerow is the limit');
  expect(estimate.lists.map(({ weight }) => weight)).toEqual([2000, 6000, 1600, 400]);
});

test.each([
  [0, 'about 1 second'],
  [1.4, 'about 1 second'],
  [89, 'about 89 seconds'],
  [91, 'about 2 minutes'],
  [61 * 60 + 20, 'about 61 minutes'],
  [119 * 60, 'about 119 minutes'],
  [120 * 60, 'about 2 hours'],
  [304 * 60, 'about 5 hours'],
  [318 * 60, 'about 5 hours 20 minutes'],
])('%d s are %s', (seconds, text) => {
  expect(about(seconds)).toBe(text);
});

test.each([
  [0, 0, 'about 1 second'],
  [40, 61, 'about 40 to 61 seconds'],
  [80, 200, 'about 80 seconds to 3 minutes'],
  [40 * 60, 61 * 60, 'about 40 to 61 minutes'],
  [110 * 60, 140 * 60, 'about 110 minutes to 2 hours 20 minutes'],
  [120 * 60, 180 * 60, 'about 2 to 3 hours'],
  [120 * 60, 190 * 60, 'about 2 hours to 3 hours 10 minutes'],
])('%d to %d s are %s', (least, most, text) => {
  expect(between(least, most)).toBe(text);
});

test('what is left is reckoned from the pages of the last window', () => {
  const progress = new ListProgress(
    { action: 'invoice.list', defaultPageSize: 50, records: 3050, limit: 60, busy: [] },
    pace,
    0,
  );
  progress.note(50, 1_000);
  progress.note(1_050, 2_000);
  progress.note(2_050, 3_000);
  // A page of weight 1 is requested first, as if the walk began again: 42 of 60 in use; 950 more need 19, at 61 s and
  // 62 s.
  expect(progress.secondsLeft(1_000, 3_000)).toBe(59);
  // Two windows later, the whole budget is free again.
  expect(progress.secondsLeft(1_000, 130_000)).toBe(2);
});

describe('cycles added at once', () => {
  test('are what page after page comes to', () => {
    const load = fc.record({
      action: fc.constant('a.list'),
      defaultPageSize: fc.constantFrom(7, 50, 1000),
      records: fc.nat({ max: 400_000 }),
      limit: fc.integer({ min: 1, max: 200 }),
      busy: fc
        .array(fc.record({ weight: fc.integer({ min: 1, max: 20 }), seconds: fc.integer({ min: 0, max: 60 }) }))
        .map((busy) => busy.sort((a, b) => a.seconds - b.seconds)),
    });
    const anyPace = fc.record({
      maxPageSize: fc.constantFrom(200, 1000),
      windowSeconds: fc.constantFrom(1, 60),
      latencySeconds: fc.constantFrom(0, 0.125, 1, 9),
    });
    fc.assert(
      fc.property(load, anyPace, (list, itsPace) => {
        const estimate = estimateList(list, itsPace);
        const { seconds, ...rest } = pageAfterPage(list, itsPace);
        expect(estimate).toEqual({ ...rest, seconds: expect.closeTo(seconds, 6) });
      }),
    );
  });

  test('a source that counts 10^13 records, or more than numbers tell apart, is reckoned at once', () => {
    for (const records of [1e13, Number.MAX_SAFE_INTEGER]) {
      const began = performance.now();
      const { requests, seconds } = estimateList(
        { action: 'a.list', defaultPageSize: 50, records, limit: 60, busy: [] },
        pace,
      );
      expect(performance.now() - began).toBeLessThan(200);
      expect(requests / (records / 1000)).toBeCloseTo(1, 3);
      expect(seconds / ((records / 3000) * 61)).toBeCloseTo(1, 3);
    }
  });
});

/** The peer: the same estimate, computed one page at a time. */
function pageAfterPage(list: ListLoad, { maxPageSize, windowSeconds, latencySeconds }: Pace) {
  const { defaultPageSize } = list;
  const busy = list.busy.map(({ weight, seconds }) => ({ weight, freeAt: seconds }));
  const done = { action: list.action, weight: 0, requests: 0, seconds: 0 };
  for (let records = list.records; records > 0; ) {
    const size = done.requests === 0 ? defaultPageSize : pageSizeFor(records, defaultPageSize, maxPageSize);
    const weight = Math.ceil(size / defaultPageSize);
    const used = () => busy.reduce((sum, each) => sum + each.weight, 0);
    while (busy[0] && (busy[0].freeAt <= done.seconds || used() + weight > list.limit)) {
      done.seconds = Math.max(done.seconds, busy[0].freeAt);
      busy.shift();
    }
    done.seconds += latencySeconds;
    busy.push({ weight, freeAt: done.seconds + windowSeconds });
    done.weight += weight;
    done.requests += 1;
    records -= size;
  }
  return done;
}
