import type { PlainError } from '../texts/plain-error.ts';

/** Whether a failure's detail, or stored JSON, is an error as data. */
export function isPlainError(value: unknown): value is PlainError {
  return typeof value === 'object' && value !== null && 'code' in value && 'message' in value && 'todo' in value;
}

/** What keeps work from going on: the last error, how often it came with no success between, and since when. */
export interface Trouble {
  error: PlainError;
  times: number;
  /** ISO instants of the first time and of the last one. */
  since: string;
  at: string;
  /** ISO instant since which nothing has succeeded, whatever the errors. */
  failingSince: string;
}

/** The trouble after one more error: another code begins anew. */
export function troubleAfter(before: Trouble | null, error: PlainError, now: Date): Trouble {
  const at = now.toISOString();
  const failingSince = before?.failingSince ?? at;
  if (before?.error.code !== error.code) return { error, times: 1, since: at, at, failingSince };
  return { error, times: before.times + 1, since: before.since, at, failingSince };
}

/** The trouble of work whose steps run side by side: the last one, with every step's of the same code. */
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
  const message = error.message.replace(/\.$/, '');
  return times === 1
    ? `${message} (at ${timeOf(since, now)})`
    : `${message} (${times} times since ${timeOf(since, now)})`;
}

/** Time of day; with the date where it is another day's. */
function timeOf(instant: string, now: Date): string {
  const [day, time] = [instant.slice(0, 10), instant.slice(11, 16)];
  return now.toISOString().startsWith(day) ? `${time} UTC` : `${day} ${time} UTC`;
}

/** Codes of windows that ended for what was done to them; what kept them from going on may say more. */
export const endCodes = {
  /** Its time was over, and nothing else is known. */
  givenUp: 'window_given_up',
  /** Somebody has cancelled it: Ctrl-C, `vetledger`, Temporal. */
  cancelled: 'window_cancelled',
  /** Its workflow took longer than Temporal lets it (the run time-out). */
  timedOut: 'window_timed_out',
  /** Its workflow was terminated in Temporal. */
  terminated: 'window_terminated',
  /** Its workflow is gone, and nothing tells how it ended. */
  interrupted: 'window_interrupted',
} as const;

export type EndCode = (typeof endCodes)[keyof typeof endCodes];

/**
 * Why a window failed, where its end alone does not tell: a window whose time was over failed for what kept it from going on. One
 * that somebody ended says so first.
 */
export function explainedEnd(
  ended: PlainError,
  trouble: Trouble | null,
  { now, limit }: { now: Date; limit: string | null },
): PlainError {
  if (trouble === null) return ended;
  const said = troubleText(trouble, now);
  if (ended.code === endCodes.givenUp) {
    const { code, todo } = trouble.error;
    return { code, todo, message: `${said}; the window was given up${limit === null ? '' : ` after ${limit}`}` };
  }
  const isAnEnd = Object.values<string>(endCodes).includes(ended.code);
  return isAnEnd ? { ...ended, message: `${ended.message.replace(/\.$/, '')}; before that: ${said}` } : ended;
}

/** `30 min`, `8 s` */
export function limitText(seconds: number): string {
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.round(seconds * 10) / 10} s`;
}
