import { isLostConnection, tellable } from '../db/database-errors.ts';
import { codeOf, UserError } from '../domain/errors.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { causeOfRefusal } from '../domain/refusals.ts';
import { ServiceError } from '../embedded/service-error.ts';
import { DialectError } from '../records/dialect.ts';
import { isGrpcServiceError, namespaceMissing } from './temporal-errors.ts';

/** Turns any error into one that a user can act on. Only here do the errors of the layers get their exit codes. */
export function toUserError(error: unknown): UserError {
  if (error instanceof UserError) return error;
  const refusal = causeOfRefusal(error);
  if (refusal) return new UserError(refusal.code, refusal.message, refusal.todo, 3, error);
  if (error instanceof ServiceError) return new UserError(error.code, error.message, error.todo, 3, error);
  if (error instanceof PracticeError) return new UserError(error.code, error.message, error.todo, 3, error);
  if (error instanceof DialectError) return new UserError(error.code, error.message, error.todo, 2, error);
  const namespace = namespaceMissing(error);
  if (namespace) return new UserError(namespace.code, namespace.message, namespace.todo, 3, error);
  if (isGrpcServiceError(error)) {
    return new UserError(
      'temporal_unreachable',
      `Temporal did not do what was asked of it: ${tellable(error)}`,
      'Check with `vetledger doctor` that the Temporal server is up.',
      3,
      error,
    );
  }
  if (codeOf(error) === '57014') {
    return new UserError(
      'query_timeout',
      'PostgreSQL did not answer a query in time.',
      'Run `analyze` in PostgreSQL and the command again while no window is under way, for one installation where the command takes --installation.',
      3,
      error,
    );
  }
  if (isLostConnection(error)) {
    return new UserError(
      'postgres_unreachable',
      `The connection to PostgreSQL was lost: ${tellable(error)}`,
      'Check with `vetledger doctor` that the database is up, and run the command again: nothing is posted twice.',
      3,
      error,
    );
  }
  return new UserError(
    'internal_error',
    `Something unexpected went wrong: ${tellable(error)}`,
    'Run the command again with --debug, and report what it prints.',
    1,
    error,
  );
}
