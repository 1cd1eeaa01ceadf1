import { tzOffset } from '@date-fns/tz';
import type { CalendarDate } from '../terms.ts';

const datePattern = /^(?<date>(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2}))(?:[T ](?<time>.+))?$/i;
const timePattern =
  /^(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d)(?:[.,](?<fraction>\d+))?)?\s*(?<zone>Z|(?<sign>[+-])(?<hours>[01]\d|2[0-3]):?(?<minutes>[0-5]\d)?)?$/i;

const dayMs = 86_400_000;
const minuteMs = 60_000;

interface Wire {
  date: CalendarDate;
  /** The local time as if it were UTC, in epoch milliseconds. */
  wallMs: number;
  /** Null if the text has no offset: it is local time of the installation's zone. */
  offsetMinutes: number | null;
}

/**
 * The calendar date in `timezone` of a date or timestamp of the source (ACCOUNTING Dates). A plain date is kept; a timestamp
 * without an offset is local time of that zone. Null when it is neither, not an existing day (`2026-02-30`), or outside the
 * years 0001 to 9999 in that zone: no ledger and no column of a database has such a day.
 */
export function businessDate(text: string, timezone: string): CalendarDate | null {
  const wire = parseWire(text);
  if (!wire) return null;
  if (wire.offsetMinutes === null) return wire.date;
  const utcMs = wire.wallMs - wire.offsetMinutes * minuteMs;
  const localMs = utcMs + offsetMs(utcMs, timezone);
  return isInCalendar(localMs) ? dateOf(localMs) : null;
}

/** The calendar date of an instant in `timezone`. */
export function dateIn(timezone: string, instant: Date): CalendarDate {
  const ms = instant.getTime();
  return dateOf(ms + offsetMs(ms, timezone));
}

/** An instant to the second as the clock of `timezone` shows it, with its offset: `2026-01-31 14:05:09 +02:00`. */
export function localTimeOf(instant: Date, timezone: string): string {
  const ms = instant.getTime();
  const minutes = Math.round(offsetMs(ms, timezone) / minuteMs);
  const local = new Date(ms + minutes * minuteMs).toISOString().slice(0, 19).replace('T', ' ');
  const two = (part: number) => String(part).padStart(2, '0');
  const offset = Math.abs(minutes);
  return `${local} ${minutes < 0 ? '-' : '+'}${two(Math.floor(offset / 60))}:${two(offset % 60)}`;
}

/**
 * The instant of a timestamp of the source. Without an offset it is local time of `timezone`, and a plain date is midnight
 * there. A local time repeated at the end of daylight saving time is its first instant; one skipped at the start is shifted
 * by the length of the gap. Null when invalid, or outside the years 0001 to 9999, in UTC or in that zone.
 */
export function instantOf(text: string, timezone: string): Date | null {
  const wire = parseWire(text);
  if (!wire) return null;
  const ms = utcMsOf(wire, timezone);
  return isInCalendar(ms) && isInCalendar(ms + offsetMs(ms, timezone)) ? new Date(ms) : null;
}

function utcMsOf(wire: Wire, timezone: string): number {
  if (wire.offsetMinutes !== null) return wire.wallMs - wire.offsetMinutes * minuteMs;
  const before = offsetMs(wire.wallMs - dayMs, timezone);
  const after = offsetMs(wire.wallMs + dayMs, timezone);
  const instants = [wire.wallMs - before, wire.wallMs - after].filter(
    (ms) => ms + offsetMs(ms, timezone) === wire.wallMs,
  );
  return instants.length > 0 ? Math.min(...instants) : wire.wallMs - before;
}

/** Whether a timestamp of the source is written with an offset or `Z`; otherwise it is local time. */
export function hasOffset(timestamp: string): boolean {
  return /(Z|[+-]\d{2}:?\d{2})$/i.test(timestamp.trim());
}

/** Whether this local time occurs again an hour later (end of daylight saving time). `instantOf` returns the first. */
export function occursTwice(instant: Date, timezone: string): boolean {
  const ms = instant.getTime();
  const hourMs = 60 * minuteMs;
  return offsetMs(ms + hourMs, timezone) === offsetMs(ms, timezone) - hourMs;
}

/** Whether the text is an existing day, written `YYYY-MM-DD`. */
export function isCalendarDate(text: string): boolean {
  const wire = parseWire(text);
  return wire !== null && wire.date === text;
}

/** Whether the runtime knows this time zone. */
export function isTimezone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

/** The locks that close past periods; each null when there is none. */
export interface PeriodLock {
  /** Last closed day of our own books. */
  closedThrough: CalendarDate | null;
  /** Earliest open day by the source's lock. */
  earliestOpen: CalendarDate | null;
  /** Days that are closed elsewhere, in order and without overlap. */
  closedDays?: readonly ClosedDays[];
}

/** Consecutive closed days, both ends inclusive. `from` is null if all earlier days are closed. */
export interface ClosedDays {
  from: CalendarDate | null;
  through: CalendarDate;
}

/** The first open day on or after `from` (ACCOUNTING Dates: "Locked"). */
export function firstOpenDay(from: CalendarDate, lock: PeriodLock): CalendarDate {
  const afterClose = lock.closedThrough === null ? from : dayAfter(lock.closedThrough);
  let open = latestDate(from, afterClose, lock.earliestOpen ?? from);
  for (const closed of lock.closedDays ?? []) {
    if ((closed.from === null || closed.from <= open) && open <= closed.through) open = dayAfter(closed.through);
  }
  return open;
}

/** The latest of the dates. */
export function latestDate(first: CalendarDate, ...others: CalendarDate[]): CalendarDate {
  return [first, ...others].sort().at(-1) ?? first;
}

/** The next day of the calendar. */
export function dayAfter(date: CalendarDate): CalendarDate {
  return daysFrom(date, 1);
}

/** The day `days` later; earlier if it is negative. */
export function daysFrom(date: CalendarDate, days: number): CalendarDate {
  return dateOf(Date.parse(`${date}T00:00:00Z`) + days * dayMs);
}

/** Days from one day to another; negative if the second is earlier. */
export function daysBetween(from: CalendarDate, to: CalendarDate): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMs);
}

/** The first and the last day of a month (`2026-02`). */
export function monthBounds(month: string): { from: CalendarDate; through: CalendarDate } {
  const from = `${month}-01`;
  return { from, through: daysFrom(`${daysFrom(from, 31).slice(0, 7)}-01`, -1) };
}

/** The first day of the fiscal year that contains a day. `firstMonth` is the first month of fiscal years, from 1. */
export function fiscalYearStart(date: CalendarDate, firstMonth: number): CalendarDate {
  const [year, month] = [Number(date.slice(0, 4)), Number(date.slice(5, 7))];
  const start = new Date(0);
  start.setUTCFullYear(month < firstMonth ? year - 1 : year, firstMonth - 1, 1);
  return dateOf(start.getTime());
}

function parseWire(text: string): Wire | null {
  const day = datePattern.exec(text.trim())?.groups;
  if (!day?.date) return null;
  // Date.UTC reads the years 0 to 99 as 1900 to 1999, and a day that does not exist as a day of the next month.
  const [month, ofMonth] = [Number(day.month) - 1, Number(day.day)];
  const date = new Date(0);
  const dayStart = date.setUTCFullYear(Number(day.year), month, ofMonth);
  if (!isInCalendar(dayStart) || date.getUTCMonth() !== month || date.getUTCDate() !== ofMonth) return null;
  if (day.time === undefined) return { date: day.date, wallMs: dayStart, offsetMinutes: null };
  const time = timePattern.exec(day.time)?.groups;
  if (!time) return null;
  // Computed from the digits, because 32.352 × 1000 as floats is less than 32352.
  const ms = Number(time.second ?? '0') * 1000 + Number((time.fraction ?? '').padEnd(3, '0').slice(0, 3));
  const wallMs = dayStart + minutesOf(time.hour, time.minute) * minuteMs + ms;
  const offset = minutesOf(time.hours, time.minutes);
  return { date: day.date, wallMs, offsetMinutes: !time.zone ? null : time.sign === '-' ? -offset : offset };
}

function minutesOf(hours = '0', minutes = '0'): number {
  return Number(hours) * 60 + Number(minutes);
}

function offsetMs(utcMs: number, timezone: string): number {
  return offsetOfDay(Math.floor(utcMs / dayMs), timezone) ?? readOffsetMs(utcMs, timezone);
}

/** Limit of cached days per zone: a dozen years. */
const keptDays = 5_000;
const offsetsOfDays = new Map<string, Map<number, number | null>>();

/**
 * The offset of a zone on a UTC day, counted from 1970. Null on a day on which it changes. Cached, because every record
 * has timestamps, and Intl takes a microsecond or more for each.
 */
function offsetOfDay(day: number, timezone: string): number | null {
  const known = offsetsOfDays.get(timezone) ?? new Map<number, number | null>();
  offsetsOfDays.set(timezone, known);
  const kept = known.get(day);
  if (kept !== undefined) return kept;
  const atStart = readOffsetMs(day * dayMs, timezone);
  // No zone changes its offset and changes it back within a day.
  const found = atStart === readOffsetMs((day + 1) * dayMs, timezone) ? atStart : null;
  if (known.size >= keptDays) known.clear();
  known.set(day, found);
  return found;
}

function readOffsetMs(utcMs: number, timezone: string): number {
  return tzOffset(timezone, new Date(utcMs)) * minuteMs;
}

const firstMs = Date.parse('0001-01-01T00:00:00Z');
const endMs = Date.parse('9999-12-31T23:59:59.999Z');

/** Whether the year has four digits and is not 0000. */
function isInCalendar(ms: number): boolean {
  return ms >= firstMs && ms <= endMs;
}

function dateOf(ms: number): CalendarDate {
  return new Date(ms).toISOString().slice(0, 10);
}
