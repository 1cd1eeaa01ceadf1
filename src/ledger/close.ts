import { date } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, maybeRow } from '../db/rows.ts';
import { UserError } from '../domain/errors.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';

/** The last day closed by `vetledger ledger close`, or null. */
export async function closedThrough(db: Connection, installation: InstallationId): Promise<CalendarDate | null> {
  const newest = await maybeRow(
    db,
    { through: date },
    'select through from ledger_close where installation = ? order by closed_at desc limit 1',
    [installation],
  );
  return newest?.through ?? null;
}

/**
 * Closes the books of these installations through a day, all or none of them; nothing is posted on or before that day any more
 * (ACCOUNTING "Locked"). Throws UserError `period_closed` where they are closed through a later day.
 */
export async function closePeriods(
  db: Db,
  installations: readonly InstallationId[],
  through: CalendarDate,
): Promise<void> {
  await db.transaction(async (trx) => {
    for (const installation of installations) await closePeriod(trx, installation, through);
  });
}

async function closePeriod(trx: Connection, installation: InstallationId, through: CalendarDate): Promise<void> {
  const closed = await closedThrough(trx, installation);
  if (closed === through) return;
  if (closed !== null && closed > through) {
    throw new UserError(
      'period_closed',
      `The books of installation ${installation} are closed through ${closed} already.`,
      'A closed period is not opened again; give a later date.',
      2,
    );
  }
  await execute(trx, 'insert into ledger_close (installation, through) values (?, ?)', [installation, through]);
}
