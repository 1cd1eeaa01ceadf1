import type { JsonObject } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import type { LockKind } from '../../capabilities.ts';
import { ErpError, type ErpPeriods, type RequestOptions } from '../../port.ts';
import { readAs } from '../api/form.ts';
import type { OdooCalls } from './calls.ts';
import { asDateOrNull, asRecords } from './wire.ts';

/**
 * The kind of lock of each lock date. Odoo silently moves an entry of a locked day to a later day, so vetledger
 * respects every lock. This includes the one that advisers may bypass (17), since it is not intended to let programs
 * post.
 */
const kinds: Record<string, LockKind> = {
  fiscalyear_lock_date: 'year',
  user_fiscalyear_lock_date: 'year',
  hard_lock_date: 'year',
  user_hard_lock_date: 'year',
  period_lock_date: 'general',
  // This lock covers sale journals, and vetledger posts only sales.
  sale_lock_date: 'general',
  user_sale_lock_date: 'general',
  tax_lock_date: 'vat',
  max_tax_lock_date: 'vat',
  user_tax_lock_date: 'vat',
};

/**
 * Reads the lock dates of the company and its parents. Odoo 18 and 19 also have the lock dates that apply to the user,
 * with the exceptions that an accountant gave; these replace the others. Odoo has no periods. Throws ErpError.
 */
export async function readLocks(calls: OdooCalls, request: RequestOptions): Promise<ErpPeriods> {
  const { companyId, chain, usable, features } = await calls.company(request);
  const { lockFields } = features;
  // The lock dates are not read from a cache, because a user may just have set a lock.
  const args = { domain: [['id', 'in', usable]], fields: lockFields };
  // Odoo only returns companies that the context allows.
  const context = { allowed_company_ids: usable };
  const answer = await calls.call('reads', { model: 'res.company', method: 'search_read', args, context }, request);
  const found = readAs(answer, asRecords);
  const own = found.find(({ id }) => id === companyId);
  if (own === undefined) throw new ErpError('auth', erpAnswerTexts.locksUnreadable);
  const hasEffective = lockFields.some((field) => field.startsWith('user_'));
  // The user's lock dates already include those of the parents.
  const counted = hasEffective ? [own] : found;
  if (!hasEffective && found.length < chain.length) {
    throw new ErpError('auth', erpAnswerTexts.parentLocksUnreadable);
  }
  const fields = hasEffective ? lockFields.filter((field) => field.startsWith('user_')) : lockFields;
  const lockedThrough = counted.flatMap((company) => fields.flatMap((field) => lockOf(company, field)));
  return { periods: null, lockedThrough: latest(lockedThrough) };
}

/** Odoo's value for "never": the first date of Python. */
const never = '0001-01-01';

function lockOf(company: JsonObject, field: string): ErpPeriods['lockedThrough'] {
  const kind = kinds[field];
  const date = readAs(company[field] ?? null, asDateOrNull);
  return kind === undefined || date === null || date === never ? [] : [{ kind, date }];
}

/** The latest date of each kind. */
function latest(locks: ErpPeriods['lockedThrough']): ErpPeriods['lockedThrough'] {
  const byKind = new Map<LockKind, CalendarDate>();
  for (const { kind, date } of locks) if (date > (byKind.get(kind) ?? '')) byKind.set(kind, date);
  return [...byKind].map(([kind, date]) => ({ kind, date }));
}
