import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { firstOpenDay, latestDate } from '../domain/dates.ts';
import { UserError } from '../domain/errors.ts';
import { companyKeyOf } from '../erp/company.ts';
import { obstacleOf, storedPeriods } from '../erp/periods.ts';
import { closedThrough } from '../ledger/close.ts';
import { departmentLocks } from '../mirror/department-locks.ts';
import type { CalendarDate } from '../terms.ts';
import { lateErrors } from '../texts/errors/late-documents.ts';
import { closedInErp } from './erp-locks.ts';

/** An entry or a daily summary that is to be posted on another day. */
export interface LatePosting {
  id: string;
  date: CalendarDate;
  departments: readonly (number | null)[];
}

/**
 * The first later day that is open in our books, in the source, and in the ERP as last read. Throws UserError if the
 * posting's own day is closed in our books, if it is open in the ERP, or if the ERP has no period for the open day.
 */
export async function openDayFor(
  trx: Connection,
  installation: InstallationConfig,
  { id, date, departments }: LatePosting,
): Promise<CalendarDate> {
  const closed = await closedThrough(trx, installation.id);
  if (closed !== null && date <= closed) {
    throw new UserError(lateErrors.closedInBooks({ unit: id, date, through: closed }), 1);
  }
  const locks = installation.mapping.policies.follow_source_lock
    ? await departmentLocks(trx, installation.id)
    : new Map<number, CalendarDate | null>();
  const [first, ...others] = departments.flatMap((department) =>
    department === null ? [] : (locks.get(department) ?? []),
  );
  const open = firstOpenDay(date, {
    closedThrough: closed,
    earliestOpen: first === undefined ? null : latestDate(first, ...others),
    closedDays: await closedInErp(trx, installation),
  });
  if (open === date) {
    throw new UserError(lateErrors.openInErp({ unit: id, date }), 1);
  }
  const company = companyKeyOf(installation.erp);
  const stored = company === null ? null : await storedPeriods(trx, company);
  if (stored !== null && obstacleOf(stored.periods, open) === 'missing') {
    throw new UserError(lateErrors.erpPeriodMissing({ unit: id, day: open }), 1);
  }
  return open;
}
