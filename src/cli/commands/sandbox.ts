import { once } from 'node:events';
import { resolve } from 'node:path';
import { builtInApplications, type Sandbox, startSandbox } from '../../../sandbox/src/index.ts';
import { ConfigError, codeOf } from '../../domain/errors.ts';
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
  const started = await start(context, options);
  const { url, port, installation, token, clientId: client_id, clientSecret: client_secret } = started;
  const applications = builtInApplications.map((one) => ({
    ...{ name: one.name, token: one.token, client_id: one.clientId, client_secret: one.clientSecret },
    scopes: one.scopes,
  }));
  const told = { url, port, installation, token, client_id, client_secret, applications, docs: `${url}/docs/` };
  await context.result(told, () => text(started));
  if (!context.signal.aborted) await once(context.signal, 'abort');
  await started.stop();
  return 0;
}

async function start(context: CommandContext, options: SandboxOptions): Promise<Sandbox> {
  const { port, seed, invoices, rateWindow, latency, state, webhooks } = options;
  if (port > 65_535)
    throw new ConfigError('port_invalid', `There is no port ${port}.`, 'Give --port a number up to 65535.');
  try {
    return await startSandbox({
      port,
      seed,
      invoices,
      token: options.token || context.env.PRACTICE_TOKEN || 'sandbox-token',
      rateWindowSeconds: rateWindow,
      latencyMs: latency,
      wholeLife: true,
      ...(state ? { stateFile: resolve(state) } : {}),
      ...(webhooks ? { webhooks: { url: webhooks } } : {}),
    });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE' || code === 'EACCES') {
      throw new ConfigError(
        'port_taken',
        `Port ${port} of 127.0.0.1 ${code === 'EACCES' ? 'needs more rights' : 'is taken by another process'}.`,
        'Give another one with --port, or --port 0 for any free one.',
      );
    }
    if (!state) throw error;
    throw new ConfigError(
      'sandbox_state_invalid',
      `The clinic in ${state} cannot be loaded or saved: ${error instanceof Error ? error.message : error}`,
      'Name another file with --state, or remove it to start a new clinic.',
      error,
    );
  }
}

function text({ url, installation, token, clientId, clientSecret }: Sandbox): string {
  return [
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
}
