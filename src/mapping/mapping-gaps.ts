import { type Money, sum, zero } from '../domain/money.ts';
import { type CalendarDate, soldRoles } from '../terms.ts';
import { lookUpFindings, unnamedTexts, usageTexts } from '../texts/findings/mapping.ts';
import type { ProblemCode } from '../texts/problems.ts';
import {
  isUnmapped,
  type LookUp,
  paymentAccount,
  rateText,
  revenueAccount,
  roleAccount,
  soldRole,
  vatAccount,
  vatGroupName,
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
  /** The exact sums of these records. Net and VAT are null if no rows have the value. */
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
    const where = department === null ? what : usageTexts.inDepartment({ what, department });
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

/**
 * Looks up the account on the first and on the last day of use. If one of these days has no account, returns the result
 * of that day.
 */
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
    const group = usageTexts.group({ name: vat.name ?? usageTexts.noGroup, rate: rateText(vat.rate) });
    const hasDimensions = dimensions.some((each) => each !== null);
    const what = usageTexts.rows({
      account: account ?? usageTexts.noAccount,
      dimensions: hasDimensions ? dimensions.map((each) => each ?? '').join(', ') : '',
      group,
    });
    const details = { dimensions, internal, vat };
    if (has.hasNet) {
      const result = onDays(dates, (date) => revenueAccount(mapping, account, department, { ...details, date }));
      uses.push({ result, what, ...amounts });
    }
    const role = soldRole(mapping, account, department, details);
    if (role !== null && (has.hasVat || !(vat.rate ?? zero).isZero())) {
      const message = lookUpFindings.voucherRowsWithVat({ role });
      uses.push({ result: { code: 'voucher_with_vat', message }, what, ...amounts });
    }
    if (has.hasVat) {
      const key = { name: vat.name, rate: vat.rate, accounts: vat.account === null ? [] : [vat.account] };
      const result = onDays(dates, (date) => vatAccount(mapping, { ...key, date }, department));
      uses.push({ result, what: usageTexts.rowsOfGroup({ group }), ...amounts });
    }
  }
  for (const { department, collector, client, count, gross } of invoices) {
    const amounts = { department, count, net: null, vat: null, gross };
    const what = collector ? usageTexts.consolidatedInvoices : usageTexts.invoices;
    uses.push({ result: roleAccount(mapping, 'receivable'), what, ...amounts });
    if (collector) uses.push({ result: roleAccount(mapping, 'consolidation_clearing'), what, ...amounts });
    if (!client && !mapping.cash_customer) {
      const result: LookUp = { code: 'cash_customer_unmapped', message: lookUpFindings.noCashCustomer };
      uses.push({ result, what: usageTexts.withoutClient({ what }), ...amounts });
    }
  }
  for (const { kind, type, department, opening, count, paid } of money) {
    const amounts = { department, count, net: null, vat: null, gross: paid };
    const other = kind === 'prepayment' ? 'prepayment_liability' : opening ? 'opening_receivable' : 'receivable';
    const textOf = kind === 'prepayment' ? usageTexts.prepaymentsBy : usageTexts.paymentsBy;
    const what = textOf({ type: type === null ? usageTexts.noPaymentType : paymentTypeName(type) });
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
    return rows.length === 0 ? [] : [ofRows(unnamedTexts.noVatGroups, rows)];
  }
  const unnamed = rows.filter(
    ({ account, department, dimensions, internal, vat }) =>
      vatGroupOf(mapping, vat) === null &&
      soldRole(mapping, account, department, { dimensions, internal, vat }) === null,
  );
  const groups = Map.groupBy(unnamed, ({ vat }) => vatGroupName(vat));
  return [...groups].map(([group, its]) => ofRows(unnamedTexts.groupWithoutLine({ group }), its));
}

function ofRows(message: string, rows: SourceUsage['rows']): UnnamedValue {
  const count = rows.reduce((counted, row) => counted + row.count, 0);
  return { message, count, net: sum(rows.map(({ net }) => net)), unit: 'row' };
}

/** Gift cards and vouchers that clients pay with, although no rule of the mapping posts their sale to a liability. */
function neverSold({ money }: SourceUsage, { revenue_rules: rules }: Mapping): UnnamedValue[] {
  return soldRoles.flatMap((role): UnnamedValue[] => {
    const taken = money.filter(
      ({ kind, type }) => kind === 'payment' && type !== null && defaultPaymentRole(type) === role,
    );
    if (taken.length === 0 || rules.some((rule) => rule.role === role)) return [];
    const count = taken.reduce((total, use) => total + use.count, 0);
    return [
      { message: unnamedTexts.neverSold({ role }), count, net: sum(taken.map(({ paid }) => paid)), unit: 'payment' },
    ];
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
      found.push(ofRows(unnamedTexts.dimension({ dimension, value }), its));
    }
  }
  return found;
}
