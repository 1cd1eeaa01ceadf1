import type { OpenStep } from '../src/db/open-steps.ts';
import { windowErrors } from '../src/texts/errors/windows.ts';
import type { PlainError } from '../src/texts/plain-error.ts';

/**
 * After this many unexplained failures of one activity, the window or backfill fails. A failure is unexplained if no
 * domain error explains it: an unexpected error, no progress, or a process that died. With the pauses between attempts
 * (`working` in workflows/options.ts) this takes about five minutes. A domain error says whether it is retried, and is
 * not counted here.
 */
export const unexplainedAttemptsAtMost = 10;

/** Attempts to open a window; each failure counts. The next window sends the requests again. */
export const openingAttemptsAtMost = 3;

/**
 * Attempts of a step in processes whose configuration of the installation differs from the one that opened the window.
 * Each attempt gives a process with the right configuration the chance to take the step. After about two minutes
 * without one, the window fails.
 */
export const differingAttemptsAtMost = 8;

/**
 * An activity without progress for this long is stopped and retried. The longest single operation is a request with all
 * its attempts and pauses: nine minutes. Waiting for the rate budget or for a lease counts as progress.
 */
export const noProgressMinutes = 15;

/** An activity has made no progress for `noProgressMinutes`. */
export class NoProgress extends Error {
  readonly code: string;
  readonly todo: string;

  constructor(activity: string, step: string | null) {
    const { code, message, todo } = windowErrors.noProgress({ activity, minutes: noProgressMinutes, step });
    super(message);
    this.code = code;
    this.todo = todo;
  }
}

/**
 * The number of earlier attempts that ended without an explanation. `left` is the row of these attempts in `open_step`;
 * null if there is none. If the previous attempt did not record its end, its process died. An attempt that left no row
 * could not reach the database, which explains its failure.
 */
export function unexplainedBefore(
  attempt: number,
  left: Pick<OpenStep, 'attempt' | 'isEnded' | 'unexplained'> | null,
): number {
  if (left === null) return attempt === 2 ? 1 : 0;
  return left.unexplained + (!left.isEnded && left.attempt === attempt - 1 ? 1 : 0);
}

/**
 * The error of an activity that is not retried any more. `last` is the error of its last attempt; null if its process
 * died.
 */
export function tooManyAttempts(activity: string, unexplained: number, last: PlainError | null): PlainError {
  return windowErrors.tooManyAttempts({
    code: last?.code ?? 'process_died',
    activity,
    times: unexplained,
    reason: last?.message ?? windowErrors.processDied,
  });
}
