import { hash } from 'node:crypto';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { markDatesReached, markForChangedConditions } from '../documents/mark.ts';
import { businessDate, dayAfter } from '../domain/dates.ts';
import { closedThrough } from '../ledger/close.ts';
import { departmentLocks } from '../mirror/department-locks.ts';
import { readConditionsHash, storeConditionsHash, storeLatestDaysThrough } from '../mirror/installation-state.ts';
import { closedInErp, noteClosedInErp } from './erp-locks.ts';
import { markLatestDays } from './latest-days.ts';

/**
 * Whether the mapping, start date, time zone, closed period, a lock date or a period of the ERP has changed since the
 * last marking.
 */
export async function haveConditionsChanged(db: Connection, installation: InstallationConfig): Promise<boolean> {
  return (await readConditionsHash(db, installation.id)) !== (await conditionsHash(db, installation));
}

/**
 * Marks documents that may be posted now, because a condition changed or the date of a document in the future has come
 * (ACCOUNTING "Held"). Runs in the caller's transaction.
 */
export async function markAfterChangedConditions(
  trx: Connection,
  installation: InstallationConfig,
  clock: (() => Date) | null = null,
): Promise<void> {
  const today = clock && businessDate(clock().toISOString(), installation.timezone);
  if (today !== null) await markDatesReached(trx, installation.id, dayAfter(today));
  const conditions = await conditionsHash(trx, installation);
  if ((await readConditionsHash(trx, installation.id)) !== conditions) {
    await noteClosedInErp(trx, installation.id, await closedInErp(trx, installation));
    await markForChangedConditions(trx, installation.id);
    await storeLatestDaysThrough(trx, installation.id, null);
    await storeConditionsHash(trx, installation.id, conditions);
  }
  if (today !== null) await markLatestDays(trx, installation, today);
}

/** A hash of the conditions, besides a document's facts, that decide whether it is posted. */
async function conditionsHash(db: Connection, installation: InstallationConfig): Promise<string> {
  const { id, mappingHash, startDate, timezone } = installation;
  const lockDates = [...(await departmentLocks(db, id))];
  const conditions = [mappingHash, startDate, timezone, await closedThrough(db, id), lockDates];
  const inErp = await closedInErp(db, installation);
  // If the ERP has no closed days, they are not part of the hash. So the hash is the same as in books without delivery.
  return hash('sha256', JSON.stringify(inErp.length > 0 ? [...conditions, inErp] : conditions));
}
