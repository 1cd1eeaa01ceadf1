import { z } from 'zod';
import type { DaySpan } from '../domain/daily-turn.ts';
import type { Schedule } from '../domain/intervals.ts';
import { number, parsed, text } from './scalars.ts';

const unitSeconds = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
]);

/** Reads a length of time such as `30s`, `5m` or `1h` as seconds. Null if it is invalid or shorter than a second. */
function secondsOf(value: string): number | null {
  const parts = /^(\d+(?:\.\d+)?)\s*([smh])$/.exec(value);
  const unit = unitSeconds.get(parts?.[2] ?? '');
  if (!parts || unit === undefined) return null;
  const seconds = Number(parts[1]) * unit;
  return seconds >= 1 ? seconds : null;
}

/** Reads `HH:MM` as the minute of the day. */
function minuteOf(value: string): number | null {
  const parts = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(value);
  return parts ? Number(parts[1]) * 60 + Number(parts[2]) : null;
}

/** Reads `HH:MM-HH:MM`, which may cross midnight. `never` gives the span null. Returns null if the text is invalid. */
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
        'How often a window opens while nothing changes, such as 15m. A window that finds a change, or a webhook, returns to `every`. Default: the same as `every`.',
      ),
    idle_after: number
      .refine((value) => Number.isInteger(value) && value >= 1 && value <= 100, 'must be a whole number from 1 to 100')
      .prefault(6)
      .describe('Number of windows in a row without a change after which `idle` applies.'),
    night: z
      .strictObject({
        from: timeOfDay.describe('Start of the night, HH:MM in the time zone of each installation.'),
        to: timeOfDay.describe('End of the night.'),
        every: length.describe('How often a window opens at night. A webhook still opens one immediately.'),
      })
      .optional()
      .describe('Fewer windows while the clinic is closed. Default: the same as by day.'),
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
  .describe('When windows open automatically.');

/** `reconcile` of the configuration. Null if the daemon does not reconcile. */
export const reconcile = z
  .strictObject({
    between: text
      .transform(parsed(spanOf, 'must be a span of the day such as 01:00-05:00, or never'))
      .prefault('01:00-05:00')
      .describe(
        'The time of day at which `vetledger run` reconciles, HH:MM-HH:MM in the time zone of each installation. The span may cross midnight. The installations are spread over the span. With `never`, the daemon does not reconcile.',
      ),
  })
  .prefault({})
  .transform(({ between }): DaySpan | null => between.span)
  .describe('When the daemon reconciles the books, once a day.');
