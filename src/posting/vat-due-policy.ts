import { latestDate } from '../domain/dates.ts';
import type { VatDuePolicy } from '../mapping/policies.ts';
import type { CalendarDate } from '../terms.ts';

/** Whether the VAT of an invoice is due with its payments (ACCOUNTING R13). `day` is the day whose VAT rules apply. */
export function isDueWithPayment(policy: VatDuePolicy | null, day: CalendarDate | null): policy is VatDuePolicy {
  return policy !== null && day !== null && policy.from <= day && (policy.until === null || day <= policy.until);
}

/** The day on which all VAT of an invoice becomes due without a payment. Null if there is none. */
export function latestDay({ latest, until, restAtEnd }: VatDuePolicy, invoiceDate: CalendarDate): CalendarDate | null {
  const byLaw =
    latest === null
      ? null
      : 'months' in latest
        ? monthsAfter(invoiceDate, latest.months)
        : yearEnd(invoiceDate, latest.year_end);
  const end = restAtEnd ? until : null;
  const day = byLaw === null || (end !== null && end < byLaw) ? end : byLaw;
  // A credit note that is dated after this day is due on its own date.
  return day === null ? null : latestDate(day, invoiceDate);
}

/** The last day of the month that is `months` after the month of a date. */
function monthsAfter(date: CalendarDate, months: number): CalendarDate {
  const [year = 0, month = 1] = date.split('-').map(Number);
  const index = year * 12 + month - 1 + months;
  return lastDayOf(Math.floor(index / 12), (index % 12) + 1);
}

/** The end of the fiscal year that contains a date. */
function yearEnd(date: CalendarDate, monthAndDay: string): CalendarDate {
  const year = Number(date.slice(0, 4));
  const end = endIn(year, monthAndDay);
  return date <= end ? end : endIn(year + 1, monthAndDay);
}

/** If the year ends in February, the last day depends on the year. */
function endIn(year: number, monthAndDay: string): CalendarDate {
  return monthAndDay === '02-29' || monthAndDay === '02-28' ? lastDayOf(year, 2) : `${fourDigits(year)}-${monthAndDay}`;
}

function lastDayOf(year: number, month: number): CalendarDate {
  const day = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return `${fourDigits(year)}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

function fourDigits(year: number): string {
  return String(year).padStart(4, '0');
}
