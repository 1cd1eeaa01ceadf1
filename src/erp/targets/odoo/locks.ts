import type { JsonObject } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import type { LockKind } from '../../capabilities.ts';
import { ErpError, type ErpPeriods, type RequestOptions } from '../../port.ts';
import { readAs } from '../api/form.ts';
import type { OdooCalls } from './calls.ts';
import { asDateOrNull, asRecords } from './wire.ts';

/**
 * What each lock date closes. An entry that is posted on a locked day is moved to a later one, silently, so that every lock counts
 * for vetledger: also the one that advisers may pass (17), since nobody meant to leave a period open for a program.
 */
const kinds: Record<string, LockKind> = {
  fiscalyear_lock_date: 'year',
  user_fiscalyear_lock_date: 'year',
  hard_lock_date: 'year',
  user_hard_lock_date: 'year',
  period_lock_date: 'general',
  // Of journals of the type sale; vetledger posts sales only.
  sale_lock_date: 'general',
  user_sale_lock_date: 'general',
  tax_lock_date: 'vat',
  max_tax_lock_date: 'vat',
  user_tax_lock_date: 'vat',
};

/**
 * Reads the lock dates of the company and of those that it is a branch of. Where Odoo tells those that count for the user (18, 19),
 * they stand instead of the plain ones: an accountant gives an exception to a user for a time. Odoo has no periods. Throws ErpError.
 */
export async function readLocks(calls: OdooCalls, request: RequestOptions): Promise<ErpPeriods> {
  const { companyId, chain, usable, features } = await calls.company(request);
  const { lockFields } = features;
  // Read anew: what was locked a moment ago counts.
  const args = { domain: [['id', 'in', usable]], fields: lockFields };
  // A company is read by whoever names it among those that are in use.
  const context = { allowed_company_ids: usable };
  const answer = await calls.call('reads', { model: 'res.company', method: 'search_read', args, context }, request);
  const found = readAs(answer, asRecords);
  const own = found.find(({ id }) => id === companyId);
  if (own === undefined) throw new ErpError('auth', 'the Odoo user may not read the lock dates of its company');
  const hasEffective = lockFields.some((field) => field.startsWith('user_'));
  // What counts for the user includes the parents' locks.
  const counted = hasEffective ? [own] : found;
  if (!hasEffective && found.length < chain.length) {
    throw new ErpError(
      'auth',
      'the company is a branch, and the Odoo user may not read the lock dates of its parent company: add that one to its companies',
    );
  }
  const fields = hasEffective ? lockFields.filter((field) => field.startsWith('user_')) : lockFields;
  const lockedThrough = counted.flatMap((company) => fields.flatMap((field) => lockOf(company, field)));
  return { periods: null, lockedThrough: latest(lockedThrough) };
}

/** Odoo's word for "never": the first day that Python knows. */
const never = '0001-01-01';

function lockOf(company: JsonObject, field: string): ErpPeriods['lockedThrough'] {
  const kind = kinds[field];
  const date = readAs(company[field] ?? null, asDateOrNull);
  return kind === undefined || date === null || date === never ? [] : [{ kind, date }];
}

/** The last day of each kind. */
function latest(locks: ErpPeriods['lockedThrough']): ErpPeriods['lockedThrough'] {
  const byKind = new Map<LockKind, CalendarDate>();
  for (const { kind, date } of locks) if (date > (byKind.get(kind) ?? '')) byKind.set(kind, date);
  return [...byKind].map(([kind, date]) => ({ kind, date }));
}
