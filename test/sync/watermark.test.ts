import { describe, expect, test } from 'vitest';
import type { CursorValue } from '../../src/sync/cursors.ts';
import { changedFrom, cursorAfter, wasPutBack } from '../../src/sync/watermark.ts';

const minute = 60_000;
const hour = 60 * minute;
const overlapMs = 10 * minute;
const start = Date.parse('2026-05-04T08:00:00Z');

/** A reading this long after the start, by a source's clock with this difference. */
const read = (afterMs: number, aheadMs: number) => ({
  askedAt: new Date(start + afterMs),
  sourceTime: new Date(start + afterMs + aheadMs),
});
const moved = (before: CursorValue | null, afterMs: number, aheadMs: number) =>
  cursorAfter(before, read(afterMs, aheadMs), overlapMs);
const fromMs = (value: CursorValue, afterMs: number, aheadMs: number) =>
  (changedFrom(value, read(afterMs, aheadMs))?.getTime() ?? Number.NaN) - start;

describe('a watermark is the earlier of the source’s clock and the database’s', () => {
  test.each([
    ['both agree', 0, 0],
    ['the source’s runs ahead', 2 * hour, 0],
    ['the source’s runs behind', -2 * hour, -2 * hour],
  ])('%s', (_case, aheadMs, expected) => {
    expect(Date.parse(moved(null, 0, aheadMs).watermark ?? '') - start).toBe(expected);
  });

  test.each([2 * hour, -2 * hour])('a clock that is steadily %i ms ahead asks nothing again', (aheadMs) => {
    const value = moved(null, 0, aheadMs);
    expect(wasPutBack(value, read(5 * minute, aheadMs - 3_000))).toBe(false);
    expect(fromMs(value, 5 * minute, aheadMs)).toBe(Math.min(0, aheadMs));
  });
});

describe('after the clock was set back, the window reads from the earliest possible timestamp', () => {
  test('from right to behind', () => {
    expect(fromMs(moved(null, 0, 0), 5 * minute, -2 * hour)).toBe(-2 * hour);
  });

  test('from ahead to right: from the last agreed watermark', () => {
    const ahead = moved(moved(null, 0, 0), 5 * minute, 2 * hour);
    expect(fromMs(ahead, 10 * minute, 0)).toBe(0);
  });

  test('once: what was asked again is agreed from then on', () => {
    const behind = moved(moved(null, 0, 0), 5 * minute, -2 * hour);
    expect(behind.agreed).toBe(behind.watermark);
    expect(fromMs(behind, 10 * minute, -2 * hour)).toBe(5 * minute - 2 * hour);
  });

  test('also where the window that saw it failed and the clock is right again', () => {
    const value = moved(null, 0, 0);
    const from = changedFrom(value, read(5 * minute, -2 * hour));
    const noted = { ...value, askFrom: from?.toISOString() ?? '' };
    expect(fromMs(noted, 10 * minute, 0)).toBe(-2 * hour);
    expect(moved(noted, 10 * minute, 0)).not.toHaveProperty('askFrom');
  });

  test('by the watermark of a version that stored no clocks: a day back', () => {
    const old = { watermark: new Date(start + 2 * hour).toISOString() };
    expect(fromMs(old, 5 * minute, 0)).toBe(5 * minute - 24 * hour);
    expect(fromMs(old, 3 * hour, 0)).toBe(2 * hour);
  });
});

test('after a clock was put forward, transactions stamped before that still commit within the overlap', () => {
  const forward = moved(moved(null, 0, -2 * hour), 5 * minute, 0);
  expect(fromMs(forward, 10 * minute, 0)).toBe(5 * minute - 2 * hour);
  const later = moved(forward, 16 * minute, 0);
  expect(fromMs(later, 20 * minute, 0)).toBe(16 * minute);
});
