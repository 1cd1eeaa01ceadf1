import type { PlainError } from '../texts/plain-error.ts';
import { troubleTexts } from '../texts/trouble.ts';

/** Whether a failure's detail, or stored JSON, is an error as data. */
export function isPlainError(value: unknown): value is PlainError {
  return typeof value === 'object' && value !== null && 'code' in value && 'message' in value && 'todo' in value;
}

/**
 * The error that keeps work from continuing: the last error, how often it occurred without a success in between, and
 * since when.
 */
export interface Trouble {
  error: PlainError;
  times: number;
  /** ISO instants of the first and of the last occurrence of the error. */
  since: string;
  at: string;
  /** ISO instant since which no attempt has succeeded, whatever the errors were. */
  failingSince: string;
}

/** The trouble after one more error. An error with another code starts a new count. */
export function troubleAfter(before: Trouble | null, error: PlainError, now: Date): Trouble {
  const at = now.toISOString();
  const failingSince = before?.failingSince ?? at;
  if (before?.error.code !== error.code) return { error, times: 1, since: at, at, failingSince };
  return { error, times: before.times + 1, since: before.since, at, failingSince };
}

/** The trouble of parallel steps: the last error, with the counts of all steps that have the same code. */
export function joinedTrouble(troubles: readonly Trouble[]): Trouble | null {
  const last = troubles.reduce<Trouble | null>((a, b) => (a === null || b.at > a.at ? b : a), null);
  if (last === null) return null;
  const same = troubles.filter(({ error }) => error.code === last.error.code);
  return {
    ...last,
    times: same.reduce((n, { times }) => n + times, 0),
    since: same.map(({ since }) => since).toSorted()[0] ?? last.since,
  };
}

/** `the practice API answered 500 (14 times since 03:12 UTC)` */
export function troubleText({ error, times, since }: Trouble, now: Date): string {
  const [message, at] = [error.message.replace(/\.$/, ''), timeOf(since, now)];
  return times === 1 ? troubleTexts.once({ message, at }) : troubleTexts.repeated({ message, times, since: at });
}

/** The time of day, with the date if it is not today. */
function timeOf(instant: string, now: Date): string {
  const [day, time] = [instant.slice(0, 10), instant.slice(11, 16)];
  return now.toISOString().startsWith(day) ? `${time} UTC` : `${day} ${time} UTC`;
}

/** Codes of windows that were ended from outside. An earlier error may explain them better. */
export const endCodes = {
  /** The window exceeded its time, and no other cause is known. */
  givenUp: 'window_given_up',
  /** The window was cancelled: by Ctrl-C, a command, or Temporal. */
  cancelled: 'window_cancelled',
  /** The workflow exceeded Temporal's run time-out. */
  timedOut: 'window_timed_out',
  /** The workflow was terminated in Temporal. */
  terminated: 'window_terminated',
  /** The workflow no longer exists, and its end is unknown. */
  interrupted: 'window_interrupted',
} as const;

export type EndCode = (typeof endCodes)[keyof typeof endCodes];

/**
 * The reason of a failed window. A window that exceeded its time failed because of the error that held it up. For a
 * cancelled or terminated window, that error is added to the message.
 */
export function explainedEnd(
  ended: PlainError,
  trouble: Trouble | null,
  { now, limit }: { now: Date; limit: string | null },
): PlainError {
  if (trouble === null) return ended;
  const cause = troubleText(trouble, now);
  if (ended.code === endCodes.givenUp) {
    const { code, todo } = trouble.error;
    return { code, todo, message: troubleTexts.givenUp({ cause, limit: limit ?? '' }) };
  }
  const isAnEnd = Object.values<string>(endCodes).includes(ended.code);
  const message = troubleTexts.endedAfter({ end: ended.message.replace(/\.$/, ''), cause });
  return isAnEnd ? { ...ended, message } : ended;
}

/** `30 min`, `8 s` */
export function limitText(seconds: number): string {
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.round(seconds * 10) / 10} s`;
}
