import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../sandbox/src/index.ts';
import { folderOf } from '../cli/support.ts';
import { canListen, temporaryFolder } from '../embedded/support.ts';
import { startDaemon } from '../support/daemon-process.ts';
import { demoConfig } from '../support/demo-config.ts';
import { waitFor } from '../workflows/support.ts';

const bin = fileURLToPath(new URL('../../bin/vetledger.js', import.meta.url));

/** A proxy to the test run's PostgreSQL that passes the first `passed` connections and closes the others. */
async function refusingProxy(passed: number): Promise<string> {
  const server = new URL(inject('databaseUrl'));
  const { hostname, port } = server;
  const sockets = new Set<Socket>();
  let connections = 0;
  const proxy = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    connections += 1;
    if (connections > passed) return void socket.resetAndDestroy();
    const beyond = connect(Number(port), hostname);
    beyond.on('error', () => socket.destroy());
    socket.on('close', () => beyond.destroy());
    socket.pipe(beyond).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  server.port = String((proxy.address() as { port: number }).port);
  server.hostname = '127.0.0.1';
  return server.href;
}

test('a database that refuses connections: with --json stdout is one JSON document all the same', {
  timeout: 300_000,
}, async () => {
  const folder = folderOf({
    'vetledger.yaml': `installations:
  - {id: 1, base_url: "http://127.0.0.1:9", auth: {token: "$\{TOKEN}"}, timezone: UTC, currency: EUR, mapping: m.yaml}
database_url: "$\{DATABASE_URL}"
`,
    'm.yaml': 'vat: same\n',
  });
  const env = { PATH: process.env.PATH, TOKEN: 't', DATABASE_URL: await refusingProxy(1) };
  const ended = await new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const args = [bin, 'status', '--json', '--config', join(folder, 'vetledger.yaml')];
    execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
  expect(ended.code).toBe(3);
  expect(JSON.parse(ended.stdout)).toEqual({
    error: { code: 'postgres_unreachable', message: expect.any(String), todo: expect.any(String) },
  });
  expect(said(ended.stderr)).toContainEqual(expect.stringContaining('Acquire connection error'));
});

/** Node.js prints warnings, for example about experimental or deprecated features. */
const warning = `import{isMainThread as m}from'node:worker_threads';m&&setTimeout(()=>process.emitWarning('an odd thing'),500)`;
const warns = `--import data:text/javascript,${encodeURIComponent(warning)}`;
/** The most detailed log, with lines of the Temporal SDK. */
const noisy = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_OPTIONS: warns, VETLEDGER_LOG: 'debug' };

/** Parses every line of the log. Throws if a line is not JSON. */
function logLines(stderr: string): { level: number; msg: string }[] {
  return stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { level: number; time: number; msg: string });
}

const said = (stderr: string) => logLines(stderr).map(({ msg }) => msg);

test.each([
  ['sync', (config: string) => ['sync', '--json', '--config', config]],
  ['dev', () => ['dev', '--once', '--json']],
])(
  'with --json all of stderr is JSON, embedded servers, progress and warnings of Node.js too: %s',
  async (_, args) => {
    const dataDir = temporaryFolder();
    const sandbox = await startSandbox({ seed: 3, invoices: 40, rateWindowSeconds: 1 });
    const config = join(dataDir, 'vetledger.yaml');
    writeFileSync(config, demoConfig([{ id: sandbox.installation, base_url: sandbox.url, rate_window_seconds: 1 }]));
    const env = { ...noisy, PRACTICE_TOKEN: sandbox.token, VETLEDGER_DATA_DIR: join(dataDir, 'data') };
    const ended = await run([bin, ...args(config)], env);
    await sandbox.stop();
    expect(ended.code).toBe(0);
    expect(() => JSON.parse(ended.stdout)).not.toThrow();
    const told = said(ended.stderr);
    for (const part of ['PostgreSQL: ready', 'Temporal: ready', 'Warning: an odd thing', 'pulling rows: '])
      expect(told).toContainEqual(expect.stringContaining(part));
  },
  120_000,
);

test('so is that of the daemon, from its start to its end by Ctrl-C, which leaves no server behind', async () => {
  const sandbox = await startSandbox({ seed: 3, invoices: 40, rateWindowSeconds: 1 });
  const daemon = startDaemon(sandbox, { embeddedTemporal: true, env: { NODE_OPTIONS: warns, VETLEDGER_LOG: 'debug' } });
  await waitFor('a window', () => daemon.events().some(({ event }) => event === 'window_closed'), 60_000);
  const ports = daemon.log().flatMap(({ msg }) => /ready on 127\.0\.0\.1:(\d+)$/.exec(String(msg))?.[1] ?? []);
  expect(ports).toHaveLength(2);
  daemon.process.kill('SIGINT');
  await daemon.ended;
  await sandbox.stop();
  expect(said(daemon.stderr())).toEqual(
    expect.arrayContaining(['Warning: an odd thing', 'ending; press Ctrl-C again to force it']),
  );
  expect(daemon.events().length).toBeGreaterThan(0);
  expect(await Promise.all(ports.map((port) => canListen(Number(port))))).toEqual([true, true]);
}, 120_000);

function run(args: string[], env: NodeJS.ProcessEnv): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...texts })));
}
