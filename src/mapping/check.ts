import { type Money, sum, zero } from '../domain/money.ts';
import { isUnmapped, type LookUp, paymentAccount, revenueAccount, roleAccount, vatAccount } from './look-ups.ts';
import type { Mapping } from './parse.ts';
import { paymentTypeName } from './payment-types.ts';
import type { SourceUsage } from './source-usage.ts';

/** Something the source uses and the mapping lacks: documents that need it are held. */
export interface Lack {
  code: string;
  message: string;
  /** Records that use it: rows, payments, prepayments or invoices. */
  count: number;
  /** Their exact sums; net and VAT only where rows use it. */
  net: Money | null;
  vat: Money | null;
  gross: Money;
  departments: (number | null)[];
  /** What of it is used where, most used first: `payment type 9 (Gift card), department 11`. */
  uses: { what: string; count: number; gross: Money }[];
}

/** A value that a rule could have meant and none names; its rows do find an account. */
export interface Remark {
  message: string;
  count: number;
  net: Money;
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

/** What the mapping lacks of what the source uses, the most used first. */
export function lacksOf(uses: SourceUsage, mapping: Mapping): Lack[] {
  const byMessage = new Map<string, Lack>();
  for (const { result, what, department, count, net, vat, gross } of lookUps(uses, mapping)) {
    if (!isUnmapped(result) || count === 0) continue;
    const { code, message } = result;
    const lack = byMessage.get(message) ?? emptyLack(code, message);
    lack.count += count;
    lack.net = plus(lack.net, net);
    lack.vat = plus(lack.vat, vat);
    lack.gross = lack.gross.plus(gross);
    if (!lack.departments.includes(department)) lack.departments.push(department);
    const where = department === null ? what : `${what}, department ${department}`;
    const use = lack.uses.find((each) => each.what === where);
    if (!use) lack.uses.push({ what: where, count, gross });
    else {
      use.count += count;
      use.gross = use.gross.plus(gross);
    }
    byMessage.set(message, lack);
  }
  const lacks = [...byMessage.values()];
  for (const lack of lacks) lack.uses.sort((a, b) => b.count - a.count || (a.what < b.what ? -1 : 1));
  return lacks.sort((a, b) => b.count - a.count || (a.message < b.message ? -1 : 1));
}

function emptyLack(code: string, message: string): Lack {
  return { code, message, count: 0, net: null, vat: null, gross: zero, departments: [], uses: [] };
}

function plus(total: Money | null, amount: Money | null): Money | null {
  return amount === null ? total : (total ?? zero).plus(amount);
}

function lookUps({ rows, money, invoices }: SourceUsage, mapping: Mapping): Use[] {
  const uses: Use[] = [];
  for (const { account, department, dimensions, internal, vat, count, net, vatAmount, gross, ...has } of rows) {
    const amounts = { department, count, net, vat: vatAmount, gross };
    const dimension = dimensions.some((each) => each !== null)
      ? ` [${dimensions.map((each) => each ?? '').join(', ')}]`
      : '';
    const group = `${vat.name ?? 'no VAT group'} at ${vat.rate === null ? 'no rate' : `${vat.rate.toFixed()} %`}`;
    if (has.hasNet) {
      const what = `rows on ${account ?? 'no account'}${dimension}, ${group}`;
      uses.push({
        result: revenueAccount(mapping, account, department, { dimensions, internal, vat }),
        what,
        ...amounts,
      });
    }
    if (has.hasVat) {
      const key = { name: vat.name, rate: vat.rate, accounts: vat.account === null ? [] : [vat.account] };
      uses.push({ result: vatAccount(mapping, key, department), what: `rows of ${group}`, ...amounts });
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

/** Values of the dimensions that rules look at, which no rule names: perhaps one was forgotten. */
export function remarksOf({ rows }: SourceUsage, { revenue_rules: rules }: Mapping): Remark[] {
  const remarks: Remark[] = [];
  for (const [dimension, read] of ruleDimensions) {
    const named = rules.flatMap(({ when }) => when[dimension] ?? []);
    if (named.length === 0) continue;
    const unnamed = new Map<string, typeof rows>();
    for (const row of rows) {
      const value = read(row);
      if (value !== null && !named.includes(value)) unnamed.set(value, [...(unnamed.get(value) ?? []), row]);
    }
    for (const [value, its] of unnamed) {
      remarks.push({
        message: `rules look at ${dimension}, and none names ${value}`,
        count: its.reduce((total, { count }) => total + count, 0),
        net: sum(its.map(({ net }) => net)),
      });
    }
  }
  return remarks.sort((a, b) => b.count - a.count || (a.message < b.message ? -1 : 1));
}
