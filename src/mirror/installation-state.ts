import { bool, date, instant, nullable, oneOf, text } from '../db/columns.ts';
import { type Connection, execute, maybeRow, row } from '../db/rows.ts';
import type { CalendarDate } from '../terms.ts';

/** What vetledger notes of an installation from window to window (table `installation_state`). */

/** Hash of the conditions under which documents were last judged; null before the first window. */
export async function readConditionsHash(db: Connection, installation: number): Promise<string | null> {
  const sql = 'select conditions_hash from installation_state where installation = ?';
  return (await maybeRow(db, { conditions_hash: nullable(text) }, sql, [installation]))?.conditions_hash ?? null;
}

export async function noteConditionsHash(db: Connection, installation: number, hash: string): Promise<void> {
  await execute(
    db,
    `insert into installation_state (installation, conditions_hash) values (?, ?)
     on conflict (installation) do update set conditions_hash = excluded.conditions_hash`,
    [installation, hash],
  );
}

/**
 * What a window that opens goes by: the start date of the last one, null when it had none and undefined before the first window; and
 * whether a webhook has asked for the one that opens now.
 */
export async function notedAtOpening(
  db: Connection,
  installation: number,
): Promise<{ startDate: CalendarDate | null | undefined; isNudged: boolean }> {
  const noted = await maybeRow(
    db,
    { start_date: nullable(date), isStartNoted: bool, isNudged: bool },
    `select start_date, start_date_noted_at is not null as "isStartNoted", pending_nudges > 0 as "isNudged"
     from installation_state where installation = ?`,
    [installation],
  );
  return { startDate: noted?.isStartNoted ? noted.start_date : undefined, isNudged: noted?.isNudged ?? false };
}

export async function noteStartDate(
  db: Connection,
  installation: number,
  startDate: CalendarDate | null,
): Promise<void> {
  await execute(
    db,
    `insert into installation_state (installation, start_date, start_date_noted_at) values (?, ?, clock_timestamp())
     on conflict (installation) do update set
       start_date = excluded.start_date, start_date_noted_at = excluded.start_date_noted_at`,
    [installation, startDate],
  );
}

/**
 * Notes that webhooks asked for a window, so that the window can say so: the trigger of a Temporal schedule carries no reason.
 * At most two are pending, since the schedule buffers one: the window being opened and the one after it. While a window is
 * open, only the one after it can be pending.
 */
export async function noteNudge(db: Connection, installation: number): Promise<void> {
  await execute(
    db,
    `insert into installation_state as s (installation, pending_nudges, nudged_at) values (?, 1, clock_timestamp())
     on conflict (installation) do update set nudged_at = excluded.nudged_at, pending_nudges = least(
       s.pending_nudges + 1,
       case when exists (
         select from sync_window where installation = s.installation and kind = 'window' and outcome = 'open'
       ) then 1 else 2 end)`,
    [installation],
  );
}

/**
 * Takes the nudge of the window that has opened, where it was nudged. What came while it opened is for the one after it, which the
 * Schedule buffers: one.
 */
export async function takeNudge(trx: Connection, installation: number, wasNudged: boolean): Promise<void> {
  const [own, most] = wasNudged ? [1, 0] : [0, 1];
  await execute(
    trx,
    'update installation_state set pending_nudges = least(pending_nudges - ?, 1) where installation = ? and pending_nudges > ?',
    [own, installation, most],
  );
}

/** When the latest webhook that asked for a window came; null when none has. */
export async function latestNudge(db: Connection, installation: number): Promise<Date | null> {
  const sql = 'select nudged_at from installation_state where installation = ?';
  return (await maybeRow(db, { nudged_at: nullable(instant) }, sql, [installation]))?.nudged_at ?? null;
}

/** Notes a census; one that was asked for does not put off the daily one. Returns whether it was the daily one. */
export async function noteCensusTaken(db: Connection, installation: number): Promise<boolean> {
  const isDaily = (await censusDue(db, installation)) === 'daily';
  await execute(
    db,
    `insert into installation_state (installation, census_taken_at) values (?, clock_timestamp())
     on conflict (installation) do update set census_asked = false,
       census_taken_at = case when ? then excluded.census_taken_at else installation_state.census_taken_at end`,
    [installation, isDaily],
  );
  return isDaily;
}

/** Has the next window take a census, before a day has passed since the last one. */
export async function askCensus(db: Connection, installation: number): Promise<void> {
  await execute(db, 'update installation_state set census_asked = true where installation = ?', [installation]);
}

/**
 * Why a census is due: none was taken within 24 hours, or one was asked for since. `count`: none is, but records are missing, so
 * that the lists are counted in case they are shown again. Null: nothing is to be counted.
 */
export async function censusDue(db: Connection, installation: number): Promise<'daily' | 'asked' | 'count' | null> {
  const { due } = await row(
    db,
    { due: nullable(oneOf(['daily', 'asked', 'count'] as const)) },
    `select case
       when not exists (select from installation_state
         where installation = ? and census_taken_at > clock_timestamp() - interval '24 hours') then 'daily'
       when exists (select from installation_state where installation = ? and census_asked) then 'asked'
       when exists (select from mirror_record where installation = ? and missing_at is not null) then 'count' end as due`,
    [installation, installation, installation],
  );
  return due;
}
