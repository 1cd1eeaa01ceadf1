import type { InstallationConfig } from '../config/load-config.ts';
import type { Transact } from '../db/lease.ts';
import type { Connection } from '../db/rows.ts';
import { departmentLocks, storeDepartmentLock } from '../mirror/department-locks.ts';
import type { CalendarDate } from '../terms.ts';

/** A department's lock date in the source, or null. */
export type LockDateOf = (department: number) => Promise<CalendarDate | null>;

/**
 * Reads the settings of a department from the practice API; `unknown` if it does not answer or its answer is unusable.
 */
export interface LockDateSource {
  departmentSettings(department: number): Promise<{ lockDate: CalendarDate | null } | 'unknown'>;
}

/**
 * Present lock dates of the source, each requested once and not stored. If the source gives none, the last stored one
 * is used.
 */
export function currentLockDates(db: Connection, source: LockDateSource, installation: number): LockDateOf {
  const known = new Map<number, CalendarDate | null>();
  return async (department) => {
    const before = known.get(department);
    if (before !== undefined) return before;
    const settings = await source.departmentSettings(department);
    const lockDate = settings === 'unknown' ? await storedLockDate(db, installation, department) : settings.lockDate;
    known.set(department, lockDate);
    return lockDate;
  };
}

/**
 * Present lock dates of the source, each stored. If the source gives none, calls `onUnknown` and uses the last stored
 * one (field-notes).
 */
export function storedLockDates(
  { db, transact }: { db: Connection; transact: Transact },
  source: LockDateSource,
  installation: number,
  onUnknown: (department: number) => void,
): LockDateOf {
  return async (department) => {
    const settings = await source.departmentSettings(department);
    if (settings === 'unknown') {
      onUnknown(department);
      return storedLockDate(db, installation, department);
    }
    const { lockDate } = settings;
    await transact((trx) => storeDepartmentLock(trx, installation, department, lockDate));
    return lockDate;
  };
}

/** Lock dates as last stored; sends no request to the source. */
export function knownLockDates(db: Connection, installation: number): LockDateOf {
  return (department) => storedLockDate(db, installation, department);
}

/** Requests all known lock dates again if the mapping follows them, since a later lock date may release documents. */
export async function refreshLockDates(
  db: Connection,
  { id, mapping }: InstallationConfig,
  lockDateOf: LockDateOf,
): Promise<void> {
  if (!mapping.policies.follow_source_lock) return;
  for (const department of (await departmentLocks(db, id)).keys()) await lockDateOf(department);
}

/** Whether a lock date differs from the stored one, if the mapping follows lock dates. */
export async function haveLockDatesMoved(
  db: Connection,
  { id, mapping }: InstallationConfig,
  lockDateOf: LockDateOf,
): Promise<boolean> {
  if (!mapping.policies.follow_source_lock) return false;
  for (const [department, stored] of await departmentLocks(db, id)) {
    if ((await lockDateOf(department)) !== stored) return true;
  }
  return false;
}

async function storedLockDate(db: Connection, installation: number, department: number): Promise<CalendarDate | null> {
  return (await departmentLocks(db, installation)).get(department) ?? null;
}
