import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import { InstallationDiffers } from '../src/bookkeeping/identity.ts';
import { MappingSuperseded } from '../src/bookkeeping/mapping-versions.ts';
import { errorText, isLostConnection, isRetriable } from '../src/db/database-errors.ts';
import { LeaseExpired, LeaseLost } from '../src/db/lease.ts';
import { UserError } from '../src/domain/errors.ts';
import { PracticeError } from '../src/domain/practice-error.ts';
import { redact } from '../src/domain/redact.ts';
import { causeOfRefusal } from '../src/domain/refusals.ts';
import { postgresText } from '../src/domain/text.ts';
import { isPlainError } from '../src/domain/trouble.ts';
import { ListUnprovable } from '../src/sync/walk/types.ts';
import { serviceErrors } from '../src/texts/errors/services.ts';
import { windowErrors } from '../src/texts/errors/windows.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
import { NoProgress } from './attempts.ts';
import { NotServed } from './deps.ts';

/**
 * Turns an error into the failure that Temporal receives. A retryable PracticeError is retried after the delay that the
 * source requested; other domain errors fail the window at once. The details hold the plain error for the commands. Any
 * other error is returned unchanged, and Temporal retries it within the limits of heartbeat.ts.
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
    const plain = serviceErrors.listUnprovable({ reason: error.message });
    return ApplicationFailure.nonRetryable(error.message, plain.code, plain);
  }
  // This failure is retryable, because the next attempt reads the mapping in force.
  if (error instanceof MappingSuperseded) {
    return ApplicationFailure.retryable(error.message, error.code, plainErrorOf(error));
  }
  if (error instanceof LeaseLost || error instanceof UserError) return fatal(plainErrorOf(error));
  if (
    error instanceof LeaseExpired ||
    error instanceof NoProgress ||
    error instanceof NotServed ||
    error instanceof InstallationDiffers
  ) {
    return ApplicationFailure.retryable(error.message, error.code, plainErrorOf(error));
  }
  if (isLostConnection(error)) {
    const plain = serviceErrors.postgresConnectionLostInWindow({ reason: errorText(error) });
    return ApplicationFailure.retryable(plain.message, plain.code, plain);
  }
  if (isRetriable(error)) {
    const plain = serviceErrors.databaseBusy({ reason: errorText(error) });
    return ApplicationFailure.retryable(plain.message, plain.code, plain);
  }
  const refusal = causeOfRefusal(error);
  if (refusal) return ApplicationFailure.retryable(refusal.message, refusal.code, refusal);
  if (error instanceof Error) cleanForHistory(error);
  return error;
}

/** Limit of an unexpected error's message in a window's row. */
const messageCharacters = 500;

/**
 * The error to report if an attempt failed for an unknown reason. Null if the reason is known, or if the activity was
 * cancelled. `failure` is the result of `toFailure`.
 */
export function unexplainedError(error: unknown, failure: unknown): PlainError | null {
  if (error instanceof NoProgress) return plainErrorOf(error);
  if (error instanceof TemporalFailure || failure !== error) return null;
  const message = (error instanceof Error ? error.message : errorText(error)).slice(0, messageCharacters);
  return windowErrors.unexpected({ reason: message });
}

/** The domain error in a failure's details; null if there is none. */
export function plainErrorIn(failure: unknown): PlainError | null {
  if (!(failure instanceof ApplicationFailure)) return null;
  const detail: unknown = failure.details?.[0];
  return isPlainError(detail) ? plainErrorOf(detail) : null;
}

/** Whether Temporal must not retry the activity after this failure. */
export function isFinal(failure: unknown): boolean {
  return failure instanceof ApplicationFailure && failure.nonRetryable === true;
}

/** Makes a copy of the failure that Temporal does not retry. */
export function finalFailure(failure: unknown): unknown {
  if (failure instanceof ApplicationFailure) {
    const { message, type, details } = failure;
    return ApplicationFailure.create({
      message,
      nonRetryable: true,
      ...(type ? { type } : {}),
      details: details ?? [],
    });
  }
  const isUnexpected = failure instanceof Error && !(failure instanceof TemporalFailure);
  return isUnexpected ? ApplicationFailure.fromError(failure, { nonRetryable: true }) : failure;
}

export function fatal(error: PlainError): ApplicationFailure {
  return ApplicationFailure.nonRetryable(error.message, error.code, error);
}

/** Copies only the common fields of a domain error. The other fields must not get into a history. */
export function plainErrorOf({ code, message, todo }: PlainError): PlainError {
  return { code, message, todo };
}

/**
 * Removes secrets, values of statements and ill-formed characters from an error's message, stack and causes. Temporal's
 * server refuses a failure with ill-formed text, and would wait for the activity until its time-out.
 */
function cleanForHistory(error: Error): void {
  const { message, stack = '' } = error;
  const cleaned = errorText(error);
  error.message = cleaned;
  error.stack = postgresText(redact(stack.replace(message, () => cleaned)));
  if (error.cause instanceof Error) cleanForHistory(error.cause);
  else if (error.cause !== undefined) error.cause = undefined;
}
