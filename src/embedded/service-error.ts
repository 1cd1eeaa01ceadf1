import { redact } from '../domain/redact.ts';
import { serverErrors } from '../texts/errors/servers.ts';
import type { PlainError } from '../texts/plain-error.ts';

/** PostgreSQL, Temporal or the demo's Tryton cannot be used. The texts contain no secret. */
export class ServiceError extends Error {
  readonly code: string;
  readonly todo: string;

  constructor({ code, message, todo }: PlainError, cause?: unknown) {
    super(redact(message), cause === undefined ? undefined : { cause });
    this.name = 'ServiceError';
    this.code = code;
    this.todo = todo;
  }
}

/**
 * The message of any error. Node.js reports one error per tried address as an AggregateError; its first error is used.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (error instanceof Error) return error.message || error.name;
  return String(error);
}

/** The error of an embedded server that did not start. `setting` is the configuration key that names another server. */
export function startFailure(
  code: 'postgres_start_failed' | 'temporal_start_failed',
  dataDir: string,
  logFile: string,
  setting: string,
  cause: unknown,
): ServiceError {
  const server = code === 'postgres_start_failed' ? 'PostgreSQL' : 'Temporal server';
  const failure = { code, server, folder: dataDir, reason: reasonOf(cause) };
  const isFull = /ENOSPC|No space left on device|disk is full/i.test(failure.reason);
  const isForbidden = ['EACCES', 'EPERM', 'EROFS'].includes((cause as NodeJS.ErrnoException)?.code ?? '');
  if (isFull) return new ServiceError(serverErrors.diskFull(failure), cause);
  if (isForbidden) return new ServiceError(serverErrors.folderForbidden(failure), cause);
  return new ServiceError(serverErrors.startFailed({ ...failure, logFile, setting }), cause);
}
