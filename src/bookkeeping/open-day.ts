import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { firstOpenDay, latestDate } from '../domain/dates.ts';
import { UserError } from '../domain/errors.ts';
import { companyKeyOf } from '../erp/company.ts';
import { obstacleOf, storedPeriods } from '../erp/periods.ts';
import { closedThrough } from '../ledger/close.ts';
import { departmentLocks } from '../mirror/department-locks.ts';
import type { CalendarDate } from '../terms.ts';
import { closedInErp } from './erp-locks.ts';

/** What is to be posted on another day: an entry, or a day's summary. */
export interface LatePosting {
  id: string;
  date: CalendarDate;
  departments: readonly (number | null)[];
}

/**
 * The first day after the posting's own that is open in the ERP, as it was last read, in our books and in the source. Throws
 * UserError where its own day is closed in our books, is open in the ERP, or no open day has a period there.
 */
export async function openDayFor(
  trx: Connection,
  installation: InstallationConfig,
  { id, date, departments }: LatePosting,
): Promise<CalendarDate> {
  const closed = await closedThrough(trx, installation.id);
  if (closed !== null && date <= closed) {
    throw new UserError(
      {
        code: 'period_closed',
        message: `${id} is dated ${date}, and our own books are closed through ${closed}: it cannot be taken out there.`,
        todo: 'Open the period in the ERP and run `vetledger deliver retry`; or `vetledger ledger reopen`, and decide again.',
      },
      1,
    );
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
    throw new UserError(
      {
        code: 'not_late',
        message: `The period of ${id} (${date}) is open in the ERP, as far as delivery has read.`,
        todo: 'Run `vetledger deliver retry`.',
      },
      1,
    );
  }
  const company = companyKeyOf(installation.erp);
  const stored = company === null ? null : await storedPeriods(trx, company);
  if (stored !== null && obstacleOf(stored.periods, open) === 'missing') {
    throw new UserError(
      {
        code: 'erp_period_missing',
        message: `The first open day for ${id} would be ${open}, and the ERP has no period for it.`,
        todo: 'Create the fiscal year or period in the ERP, run `vetledger deliver`, and decide again.',
      },
      1,
    );
  }
  return open;
}
