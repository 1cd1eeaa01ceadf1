import type { Money } from '../domain/money.ts';
import type { ProblemCode } from '../domain/problems.ts';
import type { Role } from '../terms.ts';
import type { Mapping } from './mapping.ts';

/** An account, and the line of the mapping that gave it. */
export interface Found {
  account: string;
  mappedBy: string;
}

/** Why the mapping gives no account (proof P4). */
export interface Unmapped {
  code: ProblemCode;
  message: string;
}

export type LookUp<Result extends Found = Found> = Result | Unmapped;

export function isUnmapped(result: LookUp): result is Unmapped {
  return 'code' in result;
}

/** A table's word for "the source's own account". */
const same = 'same';

/** Roles of the source's payment types unless the mapping says otherwise (ACCOUNTING "Payment types and default roles"). */
export const defaultPaymentRoles: Readonly<Record<number, Role>> = {
  0: 'card_clearing',
  1: 'cash',
  2: 'bank_clearing',
  3: 'rounding',
  4: 'cheque_clearing',
  5: 'voucher_liability',
  6: 'consolidation_clearing',
  7: 'mobile_clearing',
  8: 'prepayment_liability',
  9: 'gift_card_liability',
  10: 'financing_receivable',
  11: 'other_clearing',
  12: 'credit_settlement',
  15: 'insurance_receivable',
};

/** The account of a role. */
export function roleAccount(mapping: Mapping, role: Role): LookUp {
  const account = mapping.roles[role];
  if (account) return { account, mappedBy: `roles.${role}` };
  return { code: 'role_unmapped', message: `the mapping has no account for roles.${role}` };
}

/** The account of a revenue line: the department's own table first, then the common one. */
export function revenueAccount(mapping: Mapping, accountNumber: string | null, departmentId: number | null): LookUp {
  const unmapped = (message: string): Unmapped => ({ code: 'account_unmapped', message });
  if (!accountNumber) return unmapped('a row names no revenue account');
  const own = departmentId === null ? undefined : entryOf(mapping.revenue_by_department, String(departmentId));
  const found =
    (own && fromTable(own, accountNumber, accountNumber, `revenue_by_department.${departmentId}`)) ??
    fromTable(mapping.revenue, accountNumber, accountNumber, 'revenue');
  return found ?? unmapped(`the mapping has no account for revenue.${accountNumber}`);
}

/** A VAT group as its rows tell it: the same name at two rates is two groups. */
export interface VatGroupKey {
  name: string | null;
  rate: Money | null;
  /** The VAT accounts that the group's rows name; more than one is a contradiction. */
  accounts: string[];
}

/** The account of a VAT group: by its name, then `*`; either may be a table by rate. */
export function vatAccount(mapping: Mapping, group: VatGroupKey): LookUp {
  const own = group.accounts.length === 1 ? group.accounts[0]! : null;
  const found = fromVatTable(mapping.vat, group, own);
  if (found) return found;
  const rate = group.rate === null ? 'no rate' : `${group.rate.toFixed()} %`;
  const called = group.name === null ? `rows at ${rate} that name no VAT group` : `VAT group ${group.name} at ${rate}`;
  const several = group.accounts.length > 1 ? ` (the rows name several: ${group.accounts.join(', ')})` : '';
  return { code: 'vat_group_unmapped', message: `the mapping has no VAT account for ${called}${several}` };
}

function fromVatTable(vat: Mapping['vat'], group: VatGroupKey, own: string | null): Found | null {
  if (vat === same) return fromTable(vat, null, own, 'vat');
  const key = group.name !== null && Object.hasOwn(vat, group.name) ? group.name : '*';
  const entry = entryOf(vat, key);
  if (entry === undefined) return null;
  if (typeof entry === 'string') return fromTable({ [key]: entry }, key, own, 'vat');
  return fromTable(entry, group.rate?.toFixed() ?? null, own, `vat.${key}`);
}

/** What a payment type posts to: its default role and account, or the mapping's override, the department's first. */
export function paymentAccount(
  mapping: Mapping,
  type: number,
  departmentId: number | null,
): LookUp<Found & { role: Role }> {
  const override = entryOf(mapping.payment_types, String(type));
  const own = departmentId === null ? undefined : entryOf(override?.departments ?? {}, String(departmentId));
  const role = own?.role ?? override?.role ?? defaultPaymentRoles[type];
  if (!role) return { code: 'payment_type_unmapped', message: `payment type ${type} has no role` };
  const path = `payment_types.${type}`;
  if (own?.account) return { role, account: own.account, mappedBy: `${path}.departments.${departmentId}.account` };
  if (override?.account && !own?.role) return { role, account: override.account, mappedBy: `${path}.account` };
  const found = roleAccount(mapping, role);
  return isUnmapped(found) ? found : { role, ...found };
}

/** The table's account for `key`, else for `*`; `same`, as the whole table or as an entry, is the source's `own`. */
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

// A key of the source such as "constructor" must not find what every object inherits.
function entryOf<Value>(table: Record<string, Value>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
