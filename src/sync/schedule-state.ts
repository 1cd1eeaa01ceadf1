import { bool, instant, integer, nullable, type RowOf, text } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';

/** The times of an installation's windows, and how many of the latest found nothing. */
export interface WindowPace {
  installation: InstallationId;
  /** The time up to which the books reflect the source. Null before the first window closed. */
  syncedTo: Date | null;
  /** When the newest window began, even if it has not closed. */
  openedAt: Date | null;
  /** Number of consecutive closed windows, up to the newest, that found nothing. It is limited to `idleAtMost`. */
  idleWindows: number;
}

/** The pace of each of these installations, in one statement. Backfills and replays do not count. */
export async function windowPaces(
  db: Connection,
  installations: readonly InstallationId[],
  idleAtMost: number,
): Promise<WindowPace[]> {
  return rows(
    db,
    { installation: integer, syncedTo: nullable(instant), openedAt: nullable(instant), idleWindows: integer },
    `select i.id as installation, closed.to_time as "syncedTo", newest.opened_at as "openedAt", idle.n as "idleWindows"
     from unnest(?::bigint[]) with ordinality i(id, place)
     left join lateral (
       select to_time from sync_window where installation = i.id and kind = 'window' and outcome = 'closed'
       order by id desc limit 1) closed on true
     left join lateral (
       select opened_at from sync_window where installation = i.id and kind = 'window' order by id desc limit 1) newest on true
     cross join lateral (
       select least(coalesce(sum(n), 0), ?)::bigint as n from (
         select n, bool_and(found_nothing) over (order by id desc) as still from (
           select id, coalesce(idle_windows, 1) as n, coalesce((counts->>'posted')::bigint, 0) = 0 and not exists (
             select from json_each_text(counts->'pulled') where value <> '0') as found_nothing
           from sync_window where installation = i.id and kind = 'window' and outcome = 'closed'
           order by id desc limit ?) closed) run
       where still) idle
     order by i.place`,
    [installations, idleAtMost, idleAtMost],
  );
}

/**
 * Returns those of the given installations whose newest window began after this time and has ended, with any outcome.
 */
export async function endedSince(
  db: Connection,
  installations: readonly InstallationId[],
  since: Date,
): Promise<InstallationId[]> {
  const found = await rows(
    db,
    { installation: integer },
    `select i.id as installation from unnest(?::bigint[]) i(id)
     cross join lateral (
       select outcome, opened_at from sync_window where installation = i.id and kind = 'window' order by id desc limit 1) newest
     where newest.outcome <> 'open' and newest.opened_at >= ?`,
    [installations, since],
  );
  return found.map(({ installation }) => installation);
}

const counterShape = {
  installation: integer,
  /** Number of ticks that opened no window because they were too late for the catch-up window. */
  missed: integer,
  /** Number of ticks that opened no window because one was running and another was waiting. */
  skipped: integer,
  /** Number of ticks that opened no window because there was no room to wait. */
  dropped: integer,
  paused: bool,
  note: nullable(text),
};

/** The counters of an installation's Schedule. */
export type ScheduleCounters = RowOf<typeof counterShape>;

const watchShape = {
  ...counterShape,
  missedAt: nullable(instant),
  /** When the next window is due. Null if the Schedule is paused, or was not listed yet. */
  nextAt: nullable(instant),
  /** Whether Temporal's list lacked the Schedule. */
  isMissing: bool,
  /** When a daemon last read Temporal's list. */
  seenAt: nullable(instant),
};

/** The last state of an installation's Schedule that the daemon saw. */
export type WatchedSchedule = RowOf<typeof watchShape>;

export function watchedSchedules(
  db: Connection,
  installations: readonly InstallationId[],
  taskQueue: string,
): Promise<WatchedSchedule[]> {
  return rows(
    db,
    watchShape,
    `select installation, missed, skipped, dropped, paused, note, missed_at as "missedAt", next_at as "nextAt",
       is_missing as "isMissing", seen_at as "seenAt"
     from schedule_watch left join schedule_look using (task_queue)
     where installation = any(?) and task_queue = ? and missed is not null`,
    [installations, taskQueue],
  );
}

/**
 * Stores a Schedule before it is created or changed in Temporal, so that the database names every Schedule that opens
 * windows. `restNote` is the note of a resting Schedule.
 */
export async function nameSchedule(
  db: Connection,
  { taskQueue, restNote }: { taskQueue: string; restNote: string },
  installation: InstallationId,
): Promise<void> {
  await execute(
    db,
    `insert into schedule_watch as s (installation, task_queue, paused) values (?, ?, false)
     on conflict (installation, task_queue) do update set paused = false, note = null where s.note = ?`,
    [installation, taskQueue, restNote],
  );
}

/** Stores that a Schedule rests. */
export async function noteResting(
  db: Connection,
  { taskQueue, restNote }: { taskQueue: string; restNote: string },
  installation: InstallationId,
): Promise<void> {
  await execute(db, 'update schedule_watch set paused = true, note = ? where installation = ? and task_queue = ?', [
    restNote,
    installation,
    taskQueue,
  ]);
}

/** All other installations whose Schedule on this task queue does not rest. */
export async function otherSchedules(
  db: Connection,
  { taskQueue, restNote }: { taskQueue: string; restNote: string },
  without: readonly InstallationId[],
): Promise<InstallationId[]> {
  const found = await rows(
    db,
    { installation: integer },
    `select installation from schedule_watch
     where task_queue = ? and note is distinct from ? and installation <> all(?::bigint[]) order by installation`,
    [taskQueue, restNote, without],
  );
  return found.map(({ installation }) => installation);
}

/**
 * Stores the counters of a Schedule, and returns how many ticks opened no window since they were last stored; 0 the
 * first time. Writes nothing if nothing has changed. Counters that became smaller belong to a new Schedule.
 */
export async function noteSchedule(db: Connection, taskQueue: string, counters: ScheduleCounters): Promise<number> {
  const [before] = await watchedSchedules(db, [counters.installation], taskQueue);
  const isSame = (name: keyof ScheduleCounters) => before?.[name] === counters[name];
  if ((Object.keys(counterShape) as (keyof ScheduleCounters)[]).every(isSame)) return 0;
  const { installation, missed, skipped, dropped, paused, note } = counters;
  const grown = before === undefined ? 0 : Math.max(0, missed + dropped - before.missed - before.dropped);
  await execute(
    db,
    `insert into schedule_watch as s (installation, task_queue, missed, skipped, dropped, missed_at, paused, note)
     values (?, ?, ?, ?, ?, case when ? > 0 then clock_timestamp() end, ?, ?)
     on conflict (installation, task_queue) do update set
       missed = excluded.missed, skipped = excluded.skipped, dropped = excluded.dropped,
       missed_at = coalesce(excluded.missed_at, s.missed_at), paused = excluded.paused, note = excluded.note`,
    [installation, taskQueue, missed, skipped, dropped, grown, paused, note],
  );
  return grown;
}

/** A Schedule in Temporal's list. `isMissing`: the list lacks it. */
export type ListedSchedule = Pick<WatchedSchedule, 'installation' | 'nextAt' | 'isMissing'>;

/** Stores Temporal's list of Schedules. Only what has changed is written, and the time of the list once for all. */
export async function noteListed(db: Connection, taskQueue: string, listed: readonly ListedSchedule[]): Promise<void> {
  await execute(
    db,
    `insert into schedule_look (task_queue, seen_at) values (?, clock_timestamp())
     on conflict (task_queue) do update set seen_at = excluded.seen_at`,
    [taskQueue],
  );
  await execute(
    db,
    `update schedule_watch s set next_at = l.next_at, is_missing = l.is_missing
     from unnest(?::bigint[], ?::timestamptz[], ?::boolean[]) l (installation, next_at, is_missing)
     where s.installation = l.installation and s.task_queue = ?
       and (s.next_at, s.is_missing) is distinct from (l.next_at, l.is_missing)`,
    [
      listed.map(({ installation }) => installation),
      listed.map(({ nextAt }) => nextAt),
      listed.map(({ isMissing }) => isMissing),
      taskQueue,
    ],
  );
}
