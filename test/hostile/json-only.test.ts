import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, onTestFinished, test } from 'vitest';
import { folderOf } from '../cli/support.ts';

const bin = fileURLToPath(new URL('../../bin/vetledger.js', import.meta.url));

/** A way to the test run's PostgreSQL that lets the first `passed` connections through and ends the others. */
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
  expect(ended.stderr).toContain('Acquire connection error');
});
