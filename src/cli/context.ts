import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { ConfigError, codeOf } from '../domain/errors.ts';
import { redact } from '../domain/redact.ts';
import { visibleLines, withoutEnd } from '../domain/text.ts';
import { inLanguage, type Rendered, shown } from '../languages/language.ts';
import type { Language } from '../texts/catalogue.ts';
import { answerTexts } from '../texts/commands/labels.ts';
import { usageTexts } from '../texts/commands/usage.ts';
import { commandErrors } from '../texts/errors/commands.ts';

/** A command's environment, output streams and abort signal; tests pass their own. */
export interface Io {
  env: NodeJS.ProcessEnv;
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  /** Without a terminal here, no question is asked. */
  stdin?: NodeJS.ReadStream;
  /** The stream for questions. Default: `stderr`. With --json, `stderr` accepts only complete notes. */
  asks?: NodeJS.WritableStream;
  /** Aborted by the first Ctrl-C. */
  signal: AbortSignal;
  /** The language of texts. Default: English, which JSON always is. */
  language?: Language;
  /** Calls `handler` at each SIGHUP, which then does not end the process. Returns a function that removes the handler. */
  onHangup?: (handler: () => void) => () => void;
}

/** Options of every command. */
export interface CommonOptions {
  config: string;
  language?: string;
  json?: true;
  debug?: true;
}

/** The reader of stdout has closed the pipe (`vetledger export | head`). The command ends with exit code 0. */
export class OutputClosed extends Error {}

/** A command's streams and common options. */
export class CommandContext {
  readonly io: Io;
  readonly configPath: string;
  readonly json: boolean;
  readonly language: Language;
  readonly debug: boolean;

  constructor(io: Io, options: CommonOptions) {
    this.io = io;
    this.configPath = options.config;
    this.json = options.json === true;
    this.language = this.json ? 'en' : (io.language ?? 'en');
    this.debug = isDebugging(io, options);
  }

  get env(): NodeJS.ProcessEnv {
    return this.io.env;
  }

  get signal(): AbortSignal {
    return this.io.signal;
  }

  /** Prints the result on stdout: `document` with --json, otherwise `text`. */
  async result(document: unknown, text: () => string): Promise<void> {
    await this.write(this.json ? JSON.stringify(document) : withoutEnd(this.show(text), '\n'));
    await this.write('\n');
  }

  /** Renders a text in the language of the command. */
  show<T>(render: () => Rendered<T>): T {
    return inLanguage<T>(this.language, render);
  }

  /**
   * Writes to stdout. Control characters become visible escapes, which are also valid in JSON. Waits while the buffer is full.
   * Throws OutputClosed if the reader has closed the pipe, or the error of the file that stdout is.
   */
  async write(text: string): Promise<void> {
    await this.writeFile(visibleLines(text));
  }

  /** Writes to stdout without escapes, for the content of a file. */
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

  /** Asks on the terminal. Null if there is no terminal. Only `yes` or `y` means yes, and the same in the language. */
  async confirm(question: string): Promise<boolean | null> {
    const { hint, yes } = this.show(() => ({ ...answerTexts }));
    const answer = await this.#answerTo(`${shown(question, this.language)} ${hint} `);
    return answer === null ? null : agreeing(answer, 'yes') || agreeing(answer, yes);
  }

  /** Asks for a line of text on the terminal. Null if there is no terminal. */
  ask(question: string): Promise<string | null> {
    return this.#answerTo(`${shown(question, this.language)} `);
  }

  async #answerTo(question: string): Promise<string | null> {
    const { stdin, stderr, asks = stderr, signal } = this.io;
    if (stdin?.isTTY !== true) return null;
    const lines = createInterface({ input: stdin, output: asks });
    // On a terminal the question receives Ctrl-C instead of the process.
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    try {
      // If the terminal is closed, there is no answer.
      const closed = once(lines, 'close').then(() => '');
      return await Promise.race([lines.question(question, { signal }), closed]);
    } finally {
      lines.close();
    }
  }

  /** Prints a line on stderr. */
  note = (line: string): void => {
    this.io.stderr.write(`${visibleLines(line.includes('\n') ? redact(line) : shown(redact(line), this.language))}\n`);
  };
}

/** Whether an answer is this word, or its first letter. */
function agreeing(answer: string, word: string): boolean {
  return [word, word.charAt(0)].includes(answer.trim().toLowerCase());
}

/** Throws OutputClosed if the reader of stdout has closed the pipe, or the error that ended stdout, such as a full disk. */
export function throwIfClosed(stdout: NodeJS.WritableStream): void {
  const error = 'errored' in stdout ? stdout.errored : null;
  if (error instanceof Error && codeOf(error) !== 'EPIPE') throw error;
  if (!stdout.writable) throw new OutputClosed();
}

export function isDebugging(io: Io, options: { debug?: true }): boolean {
  return options.debug === true || Boolean(io.env.VETLEDGER_DEBUG);
}

/** Throws ConfigError if --from is after --to. Both are optional. */
export function refuseBackwards({ from, to }: { from?: string; to?: string }, command: string): void {
  if (from !== undefined && to !== undefined && from > to)
    throw usageError(usageTexts.fromAfterTo({ from, to }), command);
}

/** The error for wrong usage (exit code 2). */
export function usageError(message: string, command: string): ConfigError {
  return new ConfigError(commandErrors.usage({ message, command: `vetledger ${command}` }));
}
