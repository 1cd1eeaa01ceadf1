import { tzOffset } from '@date-fns/tz';

/** When windows open by themselves (`schedule` of the configuration). */
export interface Schedule {
  everySeconds: number;
  /** While nothing happens: after so many windows in a row that found nothing. */
  idle?: { everySeconds: number; afterWindows: number };
  /** At night, in the installation's time zone: minutes of the day, `from` inclusive; it may go over midnight. */
  night?: { fromMinute: number; toMinute: number; everySeconds: number };
}

/** What the interval of an installation depends on. */
export interface Situation {
  timezone: string;
  at: Date;
  /** Windows in a row that found nothing, the newest ones. */
  idleWindows: number;
}

const minuteMs = 60_000;
const dayMinutes = 1_440;

/** Seconds between two windows of an installation now: the longest of the intervals that hold. */
export function intervalSeconds(schedule: Schedule, { timezone, at, idleWindows }: Situation): number {
  const { everySeconds, idle, night } = schedule;
  return Math.max(
    everySeconds,
    idle && idleWindows >= idle.afterWindows ? idle.everySeconds : 0,
    night && isNight(night, minuteOfDay(at, timezone)) ? night.everySeconds : 0,
  );
}

function isNight({ fromMinute, toMinute }: NonNullable<Schedule['night']>, minute: number): boolean {
  return fromMinute <= toMinute ? fromMinute <= minute && minute < toMinute : fromMinute <= minute || minute < toMinute;
}

function minuteOfDay(at: Date, timezone: string): number {
  const minutes = Math.floor(at.getTime() / minuteMs) + tzOffset(timezone, at);
  return ((minutes % dayMinutes) + dayMinutes) % dayMinutes;
}

/** How many intervals the books may lag behind the source before that is late. One is usual, and a window takes its time. */
const lateIntervals = 2;
/** Longest time that an ordinary window takes; short intervals are not late for it. */
const graceSeconds = 30;

/**
 * From which lag on an installation is late. A schedule that has just become a faster one is judged by the interval that held when
 * the newest window closed, too: the first window by the new one is still to come.
 */
export function lateAfterSeconds(schedule: Schedule, now: Situation, syncedTo: Date | null): number {
  const interval = Math.max(
    intervalSeconds(schedule, now),
    syncedTo === null ? 0 : intervalSeconds(schedule, { ...now, at: syncedTo }),
  );
  return interval * lateIntervals + graceSeconds;
}

/**
 * How far into each interval the windows of an installation open, as a share of it: the `rank`th of so many has its own, evenly
 * spread. `turn` (from 0 to 1) shifts all of them alike: that of another database on the same servers differs.
 */
export function spreadShare(rank: number, of: number, turn: number): number {
  return (rank / of + turn) % 1;
}
