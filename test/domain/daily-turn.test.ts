// Expected times were worked out by hand from the zones' rules; Intl gives the time of day.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { latestTurn, placeByHash, turnAfter } from '../../src/domain/daily-turn.ts';
import { runs } from '../support/runs.ts';

const night = { fromMinute: 60, toMinute: 300 };
const at = (text: string) => new Date(text);

describe('the newest turn that is not in the future', () => {
  test.each([
    [
      'before it, yesterday’s',
      night,
      'Europe/Helsinki',
      0.5,
      '2026-02-10T00:59:00Z',
      '2026-02-09',
      '2026-02-09T01:00Z',
    ],
    ['at it', night, 'Europe/Helsinki', 0.5, '2026-02-10T01:00:00Z', '2026-02-10', '2026-02-10T01:00Z'],
    ['a whole day later', night, 'Europe/Helsinki', 0.5, '2026-02-11T00:59:59Z', '2026-02-10', '2026-02-10T01:00Z'],
    // From 22:00 to 02:00, three quarters have passed at 01:00 of the next day.
    ['over midnight', [22, 2], 'UTC', 0.75, '2026-02-11T01:00:00Z', '2026-02-10', '2026-02-11T01:00Z'],
    ['over midnight, before it', [22, 2], 'UTC', 0.75, '2026-02-11T00:59:00Z', '2026-02-09', '2026-02-10T01:00Z'],
    ['over midnight, its first half', [22, 2], 'UTC', 0.25, '2026-02-10T23:30:00Z', '2026-02-10', '2026-02-10T23:00Z'],
    // In Helsinki, clocks go from 03:00 to 04:00 on 2026-03-29, so the span has three hours, from 23:00 to 02:00 UTC.
    ['a night of 23 hours', night, 'Europe/Helsinki', 0.5, '2026-03-29T12:00:00Z', '2026-03-29', '2026-03-29T00:30Z'],
    // Clocks go back from 04:00 to 03:00 on 2026-10-25, so the span has five hours, from 22:00 to 03:00 UTC.
    ['a night of 25 hours', night, 'Europe/Helsinki', 0.5, '2026-10-25T12:00:00Z', '2026-10-25', '2026-10-25T00:30Z'],
    // The time from 03:10 to 03:50 does not exist on that day.
    ['a span that is skipped', [3, 4], 'Europe/Helsinki', 0.9, '2026-03-29T12:00Z', '2026-03-29', '2026-03-29T01:00Z'],
  ])('%s', (_name, span, timezone, share, now, day, expected) => {
    const [from, to] = Array.isArray(span) ? span.map((hour) => hour! * 60) : [span.fromMinute, span.toMinute];
    const place = { span: { fromMinute: from!, toMinute: to! }, timezone, share };
    expect(latestTurn(place, at(now))).toEqual({ day, at: at(expected) });
  });
});

const clocks = new Map<string, Intl.DateTimeFormat>();
function minuteIn(timezone: string, instant: Date): number {
  const made = clocks.get(timezone);
  const clock = made ?? new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit' });
  clocks.set(timezone, clock);
  const [hour, minute] = clock.format(instant).split(':').map(Number);
  return hour! * 60 + minute!;
}

const minute = fc.integer({ min: 0, max: 1439 });
const span = fc
  .record({ fromMinute: minute, toMinute: minute })
  .filter(({ fromMinute, toMinute }) => fromMinute !== toMinute);
const timezone = fc.constantFrom('Europe/Helsinki', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'UTC');

test('each day has one turn, in its order and within the span, whatever the clocks do', () => {
  fc.assert(
    fc.property(span, timezone, fc.double({ min: 0, max: 0.999999, noNaN: true }), (between, zone, share) => {
      const place = { span: between, timezone: zone, share };
      let turn = latestTurn(place, at('2026-01-01T00:00:00Z'));
      for (let day = 0; day < 366; day++) {
        const next = turnAfter(place, turn);
        expect(Date.parse(next.day) - Date.parse(turn.day)).toBe(86_400_000);
        expect(next.at.getTime()).toBeGreaterThan(turn.at.getTime());
        // Between the two turns, only the first is due.
        expect(latestTurn(place, new Date(next.at.getTime() - 1))).toEqual(turn);
        expect(latestTurn(place, next.at)).toEqual(next);
        const { fromMinute, toMinute } = between;
        const told = minuteIn(zone, next.at);
        const isWithin =
          fromMinute < toMinute ? fromMinute <= told && told <= toMinute : told >= fromMinute || told <= toMinute;
        // If a span begins in the hour that a zone skips, it begins after that hour.
        const changes =
          minuteIn(zone, at(`${next.day}T00:00Z`)) !== minuteIn(zone, new Date(Date.parse(next.day) + 2 * 86_400_000));
        if (!changes) expect(isWithin, `${next.at.toISOString()} in ${zone}`).toBe(true);
        turn = next;
      }
    }),
    { numRuns: runs(25) },
  );
});

test('places are spread over the span', () => {
  const places = Array.from({ length: 400 }, (_, n) => placeByHash(5000 + n));
  for (let quarter = 0; quarter < 4; quarter++) {
    const there = places.filter((share) => Math.floor(share * 4) === quarter).length;
    expect(there).toBeGreaterThan(60);
    expect(there).toBeLessThan(140);
  }
});
