import type { CalendarDate } from '../terms.ts';
import { type ClosedDays, daysFrom } from './dates.ts';

/** How long the periods are for which VAT is declared (ACCOUNTING "Dates": original VAT period). */
export const vatPeriodLengths = ['month', 'quarter', 'year'] as const;
export type VatPeriodLength = (typeof vatPeriodLengths)[number];

/** The VAT period of a day: `2026-01`, `2026-Q1` or `2026`. */
export function vatPeriodOf(date: CalendarDate, length: VatPeriodLength): string {
  const year = date.slice(0, 4);
  if (length === 'year') return year;
  const month = Number(date.slice(5, 7));
  return length === 'month' ? date.slice(0, 7) : `${year}-Q${Math.ceil(month / 3)}`;
}

/** The first and the last day of a VAT period. */
export function vatPeriodBounds(period: string): { from: CalendarDate; through: CalendarDate } {
  const through = vatPeriodEnd(period);
  if (/^\d{4}$/.test(period)) return { from: `${period}-01-01`, through };
  const lastMonth = Number(through.slice(5, 7));
  const firstMonth = period.includes('Q') ? lastMonth - 2 : lastMonth;
  return { from: `${period.slice(0, 4)}-${String(firstMonth).padStart(2, '0')}-01`, through };
}

/** The last day of a VAT period. */
export function vatPeriodEnd(period: string): CalendarDate {
  const parts = /^(\d{4})(?:-(?:Q(\d)|(\d\d)))?$/.exec(period);
  if (parts === null) throw new Error(`${period} is no VAT period`);
  const [, year = '', quarter, month] = parts;
  const lastMonth = quarter === undefined ? Number(month ?? 12) : Number(quarter) * 3;
  if (lastMonth === 12) return `${year}-12-31`;
  return daysFrom(`${year}-${String(lastMonth + 1).padStart(2, '0')}-01`, -1);
}

/** Whether the last day of a VAT period lies in one of these runs of closed days. */
export function isPeriodClosed(period: string, closed: readonly ClosedDays[]): boolean {
  const end = vatPeriodEnd(period);
  return closed.some(({ from, through }) => (from === null || from <= end) && end <= through);
}
