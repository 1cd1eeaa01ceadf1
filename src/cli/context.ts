import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { ConfigError, codeOf } from '../domain/errors.ts';
import { redact } from '../domain/redact.ts';
import { visibleLines, withoutEnd } from '../domain/text.ts';

/** A command's environment, output streams and abort signal; tests pass their own. */
export interface Io {
  env: NodeJS.ProcessEnv;
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  /** For questions, where it is a terminal; none without it. */
  stdin?: NodeJS.ReadStream;
  /** Where questions are asked, if not on `stderr`: with --json that takes whole notes. */
  asks?: NodeJS.WritableStream;
  /** Aborted by the first Ctrl-C. */
  signal: AbortSignal;
  /** Has a function called at each SIGHUP, instead of ending the process; the function that it gives ends that. */
  onHangup?: (handler: () => void) => () => void;
}

/** Options that every command takes. */
export interface CommonOptions {
  config: string;
  json?: true;
  debug?: true;
}

/** The reader of stdout has closed it (`vetledger export | head`). The command ends with exit code 0. */
export class OutputClosed extends Error {}

/** A command's streams and common options. */
export class CommandContext {
  readonly io: Io;
  readonly configPath: string;
  readonly json: boolean;
  readonly debug: boolean;

  constructor(io: Io, options: CommonOptions) {
    this.io = io;
    this.configPath = options.config;
    this.json = options.json === true;
    this.debug = debugWanted(io, options);
  }

  get env(): NodeJS.ProcessEnv {
    return this.io.env;
  }

  get signal(): AbortSignal {
    return this.io.signal;
  }

  /** Prints the command's result on stdout: `document` with --json, otherwise `text`. */
  async result(document: unknown, text: () => string): Promise<void> {
    await this.write(this.json ? JSON.stringify(document) : withoutEnd(text(), '\n'));
    await this.write('\n');
  }

  /**
   * Writes to stdout, with visible escapes for characters that a terminal obeys: they mean the same in JSON. Waits while the
   * buffer is full. Throws OutputClosed when the reader has closed it, and the error of a file that cannot be written.
   */
  async write(text: string): Promise<void> {
    await this.writeFile(visibleLines(text));
  }

  /** Writes the text of a file as it is to stdout. */
  async writeFile(text: string): Promise<void> {
    const { stdout } = this.io;
    throwIfClosed(stdout);
    if (stdout.write(text)) return;
    try {
      await once(stdout, 'drain', { signal: this.signal });
    } catch (error) {
      if (codeOf(error) === 'EPIPE') throw new OutputClosed();
      throw error;
    }
  }

  /** Asks on the terminal; null where there is none to ask on. Only `yes` or `y` is yes. */
  async confirm(question: string): Promise<boolean | null> {
    const { stdin, stderr, asks = stderr, signal } = this.io;
    if (stdin?.isTTY !== true) return null;
    const lines = createInterface({ input: stdin, output: asks });
    try {
      return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `, { signal })).trim());
    } finally {
      lines.close();
    }
  }

  /** Prints a line on stderr. */
  note = (line: string): void => {
    this.io.stderr.write(`${visibleLines(redact(line))}\n`);
  };
}

/** Throws OutputClosed when the reader of stdout has closed it, or the error that ended it: a full disk, where it is a file. */
export function throwIfClosed(stdout: NodeJS.WritableStream): void {
  const error = 'errored' in stdout ? stdout.errored : null;
  if (error instanceof Error && codeOf(error) !== 'EPIPE') throw error;
  if (!stdout.writable) throw new OutputClosed();
}

export function debugWanted(io: Io, options: { debug?: true }): boolean {
  return options.debug === true || Boolean(io.env.VETLEDGER_DEBUG);
}

/** Refuses a range that runs backwards; either end may be open. */
export function refuseBackwards({ from, to }: { from?: string; to?: string }, command: string): void {
  if (from !== undefined && to !== undefined && from > to)
    throw usageError(`--from ${from} is after --to ${to}.`, command);
}

/** The error of wrong usage (exit code 2). */
export function usageError(message: string, command: string): ConfigError {
  return new ConfigError({ code: 'usage', message, todo: `Run \`vetledger ${command} --help\` for how it is used.` });
}
