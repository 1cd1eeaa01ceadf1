// The sandbox as a command starts it: `vetledger sandbox`, and sandbox/src/main.ts without vetledger.
import { resolve } from 'node:path';
import { builtInApplications } from './auth.ts';
import { type Sandbox, startSandbox } from './start.ts';

/** What a person can set at the start. */
export interface CommandOptions {
  /** 0: any free port. */
  port: number;
  seed: number;
  /** Final invoices of the clinic's history. */
  invoices: number;
  /** Length of the rolling window of the rate limits, in seconds. */
  rateWindow: number;
  /** Milliseconds that each answer takes longer. */
  latency: number;
  token: string;
  /** Keeps the clinic over restarts. Default: a new clinic at each start. */
  state?: string;
  /** Receives a webhook for each change. Default: none. */
  webhooks?: string;
}

/** The sandbox cannot start as asked. `message`: what happened; `todo`: what to do next. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  readonly code: string;
  readonly todo: string;

  constructor(code: string, message: string, todo: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.todo = todo;
  }
}

export interface StartedSandbox {
  sandbox: Sandbox;
  /** How to reach it, as data. */
  document: object;
  /** The same for a person. */
  text: string;
}

/** Starts a clinic with a whole life. Throws SandboxError for a port or a state file that cannot be used. */
export const startFromCommand = async (options: CommandOptions): Promise<StartedSandbox> => {
  const sandbox = await start(options);
  const { url, port, installation, token, clientId: client_id, clientSecret: client_secret } = sandbox;
  const applications = builtInApplications.map((one) => ({
    ...{ name: one.name, token: one.token, client_id: one.clientId, client_secret: one.clientSecret },
    scopes: one.scopes,
  }));
  const document = { url, port, installation, token, client_id, client_secret, applications, docs: `${url}/docs/` };
  return { sandbox, document, text: textOf(sandbox) };
};

const start = async ({ port, seed, invoices, rateWindow, latency, token, state, webhooks }: CommandOptions) => {
  if (port > 65_535)
    throw new SandboxError('port_invalid', `There is no port ${port}.`, 'Give --port a number up to 65535.');
  try {
    return await startSandbox({
      port,
      seed,
      invoices,
      token,
      rateWindowSeconds: rateWindow,
      latencyMs: latency,
      wholeLife: true,
      ...(state ? { stateFile: resolve(state) } : {}),
      ...(webhooks ? { webhooks: { url: webhooks } } : {}),
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE' || code === 'EACCES') {
      throw new SandboxError(
        'port_taken',
        `Port ${port} of 127.0.0.1 ${code === 'EACCES' ? 'needs more rights' : 'is taken by another process'}.`,
        'Give another one with --port, or --port 0 for any free one.',
        error,
      );
    }
    if (!state) throw error;
    throw new SandboxError(
      'sandbox_state_invalid',
      `The clinic in ${state} cannot be loaded or saved: ${error instanceof Error ? error.message : error}`,
      'Name another file with --state, or remove it to start a new clinic.',
      error,
    );
  }
};

const textOf = ({ url, installation, token, clientId, clientSecret }: Sandbox): string =>
  [
    `The sandbox clinic is up; Ctrl-C ends it.`,
    `  base_url       ${url}`,
    `  installation   ${installation}`,
    `  token          ${token}`,
    `  client         ${clientId} / ${clientSecret}`,
    ...builtInApplications.map(
      ({ name, scopes, token }) => `  ${name.padEnd(14)} ${token} (scope ${scopes.join(' and ')})`,
    ),
    `The API:         ${url}/docs/ (OpenAPI: ${url}/schema/)`,
    `To use it:       export PRACTICE_TOKEN=${token}`,
    `More activity:   curl -X POST '${url}/sandbox/live?events=20'`,
  ].join('\n');
