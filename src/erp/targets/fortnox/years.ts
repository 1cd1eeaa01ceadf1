import type { CalendarDate } from '../../../terms.ts';
import type { RequestOptions } from '../../port.ts';
import { asId, asText, readAs } from '../api/form.ts';
import type { KeptNames } from '../api/names.ts';
import type { FortnoxConnection } from './connection.ts';

export interface FinancialYear {
  id: number;
  from: CalendarDate;
  through: CalendarDate;
}

/** The company's financial years, which have their own charts, series and voucher numbers. */
export class FinancialYears {
  /** In order of time. */
  readonly all: (request: RequestOptions) => Promise<FinancialYear[]>;

  constructor(connection: Pick<FortnoxConnection, 'list'>, kept: KeptNames) {
    this.all = kept.whole(async (request) => {
      const years = await connection.list('/3/financialyears', 'FinancialYears', {}, request);
      return years
        .map((year) =>
          readAs(year, () => ({
            id: asId(year.Id ?? null),
            from: asText(year.FromDate ?? null),
            through: asText(year.ToDate ?? null),
          })),
        )
        .toSorted((one, other) => (one.from < other.from ? -1 : 1));
    });
  }

  async of(date: CalendarDate, request: RequestOptions): Promise<FinancialYear | null> {
    const [year = null] = await this.between(date, date, request);
    return year;
  }

  async between(from: CalendarDate, through: CalendarDate, request: RequestOptions): Promise<FinancialYear[]> {
    return (await this.all(request)).filter((year) => year.from <= through && year.through >= from);
  }
}

/** The years of some days; without such years, the newest one. */
export function yearsOf(years: readonly FinancialYear[], days: Iterable<CalendarDate>): FinancialYear[] {
  const all = [...days];
  const found = years.filter(({ from, through }) => all.some((day) => from <= day && day <= through));
  return found.length > 0 ? found : years.slice(-1);
}

/** The year as in a voucher’s number, such as `2026` or `2025-2026`. */
export function yearLabel({ from, through }: FinancialYear): string {
  const [first, last] = [from.slice(0, 4), through.slice(0, 4)];
  return first === last ? first : `${first}-${last}`;
}
