import { tzOffset } from '@date-fns/tz';

/** When windows open automatically (`schedule` of the configuration). */
export interface Schedule {
  everySeconds: number;
  /** The interval after this many windows in a row found nothing. */
  idle?: { everySeconds: number; afterWindows: number };
  /**
   * The interval at night, in the installation's time zone. Minutes of the day, `from` inclusive; the night may end
   * after midnight.
   */
  night?: { fromMinute: number; toMinute: number; everySeconds: number };
}

/** The facts that decide an installation's interval. */
export interface Situation {
  timezone: string;
  at: Date;
  /** Number of newest windows in a row that found nothing. */
  idleWindows: number;
}

const minuteMs = 60_000;
const dayMinutes = 1_440;

/** Seconds between two windows of an installation now: the longest interval that applies. */
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

/** The books are late after this many intervals. A lag of one is usual, and a window takes time. */
const lateIntervals = 2;
/** The longest duration of an ordinary window, so that short intervals do not count as late. */
const graceSeconds = 30;

/**
 * The lag in seconds from which an installation is late. After a change to a faster schedule, the interval at the close
 * of the newest window also counts.
 */
export function lateAfterSeconds(schedule: Schedule, now: Situation, syncedTo: Date | null): number {
  const interval = Math.max(
    intervalSeconds(schedule, now),
    syncedTo === null ? 0 : intervalSeconds(schedule, { ...now, at: syncedTo }),
  );
  return interval * lateIntervals + graceSeconds;
}

/**
 * The offset of an installation's windows in each interval, as a share of the interval. The offsets of the `of` ranks
 * are spread evenly. `turn` (0 to 1) shifts all offsets, and differs between databases on the same servers.
 */
export function spreadShare(rank: number, of: number, turn: number): number {
  return (rank / of + turn) % 1;
}
