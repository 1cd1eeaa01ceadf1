import type { LineRole } from '../terms.ts';
import { chartTexts } from '../texts/findings/mapping.ts';
import { type Found, isUnmapped, type LookUp, paymentAccount, revenueAccount, vatAccount } from './look-ups.ts';
import { defaultPaymentRole, paymentTypeName } from './payment-types.ts';
import type { Mapping } from './schema.ts';
import type { SourceUsage } from './source-usage.ts';

/** An account of lines, with its role and the path in the mapping that gave it. */
export interface WrittenAccount {
  account: string;
  role: LineRole;
  path: string;
}

const same = 'same';

/** The accounts in a mapping, each with its place. Empty places and `same` are left out. */
export function accountsNamed(mapping: Mapping): WrittenAccount[] {
  const found: WrittenAccount[] = [];
  const add = (account: string | undefined, role: LineRole, path: string) => {
    if (account && account !== same) found.push({ account, role, path });
  };
  for (const [role, account] of Object.entries(mapping.roles)) add(account, role as LineRole, `roles.${role}`);
  const tables = [
    ['revenue', mapping.revenue] as const,
    ...Object.entries(mapping.revenue_by_department).map(
      ([id, table]) => [`revenue_by_department.${id}`, table] as const,
    ),
  ];
  for (const [path, table] of tables) {
    if (table === same) continue;
    for (const [key, account] of Object.entries(table)) {
      // In the line of an account number, `same` means that account number.
      add(account === same && key !== '*' ? key : account, 'revenue', `${path}.${key}`);
    }
  }
  for (const [index, { account }] of mapping.revenue_rules.entries()) {
    add(account, 'revenue', `revenue_rules.${index}.account`);
  }
  for (const [index, { account }] of mapping.vat_rules.entries()) add(account, 'vat', `vat_rules.${index}.account`);
  for (const [index, { account, not_due: notDue }] of mapping.vat_groups.entries()) {
    add(account, 'vat', `vat_groups.${index}.account`);
    add(notDue, 'vat_not_due', `vat_groups.${index}.not_due`);
  }
  for (const [name, entry] of mapping.vat === same ? [] : Object.entries(mapping.vat)) {
    if (typeof entry === 'string') add(entry, 'vat', `vat.${name}`);
    else for (const [rate, account] of Object.entries(entry)) add(account, 'vat', `vat.${name}.${rate}`);
  }
  for (const [type, { departments = {}, ...general }] of Object.entries(mapping.payment_types)) {
    const role = general.role ?? defaultPaymentRole(Number(type));
    if (role) add(general.account, role, `payment_types.${type}.account`);
    for (const [id, own] of Object.entries(departments)) {
      const ownRole = own.role ?? role;
      if (ownRole) add(own.account, ownRole, `payment_types.${type}.departments.${id}.account`);
    }
  }
  return found;
}

/** The accounts to which a mapping posts the source's documents, including accounts that the source names. */
export function accountsUsed({ rows, money }: SourceUsage, mapping: Mapping): WrittenAccount[] {
  const found = new Map<string, WrittenAccount>();
  const add = (result: LookUp<Found & { role?: LineRole }>, role: LineRole, of: string) => {
    if (isUnmapped(result)) return;
    const { account, mappedBy } = result;
    const path = mappedBy.endsWith(same) ? `${mappedBy} (${of})` : mappedBy;
    found.set(`${account} ${path}`, { account, role: result.role ?? role, path });
  };
  for (const { account, department, dimensions, internal, vat, hasNet, hasVat, dates } of rows) {
    for (const date of new Set(dates ?? [null])) {
      const details = { dimensions, internal, vat, date };
      if (hasNet) add(revenueAccount(mapping, account, department, details), 'revenue', chartTexts.sourceRows);
      const accounts = vat.account === null ? [] : [vat.account];
      const group = { name: vat.name, rate: vat.rate, accounts, date };
      if (hasVat) add(vatAccount(mapping, group, department), 'vat', chartTexts.vatGroup({ name: vat.name ?? '' }));
    }
  }
  for (const { type, department } of money) {
    if (type !== null) add(paymentAccount(mapping, type, department), 'other_clearing', paymentTypeName(type));
  }
  return [...found.values()];
}
