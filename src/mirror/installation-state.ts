import { bool, date, instant, nullable, oneOf, text } from '../db/columns.ts';
import { type Connection, execute, maybeRow, row } from '../db/rows.ts';
import type { CalendarDate } from '../terms.ts';

/** State of an installation that is kept from window to window (table `installation_state`). */

/** Hash of the conditions under which documents were last judged. Null before the first window. */
export async function readConditionsHash(db: Connection, installation: number): Promise<string | null> {
  const sql = 'select conditions_hash from installation_state where installation = ?';
  return (await maybeRow(db, { conditions_hash: nullable(text) }, sql, [installation]))?.conditions_hash ?? null;
}

export async function storeConditionsHash(db: Connection, installation: number, hash: string): Promise<void> {
  await execute(
    db,
    `insert into installation_state (installation, conditions_hash) values (?, ?)
     on conflict (installation) do update set conditions_hash = excluded.conditions_hash`,
    [installation, hash],
  );
}

/**
 * The latest days of VAT on payment are marked for invoices dated up to this day. Null if no invoice is marked, or if all must be
 * marked again.
 */
export async function readLatestDaysThrough(db: Connection, installation: number): Promise<CalendarDate | null> {
  const sql = 'select latest_days_through as through from installation_state where installation = ?';
  return (await maybeRow(db, { through: nullable(date) }, sql, [installation]))?.through ?? null;
}

export async function storeLatestDaysThrough(
  db: Connection,
  installation: number,
  through: CalendarDate | null,
): Promise<void> {
  await execute(
    db,
    `insert into installation_state (installation, latest_days_through) values (?, ?::date)
     on conflict (installation) do update set latest_days_through = excluded.latest_days_through`,
    [installation, through],
  );
}

/**
 * The stored state that a new window needs. `startDate` is the start date with which the last window ran: null without
 * a start date, undefined before the first window. `isNudged`: a webhook has requested the window that opens now.
 */
export async function stateAtOpening(
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

export async function storeStartDate(
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
 * Stores that a webhook requested a window, because the trigger of a Temporal schedule carries no reason. At most two
 * requests are pending, since the schedule buffers one: the window that is opening and the next one. While a window is
 * open, only the next one can be pending.
 */
export async function storeNudge(db: Connection, installation: number): Promise<void> {
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
 * Removes the request of the window that has opened, if it was nudged. Requests that arrived while it opened are
 * combined into one, for the next window.
 */
export async function takeNudge(trx: Connection, installation: number, wasNudged: boolean): Promise<void> {
  const [own, most] = wasNudged ? [1, 0] : [0, 1];
  await execute(
    trx,
    'update installation_state set pending_nudges = least(pending_nudges - ?, 1) where installation = ? and pending_nudges > ?',
    [own, installation, most],
  );
}

/** The time of the latest webhook that requested a window. Null if there was none. */
export async function latestNudge(db: Connection, installation: number): Promise<Date | null> {
  const sql = 'select nudged_at from installation_state where installation = ?';
  return (await maybeRow(db, { nudged_at: nullable(instant) }, sql, [installation]))?.nudged_at ?? null;
}

/**
 * Stores that a census was taken. A requested census does not delay the daily one. Returns whether it was the daily
 * one.
 */
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

/** Requests a census in the next window, even if the last one is less than a day old. */
export async function orderCensus(db: Connection, installation: number): Promise<void> {
  await execute(db, 'update installation_state set census_asked = true where installation = ?', [installation]);
}

/**
 * The reason why a census is due. `daily`: the last census is older than 24 hours. `asked`: a census was requested
 * since. `count`: no census is due, but records are missing, so the lists are counted in case the source shows the
 * records again. Null: no count is needed.
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
