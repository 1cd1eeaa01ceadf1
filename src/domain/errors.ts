import { DialectError } from '../records/dialect.ts';
import { PracticeError } from '../practice/errors.ts';
import { ServiceError } from '../embedded/errors.ts';

/** What a command ends with (DESIGN "Exit codes"); the texts are also those of docs/CLI.md. */
export const exitCodes = {
  0: 'done; held documents are reported and count as done',
  1: 'a check found a difference, or what was asked for does not exist',
  2: 'wrong usage, configuration or mapping file, or a secret written into the configuration',
  3: 'PostgreSQL, Temporal or the practice API cannot be reached, or refuses the credentials, before a window opens',
  4: 'the window of an installation failed; the next scheduled one covers it',
} as const;

export type ErrorExitCode = Exclude<keyof typeof exitCodes, 0>;

/** Anything that stops a command: what happened (`message`), what to do next (`todo`). Neither holds a secret. */
export class UserError extends Error {
  override readonly name: string = 'UserError';
  readonly code: string;
  readonly todo: string;
  readonly exitCode: ErrorExitCode;

  constructor(code: string, message: string, todo: string, exitCode: ErrorExitCode, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.todo = todo;
    this.exitCode = exitCode;
  }
}

/** The configuration, a mapping file, or what a command was called with is wrong (exit code 2). */
export class ConfigError extends UserError {
  override readonly name = 'ConfigError';

  constructor(code: string, message: string, todo: string, cause?: unknown) {
    super(code, message, todo, 2, cause);
  }
}

// PostgreSQL ends a connection with class 57P (shutdown) or 08 (connection); the others are the network's.
const lostDatabase = /^(08\w{3}|57P\d\d|ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|KnexTimeoutError)$/;

/** Any error as one that a user can act on: the one place where errors of the parts get their exit codes. */
export function toUserError(error: unknown): UserError {
  if (error instanceof UserError) return error;
  if (error instanceof ServiceError) return new UserError(error.code, error.message, error.todo, 3, error);
  if (error instanceof PracticeError) return new UserError(error.code, error.message, error.todo, 3, error);
  if (error instanceof DialectError) return new UserError(error.code, error.message, error.todo, 2, error);
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (name === 'ServiceError' && typeof code === 'number') {
    return new UserError(
      'temporal_unreachable',
      `Temporal did not do what was asked of it: ${messageOf(error)}`,
      'Check with `vetledger doctor` that the Temporal server is up and its namespace exists.',
      3,
      error,
    );
  }
  if ([code, name].some((word) => typeof word === 'string' && lostDatabase.test(word))) {
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
