import type { ApiUse } from '../src/domain/api-use.ts';
import type { PlainError } from '../src/domain/errors.ts';
import type { Trouble } from '../src/domain/trouble.ts';
import type { StepProgress } from './deps.ts';

/**
 * Attempts of one activity that end for a reason that no domain error explains: an unexpected error, no progress, a process that
 * died. After so many the window or backfill fails. With the pauses between them (workflows/options.ts, `working`) they take
 * about five minutes. An explained error says itself whether it is tried again, and is not counted.
 */
export const unexplainedAttemptsAtMost = 10;

/**
 * Work that does nothing for so long is stopped and tried again. The longest that one step can take by itself is a request with
 * all its attempts and pauses, nine minutes; waiting for the rate budget or for a lease is progress.
 */
export const noProgressMinutes = 15;

/** What an attempt leaves behind in its last heartbeat, for the next one. */
export interface AttemptNote {
  progress: Omit<StepProgress, 'installation'> | null;
  /** Attempts so far that ended for a reason that nothing explains. */
  unexplained: number;
  /** Whether the attempt came to its end; the process of one that did not has died, or stood still for too long. */
  ended: boolean;
  /** What keeps the activity from going on. */
  trouble: Trouble | null;
  /** What its attempts have cost so far. */
  api: ApiUse;
}

/** The work of an activity stands still. */
export class NoProgress extends Error {
  readonly code = 'no_progress';
  readonly todo = 'nothing: it is tried again by itself';

  constructor(activity: string, step: string | null) {
    super(`${activity} made no progress for ${noProgressMinutes} minutes${step === null ? '' : `, while ${step}`}`);
  }
}

/** How many attempts before this one ended for a reason that nothing explains, by what the last of them left behind. */
export function unexplainedBefore(attempt: number, left: unknown): number {
  if (attempt <= 1) return 0;
  // Not even the heartbeat with which an attempt begins came from any of them.
  if (!isAttemptNote(left)) return attempt - 1;
  return left.ended ? left.unexplained : left.unexplained + 1;
}

export function isAttemptNote(left: unknown): left is AttemptNote {
  return (
    typeof left === 'object' &&
    left !== null &&
    'unexplained' in left &&
    typeof left.unexplained === 'number' &&
    'ended' in left &&
    typeof left.ended === 'boolean'
  );
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
