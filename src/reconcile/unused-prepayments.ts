import { businessDate, daysFrom } from '../domain/dates.ts';
import { formatExact, type Money, zero } from '../domain/money.ts';
import { prepaymentUse } from '../records/source-codes.ts';
import type { CalendarDate } from '../terms.ts';
import { isMoney } from './e3-prepayment.ts';
import type { Listed, ReconcileInput } from './reconcile-report.ts';
import type { ReconciledPayment, ReconciledPrepayment } from './reconciled-documents.ts';

/**
 * Limit of listed months; the latest ones are kept. A record dated in the year 1 must not create a list of 24,000
 * months.
 */
const monthsListed = 120;

/**
 * The prepayments that are unused at the end of each month (ACCOUNTING E4), by the source's own records: prepayments
 * and their refunds up to then, less payments of type 8 up to then. Held documents and those before `start_date` count
 * too, because VAT on advances is declared on received money, wherever it is booked. Memory holds one sum per month.
 */
export class UnusedPrepayments {
  /** The amount that each month adds, by its first seven characters (`2026-01`). */
  readonly #months = new Map<string, Money>();
  readonly #timezone: string;

  constructor({ timezone }: Pick<ReconcileInput, 'timezone'>) {
    this.#timezone = timezone;
  }

  addPrepayment(prepayment: ReconciledPrepayment): void {
    if (!isMoney(prepayment)) return;
    const { paid, created } = prepayment.record;
    this.#add(paid, this.#dateOf(prepayment, created));
  }

  addPayment(payment: ReconciledPayment): void {
    const { paymentType, paid, dateAdded } = payment.record;
    if (paymentType !== prepaymentUse || payment.gone) return;
    this.#add(paid?.negated() ?? null, this.#dateOf(payment, dateAdded));
  }

  /** The latest past months, before `today`, with an unused amount at their end. */
  listed(today: CalendarDate, decimals: number): Listed['unused_prepayments'] {
    const present = monthOf(today);
    const over = [...this.#months].filter(([month]) => month < present).sort(([a], [b]) => (a < b ? -1 : 1));
    const [first] = over;
    if (first === undefined) return [];
    const added = new Map(over);
    const oldest = monthBefore(present, monthsListed);
    const listed: Listed['unused_prepayments'] = [];
    let balance = zero;
    for (const [month, amount] of over) if (month < oldest) balance = balance.plus(amount);
    for (let month = later(first[0], oldest); month < present; month = monthBefore(month, -1)) {
      balance = balance.plus(added.get(month) ?? zero);
      if (!balance.isZero()) listed.push({ month_end: lastDayOf(month), balance: formatExact(balance, decimals) });
    }
    return listed;
  }

  #add(amount: Money | null, date: CalendarDate | null): void {
    if (amount === null || date === null) return;
    const month = monthOf(date);
    this.#months.set(month, (this.#months.get(month) ?? zero).plus(amount));
  }

  /** The record's own date. If the record has changed, the date that was first used (ACCOUNTING Dates). */
  #dateOf(
    { changed, documentDate }: ReconciledPrepayment | ReconciledPayment,
    text: string | null,
  ): CalendarDate | null {
    const own = text === null ? null : businessDate(text, this.#timezone);
    return changed ? (documentDate ?? own) : (own ?? documentDate);
  }
}

function monthOf(date: CalendarDate): string {
  return date.slice(0, 7);
}

/** The month that is this number of months earlier; later if negative. It is never before the year 1. */
function monthBefore(month: string, months: number): string {
  const [year = 0, ofYear = 0] = month.split('-').map(Number);
  const count = Math.max(12, year * 12 + ofYear - 1 - months);
  return `${String(Math.floor(count / 12)).padStart(4, '0')}-${String((count % 12) + 1).padStart(2, '0')}`;
}

function lastDayOf(month: string): CalendarDate {
  return daysFrom(`${monthBefore(month, -1)}-01`, -1);
}

function later(a: string, b: string): string {
  return a < b ? b : a;
}
