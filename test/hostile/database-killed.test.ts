import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/index.ts';
import { canListen, temporaryFolder } from '../embedded/support.ts';
import { demoConfig } from '../support/demo-config.ts';
import { waitFor } from '../workflows/support.ts';

const run = promisify(execFile);
const bin = fileURLToPath(new URL('../../bin/vetledger.js', import.meta.url));
const waitMs = 90_000;

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ seed: 3, invoices: 30, rateWindowSeconds: 1 });
});

afterAll(() => sandbox.stop());

interface PostgresServer {
  pid: number;
  port: number;
}

/** A daemon with an embedded PostgreSQL in a process of its own; `windows` are the lines that it printed of closed windows. */
async function startDaemon() {
  const folder = temporaryFolder();
  const config = join(folder, 'vetledger.yaml');
  const one = { id: sandbox.installation, base_url: sandbox.url, rate_window_seconds: 1, overlap_seconds: 60 };
  writeFileSync(
    config,
    demoConfig([one], {
      data_dir: '.vetledger',
      schedule: '{every: 1s}',
      temporal: `{address: "${inject('temporalAddress')}"}`,
    }),
  );
  const env = { ...process.env, PRACTICE_TOKEN: sandbox.token, VETLEDGER_LOG: 'warn' };
  const daemon = spawn(process.execPath, [bin, 'run', '--config', config, '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => stop(daemon));
  const out: string[] = [];
  const said: string[] = [];
  daemon.stdout.on('data', (chunk) => out.push(String(chunk)));
  daemon.stderr.on('data', (chunk) => said.push(String(chunk)));
  const windows = () =>
    out
      .join('')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { outcome: string });
  const closed = () => windows().filter(({ outcome }) => outcome === 'closed').length;
  const ended = () => daemon.exitCode !== null;
  const nextWindow = async () => {
    const before = closed();
    await waitFor(`closed window; the daemon said ${said.join('')}`, () => closed() > before || ended(), waitMs);
    expect({ code: daemon.exitCode, said: ended() ? said.join('') : '' }).toEqual({ code: null, said: '' });
  };
  const server = (): PostgresServer =>
    JSON.parse(readFileSync(join(folder, '.vetledger/services/postgres/server.json'), 'utf8'));
  const command = (...args: string[]) => run(process.execPath, [bin, ...args, '--config', config, '--json'], { env });
  return { nextWindow, server, command };
}

async function stop(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null) return;
  const ended = once(daemon, 'exit');
  daemon.kill('SIGTERM');
  await ended;
}

async function kill({ pid, port }: PostgresServer): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await waitFor('free port', () => canListen(port));
}

test('PostgreSQL is killed and another command starts it again: the daemon goes on', { timeout: 240_000 }, async () => {
  const { nextWindow, server, command } = await startDaemon();
  await nextWindow();
  const before = server();
  await kill(before);
  await command('status');
  const after = server();
  expect(after.pid).not.toBe(before.pid);
  expect(after.port).toBe(before.port);
  await nextWindow();
});

test('its port is taken when it comes back: the daemon follows it to another one', { timeout: 240_000 }, async () => {
  const { nextWindow, server, command } = await startDaemon();
  await nextWindow();
  const before = server();
  await kill(before);
  await take(before.port);
  const { stderr } = await command('status');
  expect(stderr).toContain(`port ${before.port}, which it had`);
  expect(server().port).not.toBe(before.port);
  await nextWindow();
});

/** Listens on a port until the test's end, and answers nothing. */
async function take(port: number): Promise<void> {
  const taken: Server = createServer((socket) => socket.destroy());
  taken.listen(port, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
}
