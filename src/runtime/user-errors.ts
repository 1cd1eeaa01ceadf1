import { errorText, isLostConnection } from '../db/database-errors.ts';
import { codeOf, UserError } from '../domain/errors.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { causeOfRefusal } from '../domain/refusals.ts';
import { ServiceError } from '../embedded/service-error.ts';
import { DialectError } from '../records/dialect.ts';
import { serviceErrors } from '../texts/errors/services.ts';
import { isGrpcServiceError, namespaceMissing } from './temporal-errors.ts';

/**
 * Converts any error into one that a user can act on. Only this function assigns exit codes to errors of other layers.
 */
export function toUserError(error: unknown): UserError {
  if (error instanceof UserError) return error;
  const refusal = causeOfRefusal(error);
  if (refusal) return new UserError(refusal, 3, error);
  if (error instanceof ServiceError) return new UserError(error, 3, error);
  if (error instanceof PracticeError) return new UserError(error, 3, error);
  if (error instanceof DialectError) return new UserError(error, 2, error);
  const namespace = namespaceMissing(error);
  if (namespace) return new UserError(namespace, 3, error);
  const reason = errorText(error);
  if (isGrpcServiceError(error)) return new UserError(serviceErrors.temporalRequestFailed({ reason }), 3, error);
  if (codeOf(error) === '57014') return new UserError(serviceErrors.queryTimeout(), 3, error);
  if (isLostConnection(error)) return new UserError(serviceErrors.postgresConnectionLost({ reason }), 3, error);
  return new UserError(serviceErrors.unexpected({ reason }), 1, error);
}
