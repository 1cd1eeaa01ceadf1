import { type Money, zero } from '../../../domain/money.ts';
import type { CalendarDate } from '../../../terms.ts';
import type { FoundEntry } from '../../erp-entry.ts';
import type { ErpBooks, RequestOptions } from '../../port.ts';
import { partsOf } from '../api/pages.ts';
import type { FortnoxConnection } from './connection.ts';
import type { FortnoxReader } from './read.ts';
import { vouchersIn } from './sie.ts';
import type { FinancialYear, FinancialYears } from './years.ts';

/** Number of entries in a page of the books. */
const perPage = 200;
/** More changed vouchers than this are read from the SIE file of their year, not one by one. */
const mostSingly = 50;

interface Days {
  from: CalendarDate;
  through: CalendarDate;
}

/**
 * The books of a company, from the SIE files that Fortnox writes of them. Each method throws ErpError. A copy of a
 * voucher keeps our key, so copies need no search of their own.
 */
export class FortnoxBooks implements ErpBooks {
  readonly #connection: FortnoxConnection;
  readonly #years: FinancialYears;
  readonly #reader: FortnoxReader;

  constructor(connection: FortnoxConnection, years: FinancialYears, reader: FortnoxReader) {
    this.#connection = connection;
    this.#years = years;
    this.#reader = reader;
  }

  async balances(days: Days, request: RequestOptions): ReturnType<ErpBooks['balances']> {
    const balances = new Map<string, Money>();
    let entries = 0;
    for (const year of await this.#years.between(days.from, days.through, request)) {
      for (const { lines } of await this.#booked(year, days, request)) {
        entries += 1;
        for (const { account, amount } of lines) balances.set(account, (balances.get(account) ?? zero).plus(amount));
      }
    }
    const written = [...balances].filter(([, amount]) => !amount.isZero());
    return { entries, balances: new Map(written.map(([account, amount]) => [account, amount.toFixed()])) };
  }

  async *entries(
    { changedSince, ...days }: Parameters<ErpBooks['entries']>[0],
    request: RequestOptions,
  ): AsyncGenerator<FoundEntry[]> {
    for (const year of await this.#years.between(days.from, days.through, request)) {
      const entries =
        changedSince === null
          ? await this.#booked(year, days, request)
          : await this.#changed(year, days, changedSince, request);
      yield* partsOf(entries, perPage);
    }
  }

  async #changed(year: FinancialYear, days: Days, since: Date, request: RequestOptions): Promise<FoundEntry[]> {
    const listed = await this.#reader.vouchers(year, since, request);
    const ids = listed.filter(({ date }) => days.from <= date && date <= days.through).map(({ id }) => id);
    if (ids.length <= mostSingly) return this.#reader.read(ids, request);
    const wanted = new Set(ids);
    return (await this.#booked(year, days, request)).filter(({ id }) => wanted.has(id));
  }

  async #booked(year: FinancialYear, { from, through }: Days, request: RequestOptions): Promise<FoundEntry[]> {
    await this.#connection.company(request);
    const query = {
      financialyear: String(year.id),
      fromdate: later(from, year.from),
      todate: earlier(through, year.through),
    };
    const file = await this.#connection.file('/3/sie/4', query, request);
    return [...vouchersIn(file, year)].filter(({ date }) => from <= date && date <= through);
  }
}

const later = (one: CalendarDate, other: CalendarDate) => (one > other ? one : other);
const earlier = (one: CalendarDate, other: CalendarDate) => (one < other ? one : other);
