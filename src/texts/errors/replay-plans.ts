import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

/** Errors of the windows or times that an operator wants to replay. */
export const replayPlanErrors = catalogue('errors/replay-plans.replayPlanErrors', {
  tooScattered: ({ intervals, most }: { intervals: number; most: number }): PlainError => ({
    code: 'replay_too_scattered',
    message: `The windows form ${intervals} separate intervals; one replay can read at most ${most}.`,
    todo: 'Replay them with `--from` and `--to`, which reads everything in between as one interval. Or use several commands.',
  }),
  windowUnknown: ({ installation, windows }: { installation: number; windows: string }): PlainError => ({
    code: 'window_unknown',
    message: `Installation ${installation} has no window ${windows}.`,
    todo: 'Run `vetledger windows --limit 100` to list the windows.',
  }),
  isBackfill: ({ window }: { window: number }): PlainError => ({
    code: 'replay_of_backfill',
    message: `Window ${window} is a backfill.`,
    todo: 'Run `vetledger backfill`.',
  }),
  isOpen: ({ window }: { window: number }): PlainError => ({
    code: 'window_open',
    message: `Window ${window} is still open.`,
    todo: 'Wait until it has ended.',
  }),
  isFirstLoad: ({ window }: { window: number }): PlainError => ({
    code: 'replay_of_load',
    message: `Window ${window} is a first load, which reads the whole history.`,
    todo: 'Run `vetledger sync`, which continues the load, or `vetledger backfill` to read everything again.',
  }),
  neverOpened: ({ window }: { window: number }): PlainError => ({
    code: 'window_untold',
    message: `Window ${window} never opened, so it is unknown what it should have read.`,
    todo: 'Replay its times, which `vetledger windows` shows: `vetledger replay --from … --to …`.',
  }),
  timesEmpty: ({ from, to }: { from: string; to: string }): PlainError => ({
    code: 'replay_times',
    message: `There is nothing to replay from ${from} to ${to}.`,
    todo: 'Give two times in the past, the earlier one first.',
  }),
  timeMissing: (): PlainError => ({
    code: 'replay_times',
    message: '`from` and `to` must be given together.',
    todo: timeFormat,
  }),
  timeInvalid: ({ text }: { text: string }): PlainError => ({
    code: 'replay_times',
    message: `“${text}” is not a time.`,
    todo: timeFormat,
  }),
});

const timeFormat =
  'Write times like 2026-03-01T08:00:00Z, or 2026-03-01 for the beginning of a day in the clinic’s time zone.';

/** The reason why a failed window is left out of a replay of all failed windows. */
export const leftOutTexts = catalogue('errors/replay-plans.leftOutTexts', {
  isFirstLoad: ({ window }: { window: number }): string =>
    `Window ${window} is a first load. \`vetledger sync\` continues it.`,
  neverOpened: ({ window }: { window: number }): string =>
    `Window ${window} never opened, so it is unknown what it should have read. Replay its times.`,
});
