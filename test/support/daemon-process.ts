// Runs `vetledger run --json` in a separate process, and returns its output line by line and its end.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';
import type { Sandbox } from '../../sandbox/src/index.ts';
import { temporaryFolder } from '../embedded/support.ts';
import { waitFor } from '../workflows/support.ts';
import { demoConfig, type Settings } from './demo-config.ts';

export const bin = fileURLToPath(new URL('../../bin/vetledger.js', import.meta.url));
const waitMs = 180_000;

export interface Told extends Record<string, unknown> {
  time: string;
  event: string;
}

export interface DaemonOptions {
  /** The folder of an earlier daemon; the default is a new one. */
  folder?: string;
  settings?: Settings;
  env?: NodeJS.ProcessEnv;
  /** True if it uses an embedded Temporal server; the default is that of the test run. */
  embeddedTemporal?: boolean;
}

/** Starts a daemon for these clinics, which share a token. */
export function startDaemon(clinics: Sandbox | readonly [Sandbox, ...Sandbox[]], options: DaemonOptions = {}) {
  const sandboxes = 'url' in clinics ? ([clinics] as const) : clinics;
  const { folder = temporaryFolder(), settings = {}, embeddedTemporal = false } = options;
  const config = join(folder, 'vetledger.yaml');
  const installations = sandboxes.map(({ installation: id, url }) => {
    return { id, base_url: url, rate_window_seconds: 1, overlap_seconds: 60 };
  });
  writeFileSync(
    config,
    demoConfig(installations, {
      data_dir: '.vetledger',
      schedule: '{every: 1s}',
      ...(embeddedTemporal ? {} : { temporal: `{address: "${inject('temporalAddress')}"}` }),
      ...settings,
    }),
  );
  const env = { ...process.env, PRACTICE_TOKEN: sandboxes[0].token, VETLEDGER_LOG: 'info', ...options.env };
  const daemon = spawn(process.execPath, [bin, 'run', '--config', config, '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out: string[] = [];
  const said: string[] = [];
  daemon.stdout.on('data', (chunk) => out.push(String(chunk)));
  daemon.stderr.on('data', (chunk) => said.push(String(chunk)));
  const ended = once(daemon, 'exit') as Promise<[number | null, string | null]>;
  const isOver = () => daemon.exitCode !== null || daemon.signalCode !== null;
  onTestFinished(async () => {
    if (!isOver()) daemon.kill('SIGTERM');
    await ended;
  });
  const whole = (chunks: string[]) => chunks.join('').split('\n').slice(0, -1);
  /** The events on stdout. Throws if a line is not JSON. */
  const events = (): Told[] => whole(out).map((line) => JSON.parse(line) as Told);
  return {
    folder,
    config,
    env,
    process: daemon,
    ended,
    events,
    stdout: () => out.join(''),
    stderr: () => said.join(''),
    /** The log lines on stderr. Throws if a line is not JSON. */
    log: (): Record<string, unknown>[] => whole(said).map((line) => JSON.parse(line) as Record<string, unknown>),
    /** Waits for the first event from index `from` on for which `wanted` returns true. */
    event: (what: string, wanted: (event: Told) => boolean, from = 0): Promise<Told> =>
      waitFor(
        `${what}; the daemon said ${said.join('').slice(-4000)}`,
        () => {
          const found = events().slice(from).find(wanted);
          if (!found && isOver()) throw new Error(`the daemon has ended: ${said.join('')}`);
          return found;
        },
        waitMs,
      ),
  };
}
