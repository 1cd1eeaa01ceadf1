// Processes with a changed list of clinics: after a kill, and when a Deployment rolls out a new configuration.

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/index.ts';
import { vetledger } from '../cli/support.ts';
import { startDaemon, type Told } from '../support/daemon-process.ts';
import { createTestDatabase } from '../support/database.ts';
import { fromEnvironment } from '../support/demo-config.ts';
import { queryAlone } from '../support/server.ts';
import { waitFor } from '../workflows/support.ts';

vi.setConfig({ testTimeout: 300_000 });

/** A killed process counts as running for a minute; the next round of the watch follows. */
const forgottenWithinMs = 120_000;

let kept: Sandbox;
let removed: Sandbox;
let added: Sandbox;
let connection: Connection;

beforeAll(async () => {
  const clinic = (installation: number) =>
    startSandbox({ seed: installation, invoices: 10, rateWindowSeconds: 1, installation, token: 'one-token-for-all' });
  [kept, removed, added] = await Promise.all([clinic(4711), clinic(4712), clinic(4713)]);
  connection = await Connection.connect({ address: inject('temporalAddress') });
});
afterAll(async () => {
  await Promise.all([kept, removed, added].map((sandbox) => sandbox?.stop()));
  await connection?.close();
});

type Daemon = ReturnType<typeof startDaemon>;

/** Starts daemons that share a new database. */
async function daemonsOfOneDatabase() {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const [meta] = await queryAlone<{ value: string }>(
    database.ownerUrl,
    `select value from vetledger.meta where key = 'database_id'`,
  );
  const { schedule } = new Client({ connection });
  return {
    start: (...clinics: [Sandbox, ...Sandbox[]]) =>
      startDaemon(clinics, {
        settings: {
          database_url: fromEnvironment('DATABASE_URL'),
          migrate_database_url: fromEnvironment('MIGRATE_DATABASE_URL'),
        },
        // As in the manifests, the daemon does not get the owner of the tables.
        env: { DATABASE_URL: database.url, MIGRATE_DATABASE_URL: '' },
      }),
    migrate: ({ config, env }: Daemon) =>
      vetledger(['migrate', '--config', config, '--json'], { ...env, MIGRATE_DATABASE_URL: database.ownerUrl }),
    pauseOf: async (installation: number) => {
      const { state } = await schedule.getHandle(`sync-window/${installation}-${meta?.value}`).describe();
      return state.paused ? state.note : null;
    },
    openWindows: () =>
      queryAlone(database.ownerUrl, 'select installation from vetledger.sync_window where outcome is null'),
    unexplained: () =>
      queryAlone(database.ownerUrl, `select error from vetledger.sync_window where error::text like '%unexpected%'`),
  };
}

const closedOf = (id: number) => (event: Told) => event.event === 'window_closed' && event.installation === id;
const closedBy = (daemon: Daemon) => [
  ...new Set(daemon.events().flatMap((one) => (one.event === 'window_closed' ? [Number(one.installation)] : []))),
];
const noteOfUnserved = 'no process serves the installation';

test('a daemon is killed and its clinic list edited: the next start works at once, and the removed clinic rests once the dead one is forgotten', async () => {
  const { start, pauseOf, openWindows, unexplained } = await daemonsOfOneDatabase();
  const old = start(kept, removed);
  await old.event('window of both', () => closedBy(old).length === 2);
  await old.event('window under way', ({ event, installation }) => event === 'window_opened' && installation === 4712);
  old.process.kill('SIGKILL');
  await old.ended;
  const began = performance.now();
  const next = start(kept, added);
  await next.event('window of the added clinic', closedOf(4713));
  expect(performance.now() - began).toBeLessThan(30_000);
  await next.event('window of the kept clinic', closedOf(4711));
  await waitFor('pause of the removed one', async () => (await pauseOf(4712)) === noteOfUnserved, forgottenWithinMs);
  await waitFor('end of its window', async () => (await openWindows()).length === 0 || null, forgottenWithinMs);
  expect(await pauseOf(4711)).toBeNull();
  // The remaining process closed its last window and opened no other.
  const opened = next.events().filter(({ event, installation }) => event === 'window_opened' && installation === 4712);
  expect(opened).toEqual([]);
  expect(await unexplained()).toEqual([]);
  expect(next.process.exitCode).toBeNull();
});

test('a changed clinic list is rolled out: the older daemon keeps the clinic that the newer lacks until it ends, and no clinic waits', async () => {
  const { start, migrate, pauseOf, unexplained } = await daemonsOfOneDatabase();
  const old = start(kept, removed);
  await old.event('window of both', () => closedBy(old).length === 2);
  const next = start(kept, added);
  await next.event('window of the added clinic', closedOf(4713));
  await old.event('next window of the removed one', closedOf(4712), old.events().length);
  expect(await pauseOf(4712)).toBeNull();
  old.process.kill('SIGTERM');
  expect((await old.ended)[0]).toBe(0);
  await waitFor('pause of the removed one', async () => (await pauseOf(4712)) === noteOfUnserved, 60_000);
  await next.event('window of the kept clinic', closedOf(4711), next.events().length);
  expect(closedBy(old)).not.toContain(4713);
  expect(closedBy(next)).not.toContain(4712);

  // The test does the steps of the Deployment (Recreate): the pod ends, its init container migrates, the next pod starts.
  next.process.kill('SIGTERM');
  expect((await next.ended)[0]).toBe(0);
  expect(await migrate(next)).toMatchObject({ code: 0 });
  const last = start(removed, added);
  await last.event('window of the clinic that is back', closedOf(4712));
  await waitFor('pause of the other', async () => (await pauseOf(4711)) === noteOfUnserved, 60_000);
  expect(await pauseOf(4712)).toBeNull();
  expect(await unexplained()).toEqual([]);
});
