import { ApplicationFailure } from '@temporalio/common';
import { PracticeError } from '../src/domain/practice-error.ts';
import { ListUnprovable } from '../src/sync/walk/types.ts';
import type { PlainError } from '../workflows/messages.ts';

/** A window that may not go on: its lease was lost, or its cursor moved under it. */
export class WindowConflict extends Error {
  readonly code = 'window_superseded';
  readonly todo = 'nothing: another window of this installation has taken over';
}

/**
 * A domain error as Temporal is to treat it: what can mend itself is tried again (after the delay the source asked for),
 * what cannot fails the window at once. The details carry the plain error for the commands.
 */
export function toFailure(error: unknown): unknown {
  if (error instanceof ApplicationFailure) return error;
  if (error instanceof PracticeError) {
    const plain: PlainError = { code: error.code, message: error.message, todo: error.todo };
    return ApplicationFailure.create({
      message: error.message,
      type: error.code,
      nonRetryable: !error.retryable,
      details: [plain],
      ...(error.retryAfterMs === undefined ? {} : { nextRetryDelay: error.retryAfterMs }),
    });
  }
  if (error instanceof ListUnprovable) {
    return ApplicationFailure.nonRetryable(error.message, 'list_unprovable', {
      code: 'list_unprovable',
      message: `A list of the practice API could not be read completely: ${error.message}.`,
      todo: 'run `vetledger doctor` to see which filters the server honours; nothing was skipped, the next window asks again',
    });
  }
  if (error instanceof WindowConflict) {
    return ApplicationFailure.nonRetryable(error.message, error.code, {
      code: error.code,
      message: error.message,
      todo: error.todo,
    });
  }
  return error;
}
