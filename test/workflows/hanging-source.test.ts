import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LaneStatus } from '../../src/queries/lanes.ts';
import type { InstallationStatus } from '../../src/queries/status.ts';
import { vetledger } from '../cli/support.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { runAlone } from '../support/server.ts';
import { waitFor } from './support.ts';

/** The behaviour of the server; `pass` forwards the request to the sandbox. */
type Mode = 'pass' | 'silent' | 'headers' | 'trickle' | 'token';

let mode: Mode = 'pass';
let server: Server;
let target = '';
let clinic: TestClinic;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const isToken = request.url?.includes('oauth2/token') ?? false;
  if (mode === 'silent' || (mode === 'token' && isToken)) return;
  const { authorization = '', 'content-type': type = 'application/json' } = request.headers;
  if (mode === 'headers' || mode === 'trickle') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (mode === 'trickle') {
      const timer = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(timer));
    }
    return;
  }
  const answered = await fetch(`${target}${request.url}`, {
    method: request.method ?? 'GET',
    headers: { authorization, 'content-type': type },
    ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
  });
  const date = answered.headers.get('date') ?? '';
  response.writeHead(answered.status, { 'content-type': 'application/json', date });
  response.end(await answered.text());
}

beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  clinic = await startTestClinic({ seed: 29, invoices: 10, settings: { base_url: url } });
  target = clinic.sandbox.url;
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
});
afterAll(async () => {
  await clinic?.stop();
  server?.closeAllConnections();
  server?.close();
});

async function status(): Promise<InstallationStatus> {
  const told = await vetledger(['status', '--config', clinic.config, '--json'], clinic.env);
  return told.json().installations[0] as InstallationStatus;
}

/** Waits until the live lane reports what it waits for. */
async function waiting(): Promise<LaneStatus> {
  let lane: LaneStatus | undefined;
  await waitFor('a wait in the row of the lane', async () => {
    lane = (await status()).lanes.find((each) => each.lane === 'live');
    return (lane?.waits_for ?? null) !== null;
  });
  return lane!;
}

test.each<[string, Mode]>([
  ['a source that accepts and never answers', 'silent'],
  ['one that answers headers only', 'headers'],
  ['one that trickles', 'trickle'],
])('%s is what the window waits for, since when', async (_name, hanging) => {
  mode = hanging;
  const began = Date.now();
  const syncing = clinic.sync();
  const lane = await waiting();
  expect(lane).toMatchObject({ alive: true });
  expect(lane.waits_for).toMatch(/^an answer of the practice API \(GET .*\/invoice\/\)$/);
  expect(new Date(lane.waits_since!).getTime()).toBeGreaterThanOrEqual(began - 1_000);
  const { stdout } = await vetledger(['status', '--config', clinic.config], clinic.env);
  expect(stdout).toContain('for an answer of the practice API');
  mode = 'pass';
  server.closeAllConnections();
  expect(await syncing).toMatchObject({ outcome: 'closed' });
  expect((await status()).lanes).toEqual([]);
});

test('a transaction that PostgreSQL does not let through is what the window waits for', async () => {
  clinic.sandbox.clinic.takePrepayment({ payment_type: 0, paid: '25.00' });
  const blocking = runAlone(
    clinic.ownerUrl,
    `set search_path = vetledger; begin; lock table mirror_record in access exclusive mode; select pg_sleep(12); commit;`,
  );
  const syncing = clinic.sync();
  expect((await waiting()).waits_for).toMatch(/^PostgreSQL/);
  await blocking;
  expect(await syncing).toMatchObject({ outcome: 'closed' });
});

test('a window that no daemon has taken is reported, and that no daemon works', async () => {
  const { client } = clinic.engine;
  const config = `${clinic.config}.nobody.yaml`;
  const text = readFileSync(clinic.config, 'utf8');
  writeFileSync(config, text.replace(/temporal: *\{/, 'temporal: {task_queue: nobody, '));
  const workflowId = `sync-window/4711-${clinic.app.temporalName}-nobody-2026-05-04T09:00:00Z`;
  const taskQueue = `nobody-${clinic.app.temporalName}`;
  const handle = await client.workflow.start('syncWindow', { workflowId, taskQueue, args: [] });
  try {
    const ofNobody = async () => {
      const told = await vetledger(['status', '--config', config, '--json'], clinic.env);
      return told.json().installations[0] as InstallationStatus;
    };
    expect((await ofNobody()).daemon).toBe(false);
    await waitFor('the tick that nobody took', async () => (await ofNobody()).untaken_tick !== null);
    const found = await ofNobody();
    expect(found.untaken_tick).toMatchObject({ workflow_id: workflowId });
    expect(found).toMatchObject({ health: 'waiting', cause: { code: 'tick_untaken' } });
    expect(found.next_step).toContain('vetledger run');
    const { stdout } = await vetledger(['status', '--config', config], clinic.env);
    expect(stdout).toContain('is not running');
    expect(stdout).toContain(workflowId);
  } finally {
    await handle.terminate();
  }
});
