import { ApplicationFailure } from '@temporalio/common';
import { causeOfFullDisk, tellable } from '../src/db/errors.ts';
import { LeaseExpired, LeaseLost } from '../src/db/lease.ts';
import { type PlainError, UserError } from '../src/domain/errors.ts';
import { PracticeError } from '../src/domain/practice-error.ts';
import { redact } from '../src/domain/redact.ts';
import { storable } from '../src/domain/text.ts';
import { ListUnprovable } from '../src/sync/walk/types.ts';

/**
 * A domain error as Temporal is to treat it. A PracticeError that is retryable is retried, after the delay that the source
 * asked for; the other domain errors fail the window at once. The details carry the plain error for the commands. Any other
 * error is returned as it is, and Temporal retries it.
 */
export function toFailure(error: unknown): unknown {
  if (error instanceof ApplicationFailure) return error;
  if (error instanceof PracticeError) {
    return ApplicationFailure.create({
      message: error.message,
      type: error.code,
      nonRetryable: !error.retryable,
      details: [plainErrorOf(error)],
      ...(error.retryAfterMs === undefined ? {} : { nextRetryDelay: error.retryAfterMs }),
    });
  }
  if (error instanceof ListUnprovable) {
    const plain = {
      code: 'list_unprovable',
      message: `A list of the practice API could not be read completely: ${error.message}.`,
      todo: 'run `vetledger doctor` to see which filters the server honours; nothing was skipped, the next window asks again',
    };
    return ApplicationFailure.nonRetryable(error.message, plain.code, plain);
  }
  if (error instanceof LeaseLost || error instanceof UserError) return fatal(plainErrorOf(error));
  if (error instanceof LeaseExpired) {
    return ApplicationFailure.retryable(error.message, error.code, plainErrorOf(error));
  }
  const full = causeOfFullDisk(error);
  if (full) return ApplicationFailure.retryable(full.message, full.code, full);
  if (error instanceof Error) makeTellable(error);
  return error;
}

/** A failure that is not retried. */
export function fatal(error: PlainError): ApplicationFailure {
  return ApplicationFailure.nonRetryable(error.message, error.code, error);
}

/** Only what every domain error has in common: its other fields do not belong into a history. */
export function plainErrorOf({ code, message, todo }: PlainError): PlainError {
  return { code, message, todo };
}

/**
 * Makes an error fit for a history: without secrets and values of statements, in its stack and causes, too. Temporal's server
 * refuses a failure whose text is not well-formed, and would wait for the activity until its time-out.
 */
function makeTellable(error: Error): void {
  const said = error.message;
  const told = tellable(error);
  const stack = error.stack ?? '';
  error.message = told;
  error.stack = storable(redact(stack.replace(said, () => told)));
  if (error.cause instanceof Error) makeTellable(error.cause);
  else if (error.cause !== undefined) error.cause = undefined;
}
