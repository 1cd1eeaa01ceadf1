import { isDelivered } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { date, nullable } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import type { ClosedDays } from '../domain/dates.ts';
import { companyKeyOf } from '../erp/company.ts';
import { closedDays, storedPeriods } from '../erp/periods.ts';
import type { InstallationId } from '../terms.ts';

/**
 * The days that are closed in the ERP, as delivery last read them, so that posting never waits for the ERP. Days before
 * the first delivered day are open, since nothing of them is delivered.
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

/** The days that are closed in the ERP, or were closed when a window read them (table `erp_closed_days`). */
export async function everClosedInErp(
  db: Connection,
  installation: Pick<InstallationConfig, 'id' | 'erp'>,
): Promise<ClosedDays[]> {
  if (!isDelivered(installation.erp)) return [];
  const seen = await rows(
    db,
    { from: nullable(date), through: date },
    `select nullif(from_day, '-infinity') as from, through from erp_closed_days where installation = ?`,
    [installation.id],
  );
  return [...seen, ...(await closedInErp(db, installation))];
}

/** Stores the days that are closed in the ERP now, so that they stay known after the ERP opens them again. */
export async function noteClosedInErp(
  trx: Connection,
  installation: InstallationId,
  closed: readonly ClosedDays[],
): Promise<void> {
  for (const { from, through } of closed) {
    await execute(
      trx,
      `insert into erp_closed_days (installation, from_day, through) values (?, coalesce(?::date, '-infinity'), ?)
       on conflict do nothing`,
      [installation, from, through],
    );
  }
}
