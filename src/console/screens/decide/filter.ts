import { isCalendarDate, monthBounds } from '../../../domain/dates.ts';
import { Money } from '../../../domain/money.ts';
import type { OpenFilter } from '../../../queries/to-decide.ts';

type Query = Readonly<Partial<Record<string, string>>>;

/** The fields of the form. */
export const fields = ['q', 'code', 'month', 'account', 'department', 'least', 'most', 'decided'] as const;
type FieldName = (typeof fields)[number];

/** The parameter with the id of one document, which links give. */
export const itemParameter = 'item';

/** A value that no document has is left out. */
const readers: Record<FieldName, (value: string) => OpenFilter | null> = {
  q: (text) => ({ text: text.slice(0, 100) }),
  code: (code) => ({ code }),
  month: (month) => (isCalendarDate(`${month}-01`) ? { from: `${month}-01`, to: monthBounds(month).through } : null),
  account: (account) => ({ account }),
  department: (value) => (/^\d{1,15}$/.test(value) ? { department: Number(value) } : null),
  least: (value) => amountOf(value, (least) => ({ amount: { least } })),
  most: (value) => amountOf(value, (most) => ({ amount: { most } })),
  decided: (value) => (['yes', 'no'].includes(value) ? { decided: value === 'yes' } : null),
};

/** The filter of a query, and the fields with values that cannot be read. */
export function filterOf(query: Query): { filter: OpenFilter; unread: FieldName[] } {
  const item = query[itemParameter];
  let filter: OpenFilter = item === undefined ? {} : { id: item };
  const unread: FieldName[] = [];
  for (const name of fields) {
    const value = query[name]?.trim() ?? '';
    if (value === '') continue;
    const read = readers[name](value);
    if (read === null) unread.push(name);
    else filter = { ...filter, ...read, ...(read.amount ? { amount: { ...filter.amount, ...read.amount } } : {}) };
  }
  return { filter, unread };
}

function amountOf(value: string, as: (amount: Money) => OpenFilter): OpenFilter | null {
  return /^\d{1,12}(\.\d{1,4})?$/.test(value) ? as(new Money(value)) : null;
}
