import { once } from 'node:events';
import { ConfigError, codeOf } from '../domain/errors.ts';

/** A command's environment, output streams and abort signal; tests pass their own. */
export interface Io {
  env: NodeJS.ProcessEnv;
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  /** Aborted by the first Ctrl-C. */
  signal: AbortSignal;
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
    await this.write(this.json ? JSON.stringify(document) : text().replace(/\n+$/, ''));
    await this.write('\n');
  }

  /** Writes to stdout, waiting while its buffer is full. Throws OutputClosed when the reader has closed it. */
  async write(text: string): Promise<void> {
    const { stdout } = this.io;
    if (!stdout.writable) throw new OutputClosed();
    if (stdout.write(text)) return;
    try {
      await once(stdout, 'drain', { signal: this.signal });
    } catch (error) {
      if (codeOf(error) === 'EPIPE') throw new OutputClosed();
      throw error;
    }
  }

  /** Prints a line on stderr. */
  note = (line: string): void => {
    this.io.stderr.write(`${line}\n`);
  };
}

export function debugWanted(io: Io, options: { debug?: true }): boolean {
  return options.debug === true || Boolean(io.env.VETLEDGER_DEBUG);
}

/** The error of wrong usage (exit code 2). */
export function usageError(message: string, command: string): ConfigError {
  return new ConfigError('usage', message, `Run \`vetledger ${command} --help\` for how it is used.`);
}
