import { isCalendarDate } from '../../../domain/dates.ts';
import type { AfterUnit, ListedState, UnitFilter } from '../../../queries/delivered-units.ts';
import { unitStateNames } from '../../../texts/console/delivery.ts';
import { dayIn } from '../../parts/pages.ts';

type Query = Readonly<Record<string, string>>;

export const listedStates = Object.keys(unitStateNames) as ListedState[];

/** Reads the fields of the form. Fields with a fault count as empty. */
export function readFilter(query: Query): UnitFilter {
  const batch = query.batch ?? '';
  return {
    state: listedStates.find((each) => each === query.state) ?? null,
    ...{ from: dayIn(query, 'from'), through: dayIn(query, 'through') },
    search: (query.q ?? '').trim().slice(0, 100) || null,
    batch: /^\d{1,15}$/.test(batch) ? Number(batch) : null,
  };
}

/** The unit after which a page begins, such as `2026-03-09 4711/invoice/1/1`. Null if the query has none. */
export function unitAfter({ after = '' }: Query): AfterUnit | null {
  const [date = '', ...id] = after.slice(0, 300).split(' ');
  return isCalendarDate(date) ? { date, id: id.join(' ') } : null;
}
