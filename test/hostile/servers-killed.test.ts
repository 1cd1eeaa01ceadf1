// The embedded servers are killed while a daemon runs.

import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/index.ts';
import { canListen } from '../embedded/support.ts';
import { startDaemon } from '../support/daemon-process.ts';
import { waitFor } from '../workflows/support.ts';

const waitMs = 180_000;
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ seed: 3, invoices: 30, rateWindowSeconds: 1 });
});

afterAll(() => sandbox.stop());

interface ServerRecord {
  pid: number;
  port: number;
}

type Daemon = ReturnType<typeof startDaemon>;
type Name = 'postgres' | 'temporal';

/** The record of the embedded server; none while it restarts. */
function server({ folder }: Daemon, name: Name): ServerRecord | null {
  const file = join(folder, `.vetledger/services/${name}/server.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ServerRecord) : null;
}

const closed = ({ event }: { event: string }) => event === 'window_closed';

async function kill(daemon: Daemon, name: Name): Promise<ServerRecord> {
  const killed = server(daemon, name);
  if (killed === null) throw new Error(`${name} is not running`);
  const { pid, port } = killed;
  process.kill(pid, 'SIGKILL');
  await waitFor('free port', () => canListen(port));
  return killed;
}

test('PostgreSQL and Temporal are killed: the daemon starts each again, and logs each outage and its end once', {
  timeout: 900_000,
}, async () => {
  const daemon = startDaemon(sandbox, { embeddedTemporal: true });
  await daemon.event('closed window', closed);
  for (const dependency of ['postgres', 'temporal'] as const) {
    const from = daemon.events().length;
    const before = await kill(daemon, dependency);
    const of = (name: string) => (event: { event: string; dependency?: unknown }) =>
      event.event === name && event.dependency === dependency;
    const outage = await daemon.event(`outage of ${dependency}`, of('outage'), from);
    expect(outage).toMatchObject({ installation: null, error: { code: `${dependency}_unreachable` } });
    const recovery = await daemon.event(`recovery of ${dependency}`, of('recovery'), from);
    const after = server(daemon, dependency);
    expect(after?.pid).not.toBe(before.pid);
    expect(after?.port).toBe(before.port);
    await daemon.event('closed window', closed, daemon.events().length);
    expect(daemon.events().filter(of('outage'))).toHaveLength(1);
    expect(daemon.events().filter(of('recovery'))).toHaveLength(1);
    const told = daemon.log().filter((line) => line.dependency === dependency && 'event' in line);
    expect(told.map(({ level, event }) => [level, event])).toEqual([
      [50, 'outage'],
      [30, 'recovery'],
    ]);
    expect(told[1]?.seconds).toBe(recovery.seconds);
  }
  // Another process takes PostgreSQL's port before the restart, so the daemon uses PostgreSQL at another port.
  const { port } = await kill(daemon, 'postgres');
  await take(port);
  await waitFor('server on another port', () => (server(daemon, 'postgres')?.port ?? port) !== port, waitMs);
  expect(daemon.stderr()).toContain(`port ${port}, which it had`);
  await daemon.event('closed window', closed, daemon.events().length);
});

/** Listens on a port until the test's end without answering. */
async function take(port: number): Promise<void> {
  const taken: Server = createServer((socket) => socket.destroy());
  taken.listen(port, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
}
