import { describe, expect, test } from 'vitest';
import { isPeriodClosed, type VatPeriodLength, vatPeriodEnd, vatPeriodOf } from '../../src/domain/vat-period.ts';

describe('the VAT period of a day', () => {
  test.each([
    ['2026-01-31', 'month', '2026-01', '2026-01-31'],
    ['2024-02-01', 'month', '2024-02', '2024-02-29'],
    ['2026-12-31', 'month', '2026-12', '2026-12-31'],
    ['2026-01-01', 'quarter', '2026-Q1', '2026-03-31'],
    ['2026-03-31', 'quarter', '2026-Q1', '2026-03-31'],
    ['2026-04-01', 'quarter', '2026-Q2', '2026-06-30'],
    ['2026-11-05', 'quarter', '2026-Q4', '2026-12-31'],
    ['2026-07-05', 'year', '2026', '2026-12-31'],
  ] as [string, VatPeriodLength, string, string][])('%s by %s is %s, which ends on %s', (day, length, period, end) => {
    expect(vatPeriodOf(day, length)).toBe(period);
    expect(vatPeriodEnd(period)).toBe(end);
  });

  test.each([
    ['2026-01', '2026-01-31', true],
    ['2026-01', '2026-01-30', false],
    // A quarter is closed with its last month, not with its first.
    ['2026-Q1', '2026-01-31', false],
    ['2026-Q1', '2026-03-31', true],
    ['2026', '2026-03-31', false],
  ])('%s with books closed through %s: closed is %s', (period, through, closed) => {
    expect(isPeriodClosed(period, [{ from: null, through }])).toBe(closed);
  });

  test('a run of closed days that begins after the period does not close it', () => {
    expect(isPeriodClosed('2026-01', [{ from: '2026-02-01', through: '2026-02-28' }])).toBe(false);
    expect(isPeriodClosed('2026-02', [{ from: '2026-02-01', through: '2026-02-28' }])).toBe(true);
  });
});
