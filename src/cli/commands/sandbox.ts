import { once } from 'node:events';
import { ConfigError, codeOf, UserError } from '../../domain/errors.ts';
import type { CommandContext } from '../context.ts';

export interface SandboxOptions {
  port: number;
  seed: number;
  invoices: number;
  rateWindow: number;
  latency: number;
  token?: string;
  state?: string;
  webhooks?: string;
}

/** Runs the sandbox until Ctrl-C. With --json, stdout is one line with its URL and credentials. */
export async function sandbox(context: CommandContext, options: SandboxOptions): Promise<number> {
  context.signal.throwIfAborted();
  const { SandboxError, startFromCommand } = await importSandbox();
  const token = options.token || context.env.PRACTICE_TOKEN || 'sandbox-token';
  try {
    const { sandbox: started, document, text } = await startFromCommand({ ...options, token });
    await context.result(document, () => text);
    if (!context.signal.aborted) await once(context.signal, 'abort');
    await started.stop();
    return 0;
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    throw new ConfigError(error.code, error.message, error.todo, error);
  }
}

/** The sandbox is a package beside this one, which a production image leaves out. Throws UserError where it is not installed. */
export async function importSandbox(): Promise<typeof import('vetledger-sandbox')> {
  try {
    return await import('vetledger-sandbox');
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UserError(
      'sandbox_not_installed',
      'The sandbox is not installed here: production images leave it out.',
      'Run the command in a checkout after `npm ci`, or from the packed package, which has the sandbox.',
      3,
      error,
    );
  }
}
