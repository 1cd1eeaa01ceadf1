// The parts of a month-end: a sandbox clinic whose clock shows the month, and vetledger's commands on the given
// servers.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/src/index.ts';
import { main } from '../../src/cli/main.ts';
import { demoConfig, fromEnvironment, type Settings } from '../support/demo-config.ts';
import { first, mappingText, type Variant } from './variant.ts';

export const installation = 4711;
export const timezone = 'Europe/Helsinki';

/**
 * The clinic's clock shows the past, so the limit for the clock's difference is raised; otherwise each window would
 * have a remark.
 */
const pace = { rate_window_seconds: 1, overlap_seconds: 60, clock_skew_limit_seconds: 1e9 };

/** A month takes less than a minute on a quiet machine. Commands that still run after this limit are interrupted. */
const limitMs = 600_000;

export interface Services {
  /** The URL of an empty or migrated database. */
  databaseUrl: string;
  /** host:port. */
  temporalAddress: string;
}

/** The differences between a test's clinic and the clinic of the played month-end. */
export interface OwnClinic {
  sandbox?: SandboxOptions;
  /** Settings of the clinic's installation in vetledger.yaml. */
  settings?: Settings;
  /** A mapping file in place of the demo's. */
  mapping?: string;
  variant?: Variant;
  env?: NodeJS.ProcessEnv;
}

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export interface World {
  sandbox: Sandbox;
  /** The mapping of its installation: path and text. */
  mapping: { path: string; text: string };
  /** A folder of this world, which `stop` removes. */
  folder: string;
  /** Stops the clinic's clock at a local time, such as `2025-10-31 18:00`. */
  setTime(local: string): void;
  /** Epoch milliseconds of a local time. */
  instantOf(local: string): number;
  /** Runs a command line of vetledger, such as `ledger close --by "M. Virtanen"`. Quoted words stay together. */
  run(line: string, configuration?: string): Promise<Ran>;
  /** Writes another mapping and a configuration with it. Returns the paths of both. */
  withMapping(name: string, text: string): { mapping: string; configuration: string };
  stop(): Promise<void>;
}

/**
 * Starts a clinic whose time is `from` (local time), with some weeks of history before it. The history is the same each
 * time.
 */
export async function startWorld(
  { databaseUrl, temporalAddress }: Services,
  from: string,
  own: OwnClinic = {},
): Promise<World> {
  const sandbox = await startSandbox({
    ...{ seed: 3, invoices: 60, historyDays: 45, installation, timezone, rateWindowSeconds: 1 },
    ...own.sandbox,
    ...{ startsAt: new Date(instantOf(from)).toISOString(), clockRuns: false },
  });
  const signal = AbortSignal.timeout(limitMs);
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-month-end-'));
  const config = join(folder, 'vetledger.yaml');
  const variant = own.variant ?? first;
  const mapping = { path: join(folder, 'mapping.yaml'), text: mappingText(variant, own.mapping) };
  writeFileSync(mapping.path, mapping.text);
  const settings = { mapping: mapping.path, posting_mode: variant.mode, ...pace, ...own.settings };
  writeFileSync(
    config,
    demoConfig([{ id: sandbox.installation, base_url: sandbox.url, ...settings }], {
      database_url: fromEnvironment('DATABASE_URL'),
      temporal: `{address: ${fromEnvironment('TEMPORAL_ADDRESS')}}`,
      window_timeout_minutes: 3,
    }),
  );
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    PRACTICE_TOKEN: sandbox.token,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    VETLEDGER_DATA_DIR: folder,
    VETLEDGER_LOG: process.env.VETLEDGER_LOG ?? 'silent',
    ...own.env,
  };
  return {
    ...{ sandbox, mapping, folder, instantOf },
    setTime: (local) => sandbox.setClock(instantOf(local)),
    withMapping: (name, text) => {
      const path = join(folder, `${name}.yaml`);
      const configuration = join(folder, `${name}.vetledger.yaml`);
      writeFileSync(path, text);
      writeFileSync(configuration, readFileSync(config, 'utf8').replaceAll(mapping.path, path));
      return { mapping: path, configuration };
    },
    run: async (line, configuration = config) => {
      const [stdout, stderr] = [collector(), collector()];
      const io = { env, stdout: stdout.stream, stderr: stderr.stream, signal };
      const code = await main([...wordsOf(line), '--config', configuration], io);
      return { code, stdout: stdout.text(), stderr: stderr.text() };
    },
    stop: async () => {
      await sandbox.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Splits a command line into words like a shell. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

/** Summer time ends on 2025-10-26 in Helsinki, within the played month. */
function instantOf(local: string): number {
  const utc = Date.parse(`${local.replace(' ', 'T')}:00Z`);
  const hours = local < '2025-10-26 04:00' ? 3 : 2;
  return utc - hours * 3_600_000;
}

function collector() {
  const chunks: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  return { stream, text: () => chunks.join('') };
}
