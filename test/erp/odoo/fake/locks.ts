// Lock dates: which of them an entry violates, the new date of such an entry when it is posted, and refused changes.

import type { Env, Values } from './env.ts';
import { redirectWarning, userError } from './errors.ts';
import { groupsOf, parentsOf } from './rights.ts';
import type { Json, Row } from './store.ts';

const noDate = '0001-01-01';
export const lockFields = {
  17: ['fiscalyear_lock_date', 'tax_lock_date', 'period_lock_date'],
  later: ['fiscalyear_lock_date', 'tax_lock_date', 'sale_lock_date', 'purchase_lock_date', 'hard_lock_date'],
};
const titles: Record<string, string> = {
  fiscalyear_lock_date: 'Global Lock Date',
  tax_lock_date: 'Tax Return Lock Date',
  sale_lock_date: 'Sales Lock date',
  purchase_lock_date: 'Purchase Lock date',
  hard_lock_date: 'Hard Lock Date',
};

interface Violation {
  field: string;
  date: string;
}

/** The latest lock date of a company and its parents, for the current user. */
export function lockDate(env: Env, company: number, field: string): string {
  const isAdministrator = groupsOf(env).has('account.group_account_manager');
  let latest = noDate;
  for (const id of parentsOf(env, company)) {
    if (field === 'period_lock_date' && isAdministrator) continue;
    const date = env.store.get('res.company', id)?.[field];
    if (typeof date !== 'string') continue;
    const effective = exceptionOf(env, id, field, date) ?? date;
    if (effective > latest) latest = effective;
  }
  return latest;
}

/** The date from which an exception allows a user, or all users, to post (18, 19); null without an exception. */
function exceptionOf(env: Env, company: number, field: string, locked: string): string | null {
  const found = env.store
    .rows('account.lock_exception')
    .filter(
      (row) =>
        row.company_id === company &&
        row.lock_date_field === field &&
        (!row.user_id || row.user_id === env.user) &&
        (!row.end_datetime || (row.end_datetime as string) > env.core.nowText()) &&
        (row.lock_date || noDate) < locked,
    )
    .map((row) => (row.lock_date || noDate) as string)
    .toSorted();
  return found[0] ?? null;
}

/** The lock date as a client reads it. Without a lock, it is the first day of the calendar. */
export function userLockDate(env: Env, row: Row, field: string): Json {
  const date = lockDate(env, row.id, field.replace(/^(user|max)_/, ''));
  return date === noDate ? '1-01-01' : date;
}

/** The locks that an entry violates, in the order of their dates. */
export function violations(env: Env, move: Row, date: string, hasTax: boolean): Violation[] {
  const company = move.company_id as number;
  const type = env.store.get('account.journal', move.journal_id as number)?.type;
  const fields =
    env.version === 17
      ? ['fiscalyear_lock_date', 'period_lock_date']
      : [
          ...['fiscalyear_lock_date', 'hard_lock_date'],
          ...(type === 'sale' ? ['sale_lock_date'] : type === 'purchase' ? ['purchase_lock_date'] : []),
        ];
  return [...fields, ...(hasTax ? ['tax_lock_date'] : [])]
    .map((field) => ({ field, date: lockDate(env, company, field) }))
    .filter((lock) => date <= lock.date)
    .toSorted((a, b) => (a.date < b.date ? -1 : 1));
}

/** The new date of an entry that violates locks when it is posted. */
export function accountingDate(env: Env, locks: readonly Violation[], highest: string | null): string {
  const today = env.core.nowText().slice(0, 10);
  const first = dayAfter(locks.at(-1)?.date ?? today);
  const isYearly = highest !== null && /^[^/]+\/\d{4}\/\d{4,}$/.test(highest);
  if (isYearly) return today.slice(0, 4) > first.slice(0, 4) ? `${first.slice(0, 4)}-12-31` : later(first, today);
  return today.slice(0, 7) > first.slice(0, 7) ? lastOfMonth(first) : later(first, today);
}

function later(one: string, other: string): string {
  return one > other ? one : other;
}

function dayAfter(date: string): string {
  return new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10);
}

function lastOfMonth(date: string): string {
  const [year = 0, month = 0] = date.split('-').map(Number);
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
}

function american(date: string): string {
  const [year, month, day] = date.split('-');
  return `${month}/${day}/${year}`;
}

function listed(locks: readonly Violation[]): string {
  return locks.map(({ field, date }) => `${titles[field]} (${american(date)})`).join(', ');
}

/** Throws if a posted entry is in a locked period. */
export function checkFiscalLocks(env: Env, move: Row): void {
  const [...locks] = violations(env, move, move.date as string, false);
  if (locks.length === 0) return;
  if (env.version !== 17) {
    throw userError(env.say('You cannot add/modify entries prior to and inclusive of: %s.', listed(locks)));
  }
  const date = american(locks.at(-1)?.date ?? '');
  const text = 'You cannot add/modify entries prior to and inclusive of the lock date %s.';
  const isAdministrator = groupsOf(env).has('account.group_account_manager');
  const more = " Check the company settings or ask someone with the 'Adviser' role";
  throw userError(env.say(isAdministrator ? text : text + more, date));
}

/** Throws if a line with taxes of a posted entry is in a period with locked taxes. */
export function checkTaxLock(env: Env, line: Row): void {
  const move = env.store.get('account.move', line.move_id as number);
  if (move?.state !== 'posted' || !affectsTax(env, line)) return;
  const date = lockDate(env, move.company_id as number, 'tax_lock_date');
  if ((move.date as string) > date) return;
  const head = 'The operation is refused as it would impact an already issued tax statement. ';
  throw userError(
    env.version === 17
      ? env.say(
          `${head}Please change the journal entry date or the tax lock date set in the settings (%s) to proceed.`,
          american(date),
        )
      : env.say(
          `${head}Please change the journal entry date or the following lock dates to proceed: %s.`,
          listed([{ field: 'tax_lock_date', date }]),
        ),
  );
}

export function affectsTax(env: Env, line: Row): boolean {
  const tags = (line.tax_tag_ids ?? []) as number[];
  const isTax = (id: number) => env.store.get('account.account.tag', id)?.applicability === 'taxes';
  return ((line.tax_ids ?? []) as number[]).length > 0 || Boolean(line.tax_repartition_line_id) || tags.some(isTax);
}

/** Throws if a change of a company's locks is not allowed. */
export function checkNewLocks(env: Env, companies: readonly number[], values: Values): void {
  for (const id of companies) {
    const before = env.store.get('res.company', id)?.hard_lock_date;
    if (!('hard_lock_date' in values) || !before) continue;
    if (!values.hard_lock_date) throw userError(env.say('The Hard Lock Date cannot be removed.'));
    if ((values.hard_lock_date as string) < (before as string))
      throw userError(env.say('A new Hard Lock Date must be posterior (or equal) to the previous one.'));
  }
  const through = values[env.version === 17 ? 'fiscalyear_lock_date' : 'hard_lock_date'];
  if (typeof through !== 'string') return;
  const drafts = env.store
    .rows('account.move')
    .filter(
      (move) =>
        move.state === 'draft' &&
        (move.date as string) <= through &&
        parentsOf(env, move.company_id as number).some((id) => companies.includes(id)),
    );
  if (drafts.length === 0) return;
  const text =
    env.version === 17
      ? 'There are still unposted entries in the period you want to lock. You should either post or delete them.'
      : 'There are still draft entries in the period you want to hard lock. You should either post or delete them.';
  throw redirectWarning(`${env.say(text)}\n{'res_model': 'account.move'}\nShow unposted entries\nNone`);
}
