import { redact } from '../domain/redact.ts';

export type ServiceErrorCode =
  | 'postgres_unreachable'
  | 'temporal_unreachable'
  | 'postgres_start_failed'
  | 'temporal_start_failed'
  | 'tryton_install_failed'
  | 'tryton_start_failed';

/** PostgreSQL, Temporal or the demo's Tryton is missing: `message` says what happened, `todo` what to do. Neither contains a secret. */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode;
  readonly todo: string;

  constructor(code: ServiceErrorCode, message: string, todo: string, cause?: unknown) {
    super(redact(message), cause === undefined ? undefined : { cause });
    this.name = 'ServiceError';
    this.code = code;
    this.todo = todo;
  }
}

/** The message of any error. Of Node.js's aggregate errors, which have one error per address tried, the first. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (error instanceof Error) return error.message || error.name;
  return String(error);
}

/** The error of an embedded server that did not start. `setting` is the setting that names another server instead. */
export function startFailure(
  code: 'postgres_start_failed' | 'temporal_start_failed',
  dataDir: string,
  logFile: string,
  setting: string,
  cause: unknown,
): ServiceError {
  const name = code === 'postgres_start_failed' ? 'PostgreSQL' : 'Temporal server';
  const reason = reasonOf(cause);
  const isFull = /ENOSPC|No space left on device|disk is full/i.test(reason);
  const forbidden = ['EACCES', 'EPERM', 'EROFS'].includes((cause as NodeJS.ErrnoException)?.code ?? '');
  return new ServiceError(
    code,
    `The embedded ${name} of ${dataDir} could not be started: ${reason}`,
    isFull
      ? `Make room on the disk of ${dataDir}, or set another data_dir (VETLEDGER_DATA_DIR).`
      : forbidden
        ? `Start as the user who owns ${dataDir}, or set another data_dir (VETLEDGER_DATA_DIR).`
        : `Look at ${logFile}, or set ${setting} to a ${name} of your own.`,
    cause,
  );
}
