import type { Money } from '../domain/money.ts';
import type { CalendarDate, Role, SoldRole } from '../terms.ts';
import { lookUpFindings } from '../texts/findings/mapping.ts';
import type { ProblemCode } from '../texts/problems.ts';
import { defaultPaymentRole } from './payment-types.ts';
import type { Mapping } from './schema.ts';
import { vatGroupOf, vatKindOf } from './vat-groups.ts';

/** An account of the ERP. */
export interface Found {
  account: string;
  /** Path in the mapping that gave the account: `roles.receivable`. */
  mappedBy: string;
}

/** The reason why the mapping has no account (proof P4). */
export interface Unmapped {
  code: ProblemCode;
  message: string;
}

export type LookUp<Result extends Found = Found> = Result | Unmapped;

export function isUnmapped(result: LookUp): result is Unmapped {
  return 'code' in result;
}

/** In a mapping: the account that the source names. */
const same = 'same';

/** The account of a role. */
export function roleAccount(mapping: Mapping, role: Role): LookUp {
  const account = mapping.roles[role];
  if (account) return { account, mappedBy: `roles.${role}` };
  return { code: 'role_unmapped', message: lookUpFindings.roleUnmapped({ role }) };
}

/** The values that the conditions of a revenue rule test, besides account and department. */
export interface RevenueDetails {
  dimensions: readonly (string | null)[];
  internal: { account: string | null; dimension1: string | null; dimension2: string | null };
  vat: { name: string | null; rate: Money | null };
  /** The date for the conditions `from` and `to`. Without a date, these conditions are ignored. */
  date?: CalendarDate | null;
}

const noDetails: RevenueDetails = {
  dimensions: [null, null, null],
  internal: { account: null, dimension1: null, dimension2: null },
  vat: { name: null, rate: null },
};

/**
 * The role to which a mapping posts a net group instead of revenue (ACCOUNTING R1); null for revenue. Rules with a role
 * are tested before all other rules. Otherwise an earlier rule by rate would post the sale of a gift card as revenue.
 */
export function soldRole(
  mapping: Mapping,
  accountNumber: string | null,
  departmentId: number | null,
  details: RevenueDetails = noDetails,
): SoldRole | null {
  const rule = mapping.revenue_rules.find(
    ({ when, role }) => role !== undefined && holds(mapping, when, accountNumber, departmentId, details),
  );
  return rule?.role ?? null;
}

/**
 * The account of a net line: from its role, the first rule that matches, the department's table, or the common table.
 */
export function revenueAccount(
  mapping: Mapping,
  accountNumber: string | null,
  departmentId: number | null,
  details: RevenueDetails = noDetails,
): LookUp<Found & { role: SoldRole | 'revenue' }> {
  const role = soldRole(mapping, accountNumber, departmentId, details);
  const found = role ? roleAccount(mapping, role) : ownRevenue(mapping, accountNumber, departmentId, details);
  return isUnmapped(found) ? found : { role: role ?? 'revenue', ...found };
}

function ownRevenue(
  mapping: Mapping,
  accountNumber: string | null,
  departmentId: number | null,
  details: RevenueDetails,
): LookUp {
  const unmapped = (message: string): Unmapped => ({ code: 'account_unmapped', message });
  const index = mapping.revenue_rules.findIndex(({ when }) =>
    holds(mapping, when, accountNumber, departmentId, details),
  );
  const rule = mapping.revenue_rules[index];
  if (rule) {
    const path = `revenue_rules.${index}`;
    const account = rule.account === same ? accountNumber : rule.account;
    if (account) return { account, mappedBy: path };
    return unmapped(lookUpFindings.ruleWithoutAccount({ rule: index, account: accountNumber ?? '' }));
  }
  if (!accountNumber) return unmapped(lookUpFindings.rowWithoutAccount);
  const own = departmentId === null ? undefined : entryOf(mapping.revenue_by_department, String(departmentId));
  const found =
    (own && fromTable(own, accountNumber, accountNumber, `revenue_by_department.${departmentId}`)) ??
    fromTable(mapping.revenue, accountNumber, accountNumber, 'revenue');
  return found ?? unmapped(lookUpFindings.revenueUnmapped({ account: accountNumber }));
}

type RevenueConditions = Mapping['revenue_rules'][number]['when'];

function holds(
  mapping: Mapping,
  when: RevenueConditions,
  accountNumber: string | null,
  departmentId: number | null,
  { dimensions, internal, vat, date = null }: RevenueDetails,
): boolean {
  return (
    among(when.account, accountNumber || null) &&
    holdsForVat(mapping, when, { ...vat, date }, departmentId) &&
    among(when.dimension_1, textOrNull(dimensions[0])) &&
    among(when.dimension_2, textOrNull(dimensions[1])) &&
    among(when.dimension_3, textOrNull(dimensions[2])) &&
    among(when.internal_account, textOrNull(internal.account)) &&
    among(when.internal_dimension_1, textOrNull(internal.dimension1)) &&
    among(when.internal_dimension_2, textOrNull(internal.dimension2))
  );
}

function holdsForVat(
  mapping: Mapping,
  when: Mapping['vat_rules'][number]['when'],
  { date, ...vat }: { name: string | null; rate: Money | null; date: CalendarDate | null },
  departmentId: number | null,
): boolean {
  return (
    (date === null || ((when.from ?? date) <= date && date <= (when.to ?? date))) &&
    (when.vat_kind === undefined || among(when.vat_kind, vatKindOf(mapping, vat, date))) &&
    among(when.department, departmentId) &&
    among(when.vat_group, textOrNull(vat.name)) &&
    (when.vat_rate === undefined || when.vat_rate.includes(vat.rate?.toFixed() ?? null))
  );
}

function among<Value>(wanted: readonly Value[] | undefined, found: Value | null): boolean {
  return wanted === undefined || (wanted as readonly (Value | null)[]).includes(found);
}

function textOrNull(text: string | null | undefined): string | null {
  return text?.trim() || null;
}

/** A VAT group of the source. The same name at two rates is two groups. */
export interface VatGroupKey {
  name: string | null;
  rate: Money | null;
  /** The distinct VAT accounts in the group's rows; more than one is a contradiction. */
  accounts: string[];
  /** The date that selects a line by its validity. If absent, the latest line counts. */
  date?: CalendarDate | null;
}

/**
 * The account of a VAT group: from the first rule that matches, its line in `vat_groups`, its name in `vat`, or `*`. In
 * `vat`, a name and `*` may have a table by rate.
 */
export function vatAccount(mapping: Mapping, group: VatGroupKey, departmentId: number | null = null): LookUp {
  const own = group.accounts.length === 1 ? (group.accounts[0] ?? null) : null;
  const { name, rate: exact, date = null } = group;
  const index = mapping.vat_rules.findIndex(({ when }) =>
    holdsForVat(mapping, when, { name, rate: exact, date }, departmentId),
  );
  const rule = mapping.vat_rules[index];
  const line = vatGroupOf(mapping, group, date);
  // A rule or line with an empty account holds the document: the table does not apply.
  const found = rule
    ? fromLine(rule.account, `vat_rules.${index}`, own)
    : line?.line.account !== undefined
      ? fromLine(line.line.account, `vat_groups.${line.index}`, own)
      : fromVatTable(mapping.vat, group, own);
  if (found) return found;
  const { vatUnmapped, vatUnmappedSeveral } = lookUpFindings;
  const [named, accounts] = [vatGroupName(group), group.accounts.join(', ')];
  const message =
    group.accounts.length > 1 ? vatUnmappedSeveral({ group: named, accounts }) : vatUnmapped({ group: named });
  return { code: 'vat_group_unmapped', message };
}

/** A VAT group in messages: `VAT group Standard at 25.5 %`, `rows at no rate that name no VAT group`. */
export function vatGroupName({ name, rate: exact }: Pick<VatGroupKey, 'name' | 'rate'>): string {
  const rate = rateText(exact);
  return name === null ? lookUpFindings.noVatGroup({ rate }) : lookUpFindings.vatGroup({ name, rate });
}

/** `25.5 %`, `no rate`. */
export function rateText(rate: Money | null): string {
  return rate === null ? lookUpFindings.noRate : lookUpFindings.rate({ rate: rate.toFixed() });
}

/** The account of a VAT group's VAT that is not due (R13): the group's own, or that of the role. */
export function vatNotDueAccount(mapping: Mapping, group: Omit<VatGroupKey, 'accounts'>): LookUp {
  const found = vatGroupOf(mapping, group, group.date ?? null);
  if (!found?.line.not_due) return roleAccount(mapping, 'vat_not_due');
  return { account: found.line.not_due, mappedBy: `vat_groups.${found.index}.not_due` };
}

function fromLine(written: string, mappedBy: string, own: string | null): Found | null {
  const account = written === same ? own : written;
  return account ? { account, mappedBy } : null;
}

function fromVatTable(vat: Mapping['vat'], group: VatGroupKey, own: string | null): Found | null {
  if (vat === same) return fromTable(vat, null, own, 'vat');
  const key = group.name !== null && Object.hasOwn(vat, group.name) ? group.name : '*';
  const entry = entryOf(vat, key);
  if (entry === undefined) return null;
  if (typeof entry === 'string') return fromTable({ [key]: entry }, key, own, 'vat');
  return fromTable(entry, group.rate?.toFixed() ?? null, own, `vat.${key}`);
}

/** Role and account of a payment type: the department's override, the mapping's override, or the default role. */
export function paymentAccount(
  mapping: Mapping,
  type: number,
  departmentId: number | null,
): LookUp<Found & { role: Role }> {
  const override = entryOf(mapping.payment_types, String(type));
  const own = departmentId === null ? undefined : entryOf(override?.departments ?? {}, String(departmentId));
  const role = own?.role ?? override?.role ?? defaultPaymentRole(type);
  if (!role) return { code: 'payment_type_unmapped', message: lookUpFindings.paymentTypeUnmapped({ type }) };
  const path = `payment_types.${type}`;
  if (own?.account) return { role, account: own.account, mappedBy: `${path}.departments.${departmentId}.account` };
  if (override?.account && !own?.role) return { role, account: override.account, mappedBy: `${path}.account` };
  const found = roleAccount(mapping, role);
  return isUnmapped(found) ? found : { role, ...found };
}

/**
 * The table's account for `key`, otherwise for `*`. The value `same` means `own`, the account that the source names.
 */
function fromTable(
  table: 'same' | Record<string, string>,
  key: string | null,
  own: string | null,
  path: string,
): Found | null {
  if (table === same) return own ? { account: own, mappedBy: `${path}.same` } : null;
  const used = key !== null && Object.hasOwn(table, key) ? key : '*';
  const entry = entryOf(table, used);
  const account = entry === same ? own : entry;
  return account ? { account, mappedBy: `${path}.${used}` } : null;
}

// Reads own properties only, because a key from the source may be "constructor".
function entryOf<Value>(table: Record<string, Value>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
