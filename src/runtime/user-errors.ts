import { isGrpcServiceError } from '@temporalio/client';
import { isLostConnection } from '../db/errors.ts';
import { UserError } from '../domain/errors.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { ServiceError } from '../embedded/errors.ts';
import { DialectError } from '../records/dialect.ts';

/** Any error as one that a user can act on: the one place where errors of the parts get their exit codes. */
export function toUserError(error: unknown): UserError {
  if (error instanceof UserError) return error;
  if (error instanceof ServiceError) return new UserError(error.code, error.message, error.todo, 3, error);
  if (error instanceof PracticeError) return new UserError(error.code, error.message, error.todo, 3, error);
  if (error instanceof DialectError) return new UserError(error.code, error.message, error.todo, 2, error);
  if (isGrpcServiceError(error)) {
    return new UserError(
      'temporal_unreachable',
      `Temporal did not do what was asked of it: ${messageOf(error)}`,
      'Check with `vetledger doctor` that the Temporal server is up and its namespace exists.',
      3,
      error,
    );
  }
  if (isLostConnection(error)) {
    return new UserError(
      'postgres_unreachable',
      `The connection to PostgreSQL was lost: ${messageOf(error)}`,
      'Check with `vetledger doctor` that the database is up, and run the command again: nothing is posted twice.',
      3,
      error,
    );
  }
  return new UserError(
    'internal_error',
    `Something unexpected went wrong: ${messageOf(error)}`,
    'Run the command again with --debug, and report what it prints.',
    1,
    error,
  );
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message || error.name : String(error);
}
