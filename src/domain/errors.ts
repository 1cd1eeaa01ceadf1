/** What a command ends with (DESIGN "Exit codes"); the texts are also those of docs/CLI.md. */
export const exitCodes = {
  0: 'done; held documents are reported and count as done',
  1: 'a check found a difference, or what was asked for does not exist',
  2: 'wrong usage, configuration or mapping file, or a secret written into the configuration',
  3: 'PostgreSQL, Temporal or the practice API cannot be reached, or refuses the credentials, before a window opens',
  4: 'the window of an installation failed; the next scheduled one covers it',
} as const;

export type ErrorExitCode = Exclude<keyof typeof exitCodes, 0>;

/** An error as data: as a window's row, a history and `--json` hold one. Neither text holds a secret. */
export interface PlainError {
  code: string;
  message: string;
  todo: string;
}

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
