// Starts the sandbox for a command: `vetledger sandbox`, or sandbox/src/main.ts without vetledger.
import { resolve } from 'node:path';
import { builtInApplications } from './auth.ts';
import type { InstallationOptions } from './installation.ts';
import { StateFileTaken } from './persist.ts';
import { ValidationProblem } from './records.ts';
import { type ScenarioName, scenarioNames, scenarios } from './scenarios.ts';
import { readFixtures, readSettings } from './settings.ts';
import { type Sandbox, startSandbox } from './start.ts';

/** The options of the command. */
export interface CommandOptions {
  /** Port 0 takes any free port. */
  port: number;
  /** The address to listen on. Control endpoints answer only requests from this machine, whatever the address is. */
  host: string;
  seed: number;
  /** The number of final invoices in the clinic's history. */
  invoices: number;
  /** Length of the rolling window of the rate limits, in seconds; 0 turns them off. */
  rateWindow: number;
  /** The delay of each answer in milliseconds. */
  latency: number;
  token: string;
  /** The file that keeps the clinic over restarts. Without it, each start makes a new clinic. */
  state?: string;
  /** True if each change is written to disk before its answer. */
  durable?: boolean;
  /** The address that receives a webhook for each change. Without it, no webhooks are sent. */
  webhooks?: string;
  /** The clinic's time at the start; a time without an offset is local. The default is the machine's time. */
  now?: string;
  /** The name of a set of quirks and faults. */
  scenario?: string;
  /** A JSON file of records to add to the clinic. */
  fixtures?: string;
  /** A JSON file of installations. The other options give what it leaves out. */
  settings?: string;
}

/** The sandbox cannot start with these options. `message` says what happened, `todo` what to do next. */
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
  /** Addresses and credentials of the sandbox, for `--json`. */
  document: object;
  /** The addresses and credentials as text for the terminal. */
  text: string;
}

/** Starts a clinic with events of all kinds. Throws SandboxError if it cannot use the port or the state file. */
export const startFromCommand = async (options: CommandOptions): Promise<StartedSandbox> => {
  const sandbox = await start(options);
  const { url, port, installation, token, clientId: client_id, clientSecret: client_secret } = sandbox;
  const applications = builtInApplications.map((one) => ({
    ...{ name: one.name, token: one.token, client_id: one.clientId, client_secret: one.clientSecret },
    scopes: one.scopes,
  }));
  const installations = sandbox.installations.map((one) => ({
    installation: one.installation,
    api: `${url}/${one.installation}/api/0.1/`,
    timezone: one.clinic.zone.name,
  }));
  const document = {
    ...{ url, port, installation, token, client_id, client_secret, applications, docs: `${url}/docs/` },
    installations,
  };
  return { sandbox, document, text: textOf(sandbox) };
};

const start = async (options: CommandOptions): Promise<Sandbox> => {
  const { port, host, state } = options;
  if (port > 65_535)
    throw new SandboxError('port_invalid', `There is no port ${port}.`, 'Give --port a number up to 65535.');
  const [first = {}, ...others] = installationsOf(options);
  try {
    return await startSandbox({ port, host, ...first, others });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE' || code === 'EACCES') {
      throw new SandboxError(
        'port_taken',
        `Port ${port} of ${host} ${code === 'EACCES' ? 'needs more rights' : 'is taken by another process'}.`,
        'Give another one with --port, or --port 0 for any free one.',
        error,
      );
    }
    if (error instanceof StateFileTaken) {
      throw new SandboxError(
        'sandbox_state_taken',
        `The clinic cannot be loaded: ${error.message}.`,
        `End that process, or name another file with --state. If it is no sandbox, remove ${error.lockFile}.`,
        error,
      );
    }
    if (error instanceof RangeError)
      throw new SandboxError(
        'sandbox_option_invalid',
        error.message,
        'Correct the option or the settings file.',
        error,
      );
    if (error instanceof ValidationProblem)
      throw new SandboxError('sandbox_fixtures_invalid', error.message, 'Correct the fixtures.', error);
    if (!state) throw error;
    throw new SandboxError(
      'sandbox_state_invalid',
      `The clinic in ${state} cannot be loaded or saved: ${error instanceof Error ? error.message : error}`,
      'Name another file with --state, or remove it to start a new clinic.',
      error,
    );
  }
};

/** The installations to start: those of the settings file, or the single one that the options describe. */
const installationsOf = (options: CommandOptions): InstallationOptions[] => {
  const { seed, invoices, rateWindow, latency, token, state, durable, webhooks, now, scenario, fixtures } = options;
  const named = scenario === undefined ? {} : scenarioOf(scenario);
  const records = fixtures === undefined ? undefined : readFile(fixtures, readFixtures);
  const common: InstallationOptions = {
    ...{ seed, invoices, token, rateWindowSeconds: rateWindow, latencyMs: latency, wholeLife: true },
    ...named,
    ...(now === undefined ? {} : { startsAt: now }),
    ...(durable === undefined ? {} : { durable }),
    ...(records === undefined ? {} : { fixtures: records }),
    ...(webhooks ? { webhooks: { url: webhooks } } : {}),
  };
  const all = options.settings === undefined ? [{}] : readFile(options.settings, readSettings);
  return all.map((one, at) => ({ ...common, ...(state && at === 0 ? { stateFile: resolve(state) } : {}), ...one }));
};

const scenarioOf = (name: string): InstallationOptions => {
  const scenario = Object.hasOwn(scenarios, name) ? scenarios[name as ScenarioName] : undefined;
  if (scenario === undefined) {
    const todo = `Give --scenario one of ${scenarioNames.join(', ')}.`;
    throw new SandboxError('scenario_unknown', `There is no scenario '${name}'.`, todo);
  }
  const { about, ...options } = scenario;
  return options;
};

/** Reads a file with `read`. Throws a SandboxError that names the file. */
const readFile = <T>(file: string, read: (file: string) => T): T => {
  try {
    return read(resolve(file));
  } catch (error) {
    const message = `${file} cannot be used: ${error instanceof Error ? error.message : error}`;
    throw new SandboxError(
      'sandbox_file_invalid',
      message,
      'Correct the file; the README of the sandbox shows examples.',
      error,
    );
  }
};

const textOf = ({ url, installation, installations, token, clientId, clientSecret }: Sandbox): string =>
  [
    `The sandbox clinic is up; Ctrl-C ends it.`,
    `  base_url       ${url}`,
    `  installation   ${installation}`,
    ...installations.slice(1).map((one) => `  and            ${one.installation}`),
    `  token          ${token}`,
    `  client         ${clientId} / ${clientSecret}`,
    ...builtInApplications.map(
      ({ name, scopes, token }) => `  ${name.padEnd(14)} ${token} (scope ${scopes.join(' and ')})`,
    ),
    `Start here:      ${url}/`,
    `The API:         ${url}/docs/ (OpenAPI: ${url}/schema/)`,
    `To use it:       export PRACTICE_TOKEN=${token}`,
    `More activity:   curl -X POST '${url}/sandbox/live?events=20'`,
  ].join('\n');
