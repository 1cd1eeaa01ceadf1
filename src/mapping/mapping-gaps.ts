import { type Money, sum, zero } from '../domain/money.ts';
import { type CalendarDate, soldRoles } from '../terms.ts';
import type { ProblemCode } from '../texts/problems.ts';
import {
  isUnmapped,
  type LookUp,
  paymentAccount,
  revenueAccount,
  roleAccount,
  soldRole,
  vatAccount,
} from './look-ups.ts';

import { defaultPaymentRole, paymentTypeName } from './payment-types.ts';
import type { Mapping } from './schema.ts';
import type { SourceUsage } from './source-usage.ts';
import { vatGroupOf } from './vat-groups.ts';

/** A value of the source without an account in the mapping. Documents with this value are held. */
export interface MappingGap {
  code: ProblemCode;
  message: string;
  /** Number of records with this value: rows, payments, prepayments or invoices. */
  count: number;
  /** Their exact sums. Net and VAT are null if no rows have the value. */
  net: Money | null;
  vat: Money | null;
  gross: Money;
  departments: (number | null)[];
  /** Where the value occurs, most records first: `payment type 9 (Gift card), department 11`. */
  uses: { what: string; count: number; gross: Money }[];
}

/**
 * A value in rows that no rule of the mapping names, although rules name other values of its kind. Its rows do have an
 * account.
 */
export interface UnnamedValue {
  message: string;
  count: number;
  /** The sum: the net of rows, or the amounts of payments. */
  net: Money;
  /** The kind of records in `count`. */
  unit: 'row' | 'payment';
}

interface Use {
  result: LookUp;
  what: string;
  department: number | null;
  count: number;
  net: Money | null;
  vat: Money | null;
  gross: Money;
}

/** The values of the source without an account in the mapping, most records first. */
export function mappingGaps(usage: SourceUsage, mapping: Mapping): MappingGap[] {
  const byMessage = new Map<string, MappingGap>();
  for (const { result, what, department, count, net, vat, gross } of lookUps(usage, mapping)) {
    if (!isUnmapped(result) || count === 0) continue;
    const { code, message } = result;
    const gap = byMessage.get(message) ?? emptyGap(code, message);
    gap.count += count;
    gap.net = plus(gap.net, net);
    gap.vat = plus(gap.vat, vat);
    gap.gross = gap.gross.plus(gross);
    if (!gap.departments.includes(department)) gap.departments.push(department);
    const where = department === null ? what : `${what}, department ${department}`;
    const use = gap.uses.find((each) => each.what === where);
    if (!use) gap.uses.push({ what: where, count, gross });
    else {
      use.count += count;
      use.gross = use.gross.plus(gross);
    }
    byMessage.set(message, gap);
  }
  const gaps = [...byMessage.values()];
  for (const gap of gaps) gap.uses.sort((a, b) => b.count - a.count || (a.what < b.what ? -1 : 1));
  return gaps.sort((a, b) => b.count - a.count || (a.message < b.message ? -1 : 1));
}

/** Looks up on the first and the last day of use. Returns a look-up without an account if there is one. */
function onDays(dates: SourceUsage['rows'][number]['dates'], lookUp: (date: CalendarDate | null) => LookUp): LookUp {
  const [first, last] = dates ?? [null, null];
  const early = lookUp(first);
  return first === last || isUnmapped(early) ? early : lookUp(last);
}

function emptyGap(code: ProblemCode, message: string): MappingGap {
  return { code, message, count: 0, net: null, vat: null, gross: zero, departments: [], uses: [] };
}

function plus(total: Money | null, amount: Money | null): Money | null {
  return amount === null ? total : (total ?? zero).plus(amount);
}

function lookUps({ rows, money, invoices }: SourceUsage, mapping: Mapping): Use[] {
  const uses: Use[] = [];
  for (const { account, department, dimensions, internal, vat, count, net, vatAmount, gross, dates, ...has } of rows) {
    const amounts = { department, count, net, vat: vatAmount, gross };
    const dimension = dimensions.some((each) => each !== null)
      ? ` [${dimensions.map((each) => each ?? '').join(', ')}]`
      : '';
    const group = `${vat.name ?? 'no VAT group'} at ${vat.rate === null ? 'no rate' : `${vat.rate.toFixed()} %`}`;
    const what = `rows on ${account ?? 'no account'}${dimension}, ${group}`;
    const details = { dimensions, internal, vat };
    if (has.hasNet) {
      const result = onDays(dates, (date) => revenueAccount(mapping, account, department, { ...details, date }));
      uses.push({ result, what, ...amounts });
    }
    const role = soldRole(mapping, account, department, details);
    if (role !== null && (has.hasVat || !(vat.rate ?? zero).isZero())) {
      const message = `rows that go to ${role} have VAT, or a rate`;
      uses.push({ result: { code: 'voucher_with_vat', message }, what, ...amounts });
    }
    if (has.hasVat) {
      const key = { name: vat.name, rate: vat.rate, accounts: vat.account === null ? [] : [vat.account] };
      const result = onDays(dates, (date) => vatAccount(mapping, { ...key, date }, department));
      uses.push({ result, what: `rows of ${group}`, ...amounts });
    }
  }
  for (const { department, collector, client, count, gross } of invoices) {
    const amounts = { department, count, net: null, vat: null, gross };
    const what = collector ? 'consolidated invoices' : 'invoices';
    uses.push({ result: roleAccount(mapping, 'receivable'), what, ...amounts });
    if (collector) uses.push({ result: roleAccount(mapping, 'consolidation_clearing'), what, ...amounts });
    if (!client && !mapping.cash_customer) {
      const message = 'the mapping has no cash_customer';
      uses.push({ result: { code: 'cash_customer_unmapped', message }, what: `${what} without a client`, ...amounts });
    }
  }
  for (const { kind, type, department, opening, count, paid } of money) {
    const amounts = { department, count, net: null, vat: null, gross: paid };
    const other = kind === 'prepayment' ? 'prepayment_liability' : opening ? 'opening_receivable' : 'receivable';
    const what = `${kind}s by ${type === null ? 'no payment type' : paymentTypeName(type)}`;
    uses.push({ result: roleAccount(mapping, other), what, ...amounts });
    if (type !== null) uses.push({ result: paymentAccount(mapping, type, department), what, ...amounts });
  }
  return uses;
}

const ruleDimensions = [
  ['dimension_1', (row: SourceUsage['rows'][number]) => row.dimensions[0]],
  ['dimension_2', (row: SourceUsage['rows'][number]) => row.dimensions[1]],
  ['dimension_3', (row: SourceUsage['rows'][number]) => row.dimensions[2]],
  ['internal_dimension_1', (row: SourceUsage['rows'][number]) => row.internal.dimension1],
  ['internal_dimension_2', (row: SourceUsage['rows'][number]) => row.internal.dimension2],
] as const;

/** Values of dimensions that no rule names, perhaps because a rule was forgotten, and VAT groups of unknown kind. */
export function unnamedValues(usage: SourceUsage, mapping: Mapping): UnnamedValue[] {
  const found = [
    ...unnamedDimensions(usage, mapping),
    ...unnamedVatGroups(usage, mapping),
    ...neverSold(usage, mapping),
  ];
  return found.sort((a, b) => b.count - a.count || (a.message < b.message ? -1 : 1));
}

function unnamedVatGroups({ rows }: SourceUsage, mapping: Mapping): UnnamedValue[] {
  if (mapping.vat_groups.length === 0) {
    const message =
      'there are no vat_groups, so reports know the kind of no VAT group, and `report eu-sales` finds nothing';
    return rows.length === 0 ? [] : [ofRows(message, rows)];
  }
  const unnamed = rows.filter(
    ({ account, department, dimensions, internal, vat }) =>
      vatGroupOf(mapping, vat) === null &&
      soldRole(mapping, account, department, { dimensions, internal, vat }) === null,
  );
  const groups = Map.groupBy(unnamed, ({ vat: { name, rate } }) => {
    const at = rate === null ? 'no rate' : `${rate.toFixed()} %`;
    return name === null ? `rows at ${at} that name no VAT group` : `VAT group ${name} at ${at}`;
  });
  return [...groups].map(([called, its]) =>
    ofRows(`vat_groups has no line for ${called}, so its kind is not known`, its),
  );
}

function ofRows(message: string, rows: SourceUsage['rows']): UnnamedValue {
  const count = rows.reduce((counted, row) => counted + row.count, 0);
  return { message, count, net: sum(rows.map(({ net }) => net)), unit: 'row' };
}

/** Gift cards and vouchers that are taken as payment although the mapping never posts their sale to a liability. */
function neverSold({ money }: SourceUsage, { revenue_rules: rules }: Mapping): UnnamedValue[] {
  return soldRoles.flatMap((role): UnnamedValue[] => {
    const taken = money.filter(
      ({ kind, type }) => kind === 'payment' && type !== null && defaultPaymentRole(type) === role,
    );
    if (taken.length === 0 || rules.some((rule) => rule.role === role)) return [];
    const message = `no rule of revenue_rules has the role ${role}: where the practice sells what these payments are made with, the sale is posted as revenue`;
    const count = taken.reduce((total, use) => total + use.count, 0);
    return [{ message, count, net: sum(taken.map(({ paid }) => paid)), unit: 'payment' }];
  });
}

function unnamedDimensions({ rows }: SourceUsage, { revenue_rules: rules }: Mapping): UnnamedValue[] {
  const found: UnnamedValue[] = [];
  for (const [dimension, read] of ruleDimensions) {
    const named = rules.flatMap(({ when }) => when[dimension] ?? []);
    if (named.length === 0) continue;
    const unnamed = new Map<string, typeof rows>();
    for (const row of rows) {
      const value = read(row);
      if (value !== null && !named.includes(value)) unnamed.set(value, [...(unnamed.get(value) ?? []), row]);
    }
    for (const [value, its] of unnamed) {
      found.push(ofRows(`rules look at ${dimension}, and none names ${value}`, its));
    }
  }
  return found;
}
