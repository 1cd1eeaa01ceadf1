import type { PlainError } from '../texts/plain-error.ts';
import { redact } from './redact.ts';

/** Exit codes of the commands (DESIGN "Exit codes"); docs/reference/CLI.md is generated from these texts. */
export const exitCodes = {
  0: 'done; held documents are reported and count as done',
  1: 'a check found a difference, or what was asked for does not exist',
  2: 'wrong usage, configuration or mapping file, or a secret written into the configuration',
  3: 'PostgreSQL, Temporal or the practice API cannot be reached, or refuses the credentials, before a window opens, or an address to listen at is taken; `deliver`: the ERP does',
  4: 'the window of an installation failed; the next scheduled one covers it',
} as const;

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
