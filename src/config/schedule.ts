import { z } from 'zod';
import type { DaySpan } from '../domain/daily-turn.ts';
import type { Schedule } from '../domain/intervals.ts';
import { number, parsed, text } from './scalars.ts';

const unitSeconds = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
]);

/** Seconds of a length of time such as `30s`, `5m`, `1h`; null when it is none, or under a second. */
function secondsOf(value: string): number | null {
  const parts = /^(\d+(?:\.\d+)?)\s*([smh])$/.exec(value);
  const unit = unitSeconds.get(parts?.[2] ?? '');
  if (!parts || unit === undefined) return null;
  const seconds = Number(parts[1]) * unit;
  return seconds >= 1 ? seconds : null;
}

/** The minute of a day that `HH:MM` names. */
function minuteOf(value: string): number | null {
  const parts = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(value);
  return parts ? Number(parts[1]) * 60 + Number(parts[2]) : null;
}

/** The span that `HH:MM-HH:MM` names, which may go over midnight; none for `never`. Null when it is neither. */
function spanOf(value: string): { span: DaySpan | null } | null {
  if (value === 'never') return { span: null };
  const [from = null, to = null, ...more] = value.split('-').map((time) => minuteOf(time.trim()));
  if (from === null || to === null || from === to || more.length > 0) return null;
  return { span: { fromMinute: from, toMinute: to } };
}

const length = text.transform(parsed(secondsOf, 'must be a length of time such as 30s, 5m or 1h, 1s at least'));
const timeOfDay = text.transform(parsed(minuteOf, 'must be a time of day such as 22:00'));

/** `schedule` of the configuration. */
export const schedule = z
  .strictObject({
    every: length.prefault('5m').describe('How often `vetledger run` opens a window: a number with s, m or h.'),
    idle: length
      .optional()
      .describe(
        'How often while nothing happens, such as 15m: most windows find nothing. The first window that finds something, and every webhook, ends it. Absent: as `every`.',
      ),
    idle_after: number
      .refine((value) => Number.isInteger(value) && value >= 1 && value <= 100, 'must be a whole number from 1 to 100')
      .prefault(6)
      .describe('After so many windows in a row that found nothing, `idle` holds.'),
    night: z
      .strictObject({
        from: timeOfDay.describe('When the night begins, HH:MM in the time zone of each installation.'),
        to: timeOfDay.describe('When it ends.'),
        every: length.describe('How often a window opens at night; webhooks still open one at once.'),
      })
      .optional()
      .describe('Fewer windows while the practice is closed. Absent: as by day.'),
  })
  .prefault({ every: '5m' })
  .superRefine(({ every, idle, night }, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (idle !== undefined && idle < every) refuse(['idle'], 'must not be shorter than schedule.every');
    if (night !== undefined && night.every < every)
      refuse(['night', 'every'], 'must not be shorter than schedule.every');
    if (night !== undefined && night.from === night.to) refuse(['night', 'to'], 'must differ from schedule.night.from');
  })
  .transform(
    ({ every, idle, idle_after: afterWindows, night }): Schedule => ({
      everySeconds: every,
      ...(idle === undefined ? {} : { idle: { everySeconds: idle, afterWindows } }),
      ...(night === undefined
        ? {}
        : { night: { fromMinute: night.from, toMinute: night.to, everySeconds: night.every } }),
    }),
  )
  .describe('When windows run by themselves.');

/** `reconcile` of the configuration; null where the daemon does not reconcile. */
export const reconcile = z
  .strictObject({
    between: text
      .transform(parsed(spanOf, 'must be a span of the day such as 01:00-05:00, or never'))
      .prefault('01:00-05:00')
      .describe(
        'Between which times of the day `vetledger run` reconciles, HH:MM-HH:MM in the time zone of each installation; it may go over midnight. Each installation has its own place in it. `never`: it does not.',
      ),
  })
  .prefault({})
  .transform(({ between }): DaySpan | null => between.span)
  .describe('When the books are reconciled by themselves, once a day.');
