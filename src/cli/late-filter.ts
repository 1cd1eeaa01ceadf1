import type { LateFilter } from '../bookkeeping/late-filter.ts';
import { isCalendarDate, monthBounds } from '../domain/dates.ts';
import { Money } from '../domain/money.ts';
import { lateDecisions } from '../posting/types.ts';
import { documentKinds } from '../terms.ts';
import { usageTexts } from '../texts/commands/usage.ts';
import { usageError } from './context.ts';

/** The value of a condition as its part of the filter. Null if it is invalid. */
const readers: Record<string, (value: string) => LateFilter | null> = {
  'code=': (code) => ({ code }),
  'kind=': (value) => one(documentKinds, value, (kind) => ({ kind })),
  'month=': (value) => (isCalendarDate(`${value}-01`) ? { from: `${value}-01`, to: monthBounds(value).through } : null),
  'from=': (from) => (isCalendarDate(from) ? { from } : null),
  'to=': (to) => (isCalendarDate(to) ? { to } : null),
  'account=': (account) => ({ account }),
  'department=': (value) => (/^\d{1,15}$/.test(value) ? { department: Number(value) } : null),
  'amount>=': (value) => limit(value, (least) => ({ amount: { least } })),
  'amount<=': (value) => limit(value, (most) => ({ amount: { most } })),
  'decided=': (value) => one(lateDecisions, value.replaceAll('-', '_'), (decided) => ({ decided })),
};

/** Reads `--filter`: conditions such as `month=2026-01,amount<=5.00`, each at most once. */
export function parseLateFilter(text: string): LateFilter {
  const filter: LateFilter = {};
  const seen = new Set<string>();
  for (const part of text.split(',')) {
    const [, name = '', value = ''] = /^\s*(\w+\s*(?:<=|>=|=))\s*(.*?)\s*$/.exec(part) ?? [];
    const key = name.replace(/\s/g, '');
    const found = value === '' || seen.has(key) ? null : (readers[key]?.(value) ?? null);
    const isTwice = found !== null && Object.keys(found).some((each) => each !== 'amount' && each in filter);
    if (found === null || isTwice) throw usageError(usageTexts.noCondition({ text: part }), 'late decide');
    seen.add(key);
    Object.assign(filter, found, found.amount ? { amount: { ...filter.amount, ...found.amount } } : {});
  }
  return filter;
}

function one<Of extends string>(of: readonly Of[], value: string, as: (found: Of) => LateFilter): LateFilter | null {
  const found = of.find((each) => each === value);
  return found === undefined ? null : as(found);
}

function limit(value: string, as: (amount: Money) => LateFilter): LateFilter | null {
  return /^\d{1,12}(\.\d{1,4})?$/.test(value) ? as(new Money(value)) : null;
}
