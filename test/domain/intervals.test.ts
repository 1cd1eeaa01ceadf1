import { describe, expect, test } from 'vitest';
import { intervalSeconds, lateAfterSeconds, type Schedule, spreadShare } from '../../src/domain/intervals.ts';

const timezone = 'Europe/Helsinki';
const adaptive: Schedule = {
  everySeconds: 300,
  idle: { everySeconds: 900, afterWindows: 6 },
  night: { fromMinute: 22 * 60, toMinute: 6 * 60, everySeconds: 1800 },
};
const lunch: Schedule = { everySeconds: 60, night: { fromMinute: 720, toMinute: 780, everySeconds: 600 } };

// Helsinki is two hours ahead of UTC in January, and three in July.
test.each<[string, Schedule, string, number, number]>([
  ['by day, busy', adaptive, '2026-01-15T12:00:00Z', 0, 300],
  ['by day, five windows found nothing', adaptive, '2026-01-15T12:00:00Z', 5, 300],
  ['by day, six windows found nothing', adaptive, '2026-01-15T12:00:00Z', 6, 900],
  ['a minute before the night', adaptive, '2026-01-15T19:59:59Z', 0, 300],
  ['the night begins', adaptive, '2026-01-15T20:00:00Z', 0, 1800],
  ['the night is longer than idle', adaptive, '2026-01-15T23:00:00Z', 50, 1800],
  ['after midnight', adaptive, '2026-01-15T23:30:00Z', 0, 1800],
  ['the night ends', adaptive, '2026-01-16T04:00:00Z', 0, 300],
  ['the night of the summer begins an hour earlier in UTC', adaptive, '2026-07-15T19:00:00Z', 0, 1800],
  ['a "night" within a day', lunch, '2026-01-15T10:30:00Z', 0, 600],
  ['before it', lunch, '2026-01-15T09:59:00Z', 0, 60],
  ['after it', lunch, '2026-01-15T11:00:00Z', 0, 60],
  ['nothing but an interval', { everySeconds: 300 }, '2026-01-15T23:30:00Z', 99, 300],
])('%s', (_case, schedule, at, idleWindows, expected) => {
  expect(intervalSeconds(schedule, { timezone, at: new Date(at), idleWindows })).toBe(expected);
});

test('late is more than two intervals behind; in the morning the interval of the night still counts', () => {
  const at = (time: string) => ({ timezone, at: new Date(time), idleWindows: 0 });
  expect(lateAfterSeconds(adaptive, at('2026-01-15T12:00:00Z'), new Date('2026-01-15T11:55:00Z'))).toBe(630);
  expect(lateAfterSeconds(adaptive, at('2026-01-16T04:01:00Z'), new Date('2026-01-16T03:40:00Z'))).toBe(3630);
  expect(lateAfterSeconds({ everySeconds: 2 }, at('2026-01-16T04:01:00Z'), null)).toBe(34);
});

describe('the spread over an interval', () => {
  const shares = (of: number, turn = 0) => Array.from({ length: of }, (_, rank) => spreadShare(rank, of, turn));

  test('is even, wherever it begins', () => {
    for (const turn of [0, 0.37, 0.999]) {
      const sorted = shares(300, turn).sort((a, b) => a - b);
      for (const [i, share] of sorted.entries()) {
        const before = i === 0 ? sorted.at(-1)! - 1 : sorted[i - 1]!;
        expect(share - before).toBeCloseTo(1 / 300, 9);
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThan(1);
      }
    }
  });

  test('an installation more moves the others by less than a place', () => {
    const [before, after] = [shares(300), shares(301)];
    for (const [rank, share] of before.entries()) expect(Math.abs(after[rank]! - share)).toBeLessThan(1 / 300);
  });
});
