import { expect, test } from 'vitest';
import { dailyTurn, monthlyTurn } from '../../src/queries/mail-days.ts';

test.each([
  ['before 7:00', '2026-02-10T04:59:59Z', '2026-02-09', '2026-02-01'],
  ['at 7:00', '2026-02-10T05:00:00Z', '2026-02-10', '2026-02-10'],
  ['on the morning on which the clocks go forward', '2026-03-29T04:00:00Z', '2026-03-29', '2026-03-10'],
  ['one second before it', '2026-03-29T03:59:59Z', '2026-03-28', '2026-03-10'],
  ['on the morning on which they go back', '2026-10-25T05:00:00Z', '2026-10-25', '2026-10-10'],
  ['one second before that', '2026-10-25T04:59:59Z', '2026-10-24', '2026-10-10'],
  ['on the first of a month', '2026-11-01T05:00:00Z', '2026-11-01', '2026-11-01'],
  ['before 7:00 of the first of a year', '2027-01-01T04:00:00Z', '2026-12-31', '2026-12-10'],
  ['on 29 February', '2028-02-29T23:00:00Z', '2028-02-29', '2028-02-10'],
])('the turns in Helsinki %s', (_, at, daily, monthly) => {
  const now = new Date(at);
  expect(dailyTurn('Europe/Helsinki', now).day).toBe(daily);
  expect(monthlyTurn('Europe/Helsinki', now)).toBe(monthly);
});
