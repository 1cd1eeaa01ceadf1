import { once } from 'node:events';
import { Option } from 'commander';
import { z } from 'zod';
import { ConfigError, codeOf, UserError } from '../../domain/errors.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { type Definition, decimal, option, webAddress, wholeNumber } from '../command.ts';
import type { CommandContext } from '../context.ts';

interface Options {
  port: number;
  seed: number;
  invoices: number;
  rateWindow: number;
  latency: number;
  token?: string;
  state?: string;
  durable?: boolean;
  webhooks?: string;
  now?: string;
  scenario?: string;
  fixtures?: string;
  settings?: string;
  host: string;
}

const answer = z.strictObject({
  url: z.string(),
  port: z.number(),
  installation: z.number(),
  token: z.string(),
  client_id: z.string(),
  client_secret: z.string(),
  applications: z.array(
    z.strictObject({
      name: z.string(),
      token: z.string().optional(),
      client_id: z.string(),
      client_secret: z.string(),
      scopes: z.array(z.string()),
    }),
  ),
  docs: z.string(),
  installations: z.array(z.strictObject({ installation: z.number(), api: z.string(), timezone: z.string() })),
});

export const command: Definition<Options> = {
  description: 'Runs until Ctrl-C. It contains no real data and requires no real credentials.',
  config: false,
  options: [
    option('--port <n>', 'port on 127.0.0.1; 0 takes any free one', wholeNumber).default(8090),
    option('--seed <n>', 'number of the clinic; the same seed gives the same clinic', wholeNumber).default(1),
    option('--invoices <n>', 'number of final invoices in its history', wholeNumber).default(2600),
    option(
      '--rate-window <seconds>',
      'length of the rolling window of its rate limits; 0 turns them off',
      decimal,
    ).default(60),
    option('--latency <ms>', 'delay of each answer in milliseconds', wholeNumber).default(0),
    new Option('--token <token>', 'accepted bearer token (default: $PRACTICE_TOKEN, or sandbox-token)'),
    new Option('--now <time>', "time of the clinic's clock at the start, such as 2026-03-31T18:00:00"),
    new Option(
      '--scenario <name>',
      'behaviour of the server: flaky, slow, lost-answers, month-end, strict or late-commits',
    ),
    new Option('--fixtures <file>', 'add the clients, invoices and more of this JSON file'),
    new Option('--settings <file>', 'installations, applications, quirks and faults, as JSON'),
    new Option('--state <file>', 'store the clinic in this file, so that it survives restarts'),
    new Option('--durable', 'write each change to disk before the answer (default: within 100 ms)'),
    option('--webhooks <url>', 'send a webhook for each change to this address', webAddress),
    new Option('--host <address>', 'address to listen on').default('127.0.0.1'),
  ],
  examples: [
    ['vetledger sandbox', 'the clinic that vetledger.yaml of a checkout names'],
    ['vetledger sandbox --port 0 --seed 7 --rate-window 5 --json', 'for tests: any port, short rate window'],
  ],
  answer,
  run: sandbox,
};

/** Runs the sandbox until Ctrl-C. With --json, stdout is one line with its URL and credentials. */
async function sandbox(context: CommandContext, options: Options): Promise<number> {
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
    throw new ConfigError(error, error);
  }
}

/** The sandbox is a separate package, which production images do not contain. Throws UserError if it is not installed. */
export async function importSandbox(): Promise<typeof import('vetledger-sandbox')> {
  try {
    return await import('vetledger-sandbox');
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UserError(commandErrors.sandboxNotInstalled(), 3, error);
  }
}
