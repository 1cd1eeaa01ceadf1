import { once } from 'node:events';
import { ConfigError, codeOf } from '../domain/errors.ts';

/** Where a command reads from and writes to; tests bring their own. */
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

/** Whoever reads our output has gone (`vetledger export | head`): not an error. */
export class OutputClosed extends Error {}

/** What a command has at hand besides its own options. */
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

  /** The command's result on stdout: `document` with --json, otherwise `text`. */
  async result(document: unknown, text: () => string): Promise<void> {
    await this.write(this.json ? JSON.stringify(document) : text().replace(/\n+$/, ''));
    await this.write('\n');
  }

  /** Writes to stdout as fast as its reader takes it. Throws OutputClosed when the reader has gone. */
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

  /** A line for people, beside the result. */
  note = (line: string): void => {
    this.io.stderr.write(`${line}\n`);
  };
}

export function debugWanted(io: Io, options: { debug?: true }): boolean {
  return options.debug === true || Boolean(io.env.VETLEDGER_DEBUG);
}

/** A usage error (exit code 2). */
export function usageError(message: string, command: string): ConfigError {
  return new ConfigError('usage', message, `Run \`vetledger ${command} --help\` for how it is used.`);
}
