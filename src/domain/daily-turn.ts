import { createHash } from 'node:crypto';
import type { CalendarDate } from '../terms.ts';
import { dateIn, dayAfter, daysFrom, instantOf } from './dates.ts';

/** A span of each day, in minutes of the day. It may end after midnight; it belongs to the day on which it begins. */
export interface DaySpan {
  fromMinute: number;
  toMinute: number;
}

/** One day's turn of an installation. */
export interface Turn {
  /** The date in the installation's time zone. */
  day: CalendarDate;
  at: Date;
}

/** The place of an installation's daily turn. */
export interface TurnPlace {
  span: DaySpan;
  timezone: string;
  /** The position of the turn in the span, from 0 (start) to 1 (end). */
  share: number;
}

/**
 * The position of an installation in a span, by hash, so that it does not move when installations are added or removed.
 */
export function placeByHash(installation: number): number {
  return createHash('sha256').update(String(installation)).digest().readUInt32BE(0) / 2 ** 32;
}

/** The newest turn that is not in the future. */
export function latestTurn(place: TurnPlace, now: Date): Turn {
  // A span that ends after midnight may still be in the future on the day after it begins.
  const today = dateIn(place.timezone, now);
  const turns = [0, -1].map((days) => turnOn(place, daysFrom(today, days)));
  return turns.find(({ at }) => at <= now) ?? turnOn(place, daysFrom(today, -2));
}

/** The turn after this one. */
export function turnAfter(place: TurnPlace, { day }: Turn): Turn {
  return turnOn(place, dayAfter(day));
}

/**
 * Uses elapsed time, so that a span during a clock change is shorter or longer. A span that the change skips has no
 * length.
 */
function turnOn({ span, timezone, share }: TurnPlace, day: CalendarDate): Turn {
  const { fromMinute, toMinute } = span;
  const fromMs = instantAt(day, fromMinute, timezone);
  const toMs = instantAt(fromMinute < toMinute ? day : dayAfter(day), toMinute, timezone);
  return { day, at: new Date(fromMs + Math.floor(share * Math.max(0, toMs - fromMs))) };
}

function instantAt(day: CalendarDate, minute: number, timezone: string): number {
  const two = (n: number) => String(n).padStart(2, '0');
  const instant = instantOf(`${day}T${two(Math.floor(minute / 60))}:${two(minute % 60)}:00`, timezone);
  if (instant === null) throw new RangeError(`no time of day: minute ${minute} of ${day}`);
  return instant.getTime();
}
