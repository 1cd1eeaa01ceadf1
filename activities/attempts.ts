import type { OpenStep } from '../src/db/open-steps.ts';
import type { PlainError } from '../src/texts/plain-error.ts';

/**
 * Attempts of one activity that end for a reason that no domain error explains: an unexpected error, no progress, a process that
 * died. After so many the window or backfill fails. With the pauses between them (workflows/options.ts, `working`) they take
 * about five minutes. An explained error says itself whether it is tried again, and is not counted.
 */
export const unexplainedAttemptsAtMost = 10;

/** Attempts to open a window; each failure counts. The next window asks the source again. */
export const openingAttemptsAtMost = 3;

/**
 * Attempts of a step whose process understands the installation otherwise than the one that opened its window: another process may take
 * it. Where none does, for some two minutes, the window fails.
 */
export const differingAttemptsAtMost = 8;

/**
 * Work that does nothing for so long is stopped and tried again. The longest that one step can take by itself is a request with
 * all its attempts and pauses, nine minutes; waiting for the rate budget or for a lease is progress.
 */
export const noProgressMinutes = 15;

/** The work of an activity stands still. */
export class NoProgress extends Error {
  readonly code = 'no_progress';
  readonly todo = 'nothing: it is tried again by itself';

  constructor(activity: string, step: string | null) {
    super(`${activity} made no progress for ${noProgressMinutes} minutes${step === null ? '' : `, while ${step}`}`);
  }
}

/**
 * How many attempts before this one ended for a reason that nothing explains, by what they have left; null: nothing. The attempt just
 * before, where it did not come to its end, has died. One that left less did not even reach the database, which explains it.
 */
export function unexplainedBefore(
  attempt: number,
  left: Pick<OpenStep, 'attempt' | 'isEnded' | 'unexplained'> | null,
): number {
  if (left === null) return attempt === 2 ? 1 : 0;
  return left.unexplained + (!left.isEnded && left.attempt === attempt - 1 ? 1 : 0);
}

/** Why an activity is not tried again; `last` is what ended its last attempt, null where its process died. */
export function tooManyAttempts(activity: string, unexplained: number, last: PlainError | null): PlainError {
  return {
    code: last?.code ?? 'process_died',
    message:
      `${activity} failed ${unexplained} times for a reason that nothing explains; the last time: ` +
      (last?.message ?? 'its process died, or stood still'),
    todo: 'nothing is lost: the next window, or `vetledger backfill`, goes on where it was; report it with the log if it stays',
  };
}
