import type { exitCodes } from '../texts/exit-codes.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { redact } from './redact.ts';

export type ErrorExitCode = Exclude<keyof typeof exitCodes, 0>;

/** The `code` of an error of Node, PostgreSQL or vetledger, if it has one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** An error that ends a command. `message` says what happened, `todo` what to do next. Neither contains a secret. */
export class UserError extends Error {
  override readonly name: string = 'UserError';
  readonly code: string;
  readonly todo: string;
  readonly exitCode: ErrorExitCode;

  constructor({ code, message, todo }: PlainError, exitCode: ErrorExitCode, cause?: unknown) {
    super(redact(message), cause === undefined ? undefined : { cause });
    this.code = code;
    this.todo = redact(todo);
    this.exitCode = exitCode;
  }
}

/** The configuration, a mapping file or the arguments of a command are wrong (exit code 2). */
export class ConfigError extends UserError {
  override readonly name = 'ConfigError';

  constructor(error: PlainError, cause?: unknown) {
    super(error, 2, cause);
  }
}
