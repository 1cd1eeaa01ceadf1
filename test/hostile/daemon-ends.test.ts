// The end of a daemon: stopped by its supervisor while the source does not answer, and after the reader of its events
// has ended.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/src/index.ts';
import { freePort } from '../../src/embedded/processes.ts';
import { temporaryFolder } from '../embedded/support.ts';
import { bin, startDaemon } from '../support/daemon-process.ts';
import { createTestDatabase } from '../support/database.ts';
import { fromEnvironment } from '../support/demo-config.ts';
import { waitFor } from '../workflows/support.ts';

test('SIGTERM while the source hangs: down within 30 s, and the window goes on with the next daemon', {
  timeout: 240_000,
}, async () => {
  const sandbox = await startSandbox({ seed: 5, invoices: 30, rateWindowSeconds: 1 });
  const database = await createTestDatabase();
  const options = {
    settings: { database_url: fromEnvironment('DATABASE_URL'), schedule: '{every: 1h}' },
    env: { DATABASE_URL: database.url },
  };
  sandbox.setFaults({ timeoutMs: { probability: 1, ms: 600_000, action: 'unallocatedpayment.list' } });
  const first = startDaemon(sandbox, options);
  const opened = await first.event('open window', ({ event }) => event === 'window_opened');
  expect(opened).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    event: 'window_opened',
    installation: sandbox.installation,
    window: expect.any(Number),
    kind: 'window',
    trigger: expect.any(String),
    from: null,
    to: expect.any(String),
    workflow_id: expect.stringContaining('sync-window/'),
    run_id: expect.any(String),
  });
  await waitFor('request that hangs', () => sandbox.stats().byAction['unallocatedpayment.list'], 60_000);
  const asked = performance.now();
  first.process.kill('SIGTERM');
  expect(await first.ended).toEqual([0, null]);
  expect(performance.now() - asked).toBeLessThan(30_000);
  expect(first.stdout()).not.toContain('window_closed');

  sandbox.setFaults({ timeoutMs: null });
  const temporalPort = await freePort();
  const second = startDaemon(sandbox, {
    ...options,
    settings: {
      ...options.settings,
      schedule: '{every: 2s}',
      metrics: `{listen: "127.0.0.1:0", temporal_listen: "127.0.0.1:${temporalPort}"}`,
    },
  });
  const closed = await second.event('closed window', ({ event }) => event === 'window_closed');
  const { window, workflow_id, run_id } = opened;
  expect(closed).toMatchObject({
    window,
    workflow_id,
    run_id,
    outcome: 'closed',
    from: null,
    held: expect.any(Number),
  });
  expect(closed).toMatchObject({ seen: { invoices: expect.any(Number) }, api: { requests: expect.any(Number) } });
  // Only the newest process can serve the metrics of the Temporal SDK.
  expect(await (await fetch(`http://127.0.0.1:${temporalPort}/metrics`)).text()).toMatch(/^temporal_\w+\{/m);
  // The reader of its events ends, like `| head -1`. The daemon then ends cleanly at the next event.
  second.process.stdout.destroy();
  const url = /metrics: (http:\S+)\/metrics/.exec(second.stderr())?.[1];
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(await second.ended).toEqual([0, null]);
  await database.drop();
  await sandbox.stop();
});

test('the address of the Temporal SDK’s metrics is the daemon’s: taken, it names it; commands work beside it', {
  timeout: 240_000,
}, async () => {
  const sandbox = await startSandbox({ seed: 5, invoices: 10, rateWindowSeconds: 1 });
  const database = await createTestDatabase();
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const folder = temporaryFolder();
  const env = { DATABASE_URL: database.url };
  const daemon = startDaemon(sandbox, {
    folder,
    settings: {
      database_url: fromEnvironment('DATABASE_URL'),
      metrics: `{listen: "127.0.0.1:0", temporal_listen: "127.0.0.1:${port}"}`,
    },
    env,
  });
  expect(await daemon.ended).toEqual([3, null]);
  expect(daemon.stdout()).toContain(`127.0.0.1:${port}: Address already in use`);
  expect(daemon.stdout()).toContain('metrics.temporal_listen');
  const args = [bin, 'sync', '--json', '--config', join(folder, 'vetledger.yaml')];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, PRACTICE_TOKEN: sandbox.token, ...env },
  });
  expect(JSON.parse(stdout)).toMatchObject({ windows: [{ outcome: 'closed' }] });
  taken.close();
  await database.drop();
  await sandbox.stop();
});
