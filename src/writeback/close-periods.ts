import { date, integer, nullable } from '../db/columns.ts';
import type { Transact } from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, row, rows } from '../db/rows.ts';
import { backoffMs } from '../domain/backoff.ts';
import { dayAfter } from '../domain/dates.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { postgresText } from '../domain/text.ts';
import { closedFromTheBeginning, storedPeriods } from '../erp/periods.ts';
import type { PracticeClient } from '../practice/client.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import { writeBackTexts } from '../texts/findings/write-back.ts';

const waits = { firstMs: 300_000, longestMs: 86_400_000 };

export interface ClosePeriodsPorts {
  db: Db;
  transact: Transact;
  client: Pick<PracticeClient, 'periodLock' | 'setLockDate'>;
  signal: AbortSignal;
  onClosed(department: number, through: CalendarDate): void;
  onRefused(department: number, message: string): void;
}

/**
 * Writes the period that is closed in the ERP, as the delivery last read it, to the departments of the practice
 * software. Each department's lock date moves forward to the day after, and never back. Departments that lock their
 * periods automatically are left alone. A failed request is tried again later.
 */
export async function closeSourcePeriods(
  installation: InstallationId,
  company: string,
  ports: ClosePeriodsPorts,
): Promise<void> {
  const { db, transact, signal } = ports;
  const stored = await storedPeriods(db, company);
  const through = stored === null ? null : closedFromTheBeginning(stored.periods);
  if (through === null) return;
  await transact((trx) => planDepartments(trx, installation, through));
  for (const planned of await dueDepartments(db, installation)) {
    signal.throwIfAborted();
    const outcome = await closeOne(planned, ports);
    await transact((trx) => recordOutcome(trx, installation, planned, outcome));
  }
}

interface Planned {
  department: number;
  through: CalendarDate;
  attempts: number;
}

interface Outcome {
  state: 'done' | 'left' | 'failed';
  error: string | null;
}

async function closeOne({ department, through }: Planned, ports: ClosePeriodsPorts): Promise<Outcome> {
  const { client, signal, onClosed, onRefused } = ports;
  const earliestOpen = dayAfter(through);
  try {
    const before = await client.periodLock(department);
    if (before.lockDate !== null && before.lockDate >= earliestOpen) return { state: 'done', error: null };
    if (before.isAutomatic) return { state: 'left', error: null };
    await client.setLockDate(department, earliestOpen);
    const { lockDate } = await client.periodLock(department);
    if (lockDate !== null && lockDate >= earliestOpen) {
      onClosed(department, through);
      return { state: 'done', error: null };
    }
    const current = lockDate ?? writeBackTexts.noLockDate;
    const error = writeBackTexts.lockDateNotShown({ lockDate: earliestOpen, current });
    onRefused(department, error);
    return { state: 'failed', error };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof PracticeError)) throw error;
    onRefused(department, error.message);
    return { state: 'failed', error: error.message };
  }
}

/** Plans a new lock date for every department with postings if a later day is closed than was planned before. */
async function planDepartments(trx: Connection, installation: InstallationId, through: CalendarDate): Promise<void> {
  const { asked } = await row(
    trx,
    { asked: nullable(date) },
    'select max(through) as asked from source_period where installation = ?',
    [installation],
  );
  if (asked !== null && asked >= through) return;
  await execute(
    trx,
    `insert into source_period (installation, department, through)
     select distinct ?::bigint, l.department_id, ?::date from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and l.department_id is not null
     on conflict (installation, department) do update set through = excluded.through, state = 'pending', attempts = 0,
       not_before = null, error = null`,
    [installation, through, installation],
  );
}

function dueDepartments(db: Connection, installation: InstallationId): Promise<Planned[]> {
  return rows(
    db,
    { department: integer, through: date, attempts: integer },
    `select department, through, attempts from source_period
     where installation = ? and state in ('pending', 'failed') and (not_before is null or not_before <= clock_timestamp())
     order by department`,
    [installation],
  );
}

async function recordOutcome(
  trx: Connection,
  installation: InstallationId,
  { department, through, attempts }: Planned,
  { state, error }: Outcome,
): Promise<void> {
  const waitSeconds = backoffMs(attempts + 1, waits) / 1000;
  await execute(
    trx,
    `update source_period set state = ?, error = ?, attempts = attempts + 1,
       not_before = case when ?::boolean then clock_timestamp() + make_interval(secs => ?) end
     where installation = ? and department = ? and through = ?`,
    [
      state,
      error === null ? null : postgresText(error),
      state === 'failed',
      waitSeconds,
      installation,
      department,
      through,
    ],
  );
}
