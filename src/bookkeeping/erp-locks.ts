import { isDelivered } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load.ts';
import type { Connection } from '../db/rows.ts';
import type { ClosedDays } from '../domain/dates.ts';
import { companyKeyOf } from '../erp/company.ts';
import { closedDays, storedPeriods } from '../erp/periods.ts';

/**
 * The days that are closed in the ERP, as delivery last read them: posting never waits for the ERP. Days before the first one
 * that is delivered are open as far as the ERP is concerned, since nothing of them goes there.
 */
export async function closedInErp(
  db: Connection,
  { erp }: Pick<InstallationConfig, 'erp'>,
): Promise<readonly ClosedDays[]> {
  const company = companyKeyOf(erp);
  const stored = company === null ? null : await storedPeriods(db, company);
  if (stored === null || !isDelivered(erp)) return [];
  const { from } = erp;
  return closedDays(stored.periods).flatMap((days) => {
    if (from === null) return days;
    return days.through < from ? [] : { ...days, from: days.from === null || days.from < from ? from : days.from };
  });
}
