import { type Money, sum } from '../domain/money.ts';
import { type CalendarDate, type LineRole, type Role, roles } from '../terms.ts';
import { type Found, isUnmapped, type LookUp, paymentAccount, revenueAccount, vatAccount } from './look-ups.ts';
import type { Mapping } from './schema.ts';
import type { SourceUsage } from './source-usage.ts';
import type { VatKind } from './vat-group-lines.ts';
import { vatKindOf } from './vat-groups.ts';

/** The account that a mapping gives to values of the source. Null: the mapping gives none, so documents are held. */
export interface Target {
  account: string | null;
  role: LineRole | null;
  /** Path in the mapping that gave the account. */
  by: string | null;
  /** The account on the first day of use, if the dates of rules give another one. */
  earlier: string | null;
  departments: (number | null)[];
  count: number;
}

export interface RevenueTarget extends Target {
  source_account: string | null;
  group: string | null;
  rate: Money | null;
  net: Money;
}

export interface VatTarget extends Target {
  group: string | null;
  rate: Money | null;
  kind: VatKind | null;
  base: Money;
  vat: Money;
}

export interface PaymentTarget extends Target {
  of: 'payment' | 'prepayment';
  type: number | null;
  amount: Money;
}

export interface MappingTargets {
  revenue: RevenueTarget[];
  vat: VatTarget[];
  payments: PaymentTarget[];
  roles: { role: Role; account: string }[];
}

/** Where a mapping posts the values that the source uses. Departments with the same account are one line. */
export function mappingTargets({ rows, money }: SourceUsage, mapping: Mapping): MappingTargets {
  const withNet = rows.filter(({ hasNet }) => hasNet);
  const withRate = rows.filter(({ hasVat, vat }) => hasVat || vat.name !== null);
  const revenue = grouped(withNet, (use) => {
    const { account, department, dimensions, internal, vat } = use;
    const found = onDays(use, (date) =>
      revenueAccount(mapping, account, department, { dimensions, internal, vat, date }),
    );
    return { key: [account, vat.name, vat.rate?.toFixed(), found.account, found.by], found };
  }).map(({ uses, first: { account, vat }, ...target }) => ({
    ...{ source_account: account, group: vat.name, rate: vat.rate },
    ...{ ...target, net: sum(uses.map(({ net }) => net)) },
  }));
  const vat = grouped(withRate, (use) => {
    const { vat: group, department, hasVat, dates } = use;
    const accounts = group.account === null ? [] : [group.account];
    const key = { name: group.name, rate: group.rate, accounts };
    // Rows without VAT need no account.
    const found = hasVat ? onDays(use, (date) => vatAccount(mapping, { ...key, date }, department), 'vat') : noTarget;
    const kind = vatKindOf(mapping, group, dates?.[1] ?? null);
    return { key: [group.name, group.rate?.toFixed(), found.account, found.by, kind], found };
  }).map(({ uses, first: { vat: group, dates }, ...target }) => ({
    ...{ group: group.name, rate: group.rate, kind: vatKindOf(mapping, group, dates?.[1] ?? null) },
    ...{ ...target, base: sum(uses.map(({ net }) => net)), vat: sum(uses.map(({ vatAmount }) => vatAmount)) },
  }));
  const payments = grouped(money, ({ kind, type, department }) => {
    const found = type === null ? noTarget : targetOf(paymentAccount(mapping, type, department), 'other_clearing');
    return { key: [kind, type, found.account, found.by], found };
  }).map(({ uses, first: { kind, type }, ...target }) => ({
    ...{ of: kind, type },
    ...{ ...target, amount: sum(uses.map(({ paid }) => paid)) },
  }));
  const named = roles.flatMap((role) => {
    const account = mapping.roles[role];
    return account ? [{ role, account }] : [];
  });
  return { revenue, vat, payments, roles: named };
}

type FoundTarget = Pick<Target, 'account' | 'role' | 'by' | 'earlier'>;
const noTarget: FoundTarget = { account: null, role: null, by: null, earlier: null };

function targetOf(found: LookUp<Found & { role?: LineRole }>, role: LineRole): FoundTarget {
  if (isUnmapped(found)) return noTarget;
  return { account: found.account, role: found.role ?? role, by: found.mappedBy, earlier: null };
}

/** The account on the last day of use, and the one on the first day if it differs. */
function onDays(
  { dates }: Pick<SourceUsage['rows'][number], 'dates'>,
  lookUp: (date: CalendarDate | null) => LookUp<Found & { role?: LineRole }>,
  role: LineRole = 'revenue',
): FoundTarget {
  const [first, last] = (dates ?? [null, null]).map((date) => targetOf(lookUp(date), role)) as [
    FoundTarget,
    FoundTarget,
  ];
  return { ...last, earlier: first.account === last.account ? null : first.account };
}

interface Use {
  department: number | null;
  count: number;
}

/** Adds up the uses that have the same key, in the order of their keys. */
function grouped<One extends Use>(
  uses: readonly One[],
  read: (use: One) => { key: (string | number | null | undefined)[]; found: FoundTarget },
): (Target & { uses: One[]; first: One })[] {
  const groups = new Map<string, { found: FoundTarget; uses: One[] }>();
  for (const use of uses) {
    const { key, found } = read(use);
    const text = JSON.stringify(key.map((part) => part ?? ''));
    const group = groups.get(text) ?? { found, uses: [] };
    group.uses.push(use);
    if (found.earlier !== null) group.found = { ...group.found, earlier: found.earlier };
    groups.set(text, group);
  }
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { found, uses: its }]) => ({
      ...found,
      departments: [...new Set(its.map(({ department }) => department))].sort((a, b) => (a ?? 0) - (b ?? 0)),
      count: its.reduce((total, { count }) => total + count, 0),
      uses: its,
      first: its[0] as One,
    }));
}
