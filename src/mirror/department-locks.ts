import { date, integer, nullable } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import type { CalendarDate } from '../terms.ts';

/**
 * The lock dates of all departments whose settings were read, as they were read last. Null if the source locks no
 * period (table `department_lock`).
 */
export async function departmentLocks(db: Connection, installation: number): Promise<Map<number, CalendarDate | null>> {
  const found = await rows(
    db,
    { department: integer, lock_date: nullable(date) },
    'select department, lock_date from department_lock where installation = ? order by department',
    [installation],
  );
  return new Map(found.map(({ department, lock_date }) => [department, lock_date]));
}

export async function storeDepartmentLock(
  db: Connection,
  installation: number,
  department: number,
  lockDate: CalendarDate | null,
): Promise<void> {
  await execute(
    db,
    `insert into department_lock (installation, department, lock_date) values (?, ?, ?)
     on conflict (installation, department) do update set
       lock_date = excluded.lock_date`,
    [installation, department, lockDate],
  );
}
