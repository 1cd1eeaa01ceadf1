// Access rights: groups, their rights (the same in 17, 18 and 19), and the companies whose records are visible.

import type { Env } from './env.ts';
import { accessError } from './errors.ts';
import type { Row } from './store.ts';

export type Operation = 'read' | 'write' | 'create' | 'unlink';

/** The external id, the implied groups, and the name in error texts up to 18 and in 19. */
export const groups: { id: string; implies: string[]; name: [upTo18: string, of19: string] }[] = [
  { id: 'base.group_user', implies: [], name: ['User types/Internal User', 'Role / User'] },
  { id: 'base.group_portal', implies: [], name: ['User types/Portal', 'Role / Portal'] },
  {
    id: 'base.group_erp_manager',
    implies: ['base.group_user'],
    name: ['Administration/Access Rights', 'Access Rights'],
  },
  {
    ...{ id: 'base.group_system', implies: ['base.group_erp_manager'] },
    name: ['Administration/Settings', 'Role / Administrator'],
  },
  {
    ...{ id: 'base.group_partner_manager', implies: [] },
    name: ['Extra Rights/Contact Creation', 'Contact/Creation'],
  },
  {
    ...{ id: 'account.group_account_readonly', implies: ['base.group_user'] },
    name: ['Technical/Show Accounting Features - Readonly', 'Show Accounting Features - Readonly'],
  },
  {
    ...{ id: 'account.group_account_invoice', implies: ['base.group_user'] },
    name: ['Invoicing/Billing', 'Accounting/Invoicing'],
  },
  {
    ...{
      id: 'account.group_account_user',
      implies: ['account.group_account_invoice', 'account.group_account_readonly'],
    },
    name: ['Technical/Show Full Accounting Features', 'Show Full Accounting Features'],
  },
  {
    ...{ id: 'account.group_account_manager', implies: ['account.group_account_invoice'] },
    name: ['Invoicing/Billing Administrator', 'Accounting/Administrator'],
  },
  {
    ...{ id: 'analytic.group_analytic_accounting', implies: [] },
    name: ['Technical/Analytic Accounting', 'Analytic Accounting'],
  },
];

/** Odoo 18 has other names for two groups. */
const namesOf18: Record<string, string> = {
  'account.group_account_invoice': 'Invoicing/Invoicing',
  'account.group_account_manager': 'Invoicing/Administrator',
};

const user = 'base.group_user';
const billing = 'account.group_account_invoice';
const administrator = 'account.group_account_manager';
const readonly = 'account.group_account_readonly';
const full = 'account.group_account_user';
const analytic = 'analytic.group_analytic_accounting';
const rights = 'base.group_erp_manager';

/** The rights of groups: letters for read, write, create, unlink. */
const granted: Record<string, Record<string, string>> = {
  'account.move': { [billing]: 'rwcu', [administrator]: 'r', [readonly]: 'r', 'base.group_portal': 'r' },
  'account.move.line': { [billing]: 'rwcu', [readonly]: 'r' },
  'account.account': { [user]: 'r', [administrator]: 'rwcu' },
  'account.journal': { [billing]: 'r', [readonly]: 'r', [administrator]: 'rwcu' },
  'account.tax': { [user]: 'r', [administrator]: 'rwcu' },
  'account.tax.repartition.line': { [user]: 'r', [administrator]: 'rwcu' },
  'account.account.tag': { [user]: 'r', [full]: 'rwcu' },
  'account.analytic.plan': { [analytic]: 'rwcu', [full]: 'rwcu' },
  'account.analytic.account': { [user]: 'r', [analytic]: 'rwcu', [full]: 'rwcu' },
  'account.analytic.distribution.model': { [billing]: 'rwcu', [analytic]: 'rwcu', [readonly]: 'r' },
  'account.partial.reconcile': { [billing]: 'rwcu', [readonly]: 'r' },
  'account.full.reconcile': { [billing]: 'rwcu', [readonly]: 'r' },
  'account.lock_exception': { [user]: 'r', [administrator]: 'rc' },
  'res.partner': { [user]: 'r', 'base.group_partner_manager': 'rwcu' },
  'res.company': { [user]: 'r', [rights]: 'rwcu' },
  'res.users': { [user]: 'r', [rights]: 'rwcu' },
  'res.users.apikeys': { [user]: 'r' },
  'res.currency': { [user]: 'r', [administrator]: 'rwcu' },
  'res.country': { [user]: 'r' },
  'base.language.install': { 'base.group_system': 'rwcu' },
  'res.lang': { [user]: 'r', 'base.group_system': 'rwcu' },
  'res.groups': { [user]: 'r', [rights]: 'rwcu' },
  'ir.model.data': { [rights]: 'rwcu' },
  'ir.module.module': { [user]: 'r' },
};

/** The groups of a user, including implied ones. */
export function groupsOf(env: Env, userId = env.user): Set<string> {
  const row = env.store.get('res.users', userId);
  const ids = (row?.[env.version === 19 ? 'group_ids' : 'groups_id'] ?? []) as number[];
  const found = new Set<string>();
  const add = (name: string) => {
    if (found.has(name)) return;
    found.add(name);
    for (const implied of groups.find(({ id }) => id === name)?.implies ?? []) add(implied);
  };
  for (const id of ids) add(env.core.groupNames.get(id) ?? '');
  return found;
}

export function mayAccess(env: Env, model: string, operation: Operation): boolean {
  if (env.isSuper) return true;
  const mine = groupsOf(env);
  const taken = env.core.takenRights.get(`${env.user} ${model}`) ?? '';
  const given = env.core.givenRights.get(`${env.user} ${model}`) ?? '';
  const letter = operation[0] as string;
  if (taken.includes(letter)) return false;
  const byGroup = Object.entries(granted[model] ?? {});
  return given.includes(letter) || byGroup.some(([group, letters]) => mine.has(group) && letters.includes(letter));
}

const verbs = { read: 'access', write: 'modify', create: 'create', unlink: 'delete' };

/** Throws AccessError if the user's groups do not allow the operation. */
export function checkAccess(env: Env, model: string, operation: Operation): void {
  if (mayAccess(env, model, operation)) return;
  const allowed = Object.entries(granted[model] ?? {})
    .filter(([, letters]) => letters.includes(operation[0] as string))
    .map(([group]) => groupName(env, group))
    .toSorted();
  const { label } = env.modelOf(model);
  const head = env.say(`You are not allowed to ${verbs[operation]} '%s' (%s) records.`, label, model);
  const list =
    allowed.length === 0
      ? env.say('No group currently allows this operation.')
      : `${env.say('This operation is allowed for the following groups:')}\n${allowed.map((name) => `\t- ${name}`).join('\n')}`;
  throw accessError(`${head}\n\n${list}\n\n${env.say('Contact your administrator to request access if necessary.')}`);
}

function groupName(env: Env, group: string): string {
  const [upTo18, of19] = groups.find(({ id }) => id === group)?.name ?? [group, group];
  if (env.version === 19) return of19;
  return env.version === 18 ? (namesOf18[group] ?? upTo18) : upTo18;
}

/** Selects the rows that a user sees: those of the current companies. */
export function ruleOf(env: Env, model: string): (row: Row) => boolean {
  if (env.isSuper) return () => true;
  const companies = new Set(env.companies);
  const lineage = new Set(env.companies.flatMap((id) => parentsOf(env, id)));
  switch (model) {
    case 'account.move':
      return ({ company_id: company }) => companies.has(company as number);
    case 'account.move.line':
      return (row) => companies.has(env.value(model, row, 'company_id') as number);
    case 'account.account':
      if (env.version === 17) return ({ company_id: company }) => lineage.has(company as number);
      return ({ company_ids: ids }) => (ids as number[]).some((id) => lineage.has(id));
    case 'account.journal':
    case 'account.tax':
      return ({ company_id: company }) => lineage.has(company as number);
    case 'res.partner':
    case 'account.analytic.account':
    case 'account.analytic.distribution.model':
      return ({ company_id: company }) => company === false || company === undefined || lineage.has(company as number);
    case 'res.company':
      return groupsOf(env).has(rights) ? () => true : ({ id }) => companies.has(id);
    case 'res.users.apikeys':
      return groupsOf(env).has('base.group_system') ? () => true : ({ user_id: owner }) => owner === env.user;
    default:
      return () => true;
  }
}

export function parentsOf(env: Env, company: number): number[] {
  const parent = env.store.get('res.company', company)?.parent_id;
  return typeof parent === 'number' ? [company, ...parentsOf(env, parent)] : [company];
}

/** Throws AccessError if the user cannot see one of the rows. */
export function checkRows(env: Env, model: string, rows: readonly Row[], operation: Operation): void {
  const rule = ruleOf(env, model);
  if (rows.every(rule)) return;
  const name = env.value('res.users', env.store.get('res.users', env.user) as Row, 'name');
  const head = env.say('Uh-oh! Looks like you have stumbled upon some top-secret records.');
  const { label } = env.modelOf(model);
  throw accessError(
    `${head}\n\nSorry, ${name} (id=${env.user}) doesn't have '${operation}' access to:\n- ${label} (${model})\n\n` +
      'If you really, really need access, perhaps you can win over your friendly administrator with a batch of freshly baked cookies.',
  );
}
