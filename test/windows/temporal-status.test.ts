// The state of Temporal in `status`: it answers, does not answer, or has ended, and since when.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeEach, expect, inject, onTestFinished, test } from 'vitest';
import { temporalLines } from '../../src/cli/commands/status-text.ts';
import { identify } from '../../src/embedded/processes.ts';
import type { App } from '../../src/runtime/app.ts';
import { Events } from '../../src/runtime/events.ts';
import { Outages } from '../../src/runtime/outages.ts';
import { enter, temporalGoneSince } from '../../src/runtime/presence.ts';
import { temporalStatus } from '../../src/windows/temporal-status.ts';
import { temporaryFolder, unusedPort } from '../embedded/support.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';
import { waitFor } from '../workflows/support.ts';

const { db, truncate } = useDatabase();
beforeEach(truncate);

const shortMs = 300;
const configured = (address: string | null, dataDir = '/nowhere') => ({
  dataDir,
  temporal: { address, namespace: 'default', taskQueue: 'vetledger', security: { tls: false } },
});

/** A `data_dir` with this record of its embedded server. */
function recorded(record: { pid: number; started: string; port: number }): string {
  const dataDir = temporaryFolder();
  const folder = join(dataDir, 'services/temporal');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'server.json'), JSON.stringify({ ...record, uiPort: null }));
  return dataDir;
}

/** A server that accepts connections and does not answer. */
async function silentPort(): Promise<number> {
  const server = createServer(() => undefined);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

/** A running daemon with this last heartbeat, which has not reached Temporal since then. */
async function daemon(goneSince: Date | null, heardSecondsAgo = 0): Promise<void> {
  await query(
    db,
    `insert into daemon (id, command, host, process, version, task_queue, installations, temporal_gone_since, heard_at)
     values (gen_random_uuid(), 'run', 'h', 1, '0', 'vetledger', '{}', ?, clock_timestamp() - make_interval(secs => ?))`,
    [goneSince, heardSecondsAgo],
  );
}

const address = inject('temporalAddress');

test('a server that answers', async () => {
  expect(await temporalStatus(configured(address), db)).toEqual({
    ...{ ok: true, address, embedded: false, since: null, error: null },
  });
});

test('a server that came back with another namespace is named, since when, and with what to do', async () => {
  await daemon(new Date('2026-05-04T09:00:00Z'));
  const bound = { system: null, database: null, timeline: null, namespace: 'of before', incarnation: 'b', next: null };
  await query(db, `insert into meta (key, value) values ('binding', ?)`, [JSON.stringify(bound)]);
  onTestFinished(async () => void (await query(db, `delete from meta where key = 'binding'`)));
  const found = await temporalStatus(configured(address), db);
  expect(found).toMatchObject({ ok: false, since: new Date('2026-05-04T09:00:00Z') });
  expect(found?.error).toMatchObject({ code: 'temporal_replaced', todo: expect.stringContaining('adopt --restored') });
  const [first, todo] = temporalLines(found);
  expect(first).toMatch(/^Temporal has lost its data.* sent; the daemon noticed it 2026-05-04 09:00:00 UTC\.$/);
  expect(todo).toContain('Restore the data of Temporal');
});

test('a configured server that refuses connections or never answers: named, with the time when the first daemon noticed', async () => {
  const [first, later] = [new Date('2026-05-04T09:00:00Z'), new Date('2026-05-04T09:00:05Z')];
  await daemon(later);
  await daemon(first);
  await daemon(null);
  await daemon(new Date('2026-05-04T08:00:00Z'), 3600);
  for (const port of [await unusedPort(), await silentPort()]) {
    const found = await temporalStatus(configured(`127.0.0.1:${port}`), db, shortMs);
    expect(found).toMatchObject({ ok: false, embedded: false, since: first, error: { code: 'temporal_unreachable' } });
    expect(found?.error?.message).toBe(`Temporal at 127.0.0.1:${port} does not answer, so no window opens.`);
    expect(found?.error?.todo).toContain('temporal.address (TEMPORAL_ADDRESS)');
  }
});

test('an embedded server that has died, one that runs without answering, and none: it starts none', async () => {
  const { pid } = spawnSync('true');
  const dead = recorded({ pid, started: 'ended', port: await unusedPort() });
  const found = await temporalStatus(configured(null, dead), db, shortMs);
  expect(found).toMatchObject({ ok: false, embedded: true, since: null, error: { code: 'temporal_unreachable' } });
  expect(found?.error?.message).toBe(`The embedded Temporal server (process ${pid}) has died, so no window opens.`);
  expect(found?.error?.todo).toContain('vetledger run');
  expect(readdirSync(join(dead, 'services/temporal'))).toEqual(['server.json']);

  const mute = recorded({ ...identify(process.pid)!, port: await silentPort() });
  const silent = await temporalStatus(configured(null, mute), db, shortMs);
  expect(silent).toMatchObject({ ok: false, embedded: true });
  expect(silent?.error?.todo).toContain(join(mute, 'logs/temporal.log'));

  const empty = temporaryFolder();
  expect(await temporalStatus(configured(null, empty), db, shortMs)).toBeNull();
  expect(readdirSync(empty)).toEqual([]);
});

test('a process that does not reach Temporal says so with its heartbeat, until it does', async () => {
  const clock = () => new Date('2026-05-04T09:00:00Z');
  const outages = new Outages(pino({ enabled: false }), new Events(clock), clock);
  const app = { config: { installations: [] }, presenceDb: db, clock, outages } as unknown as App;
  const presence = await enter(app, {
    command: 'run',
    taskQueue: 'vetledger',
    installations: [],
    times: { heartbeatMs: 5 },
  });
  onTestFinished(() => presence.end());
  outages.down('temporal', { code: 'temporal_unreachable', message: 'm', todo: 't' });
  await waitFor('its heartbeat', async () => (await temporalGoneSince(db))?.getTime() === clock().getTime());
  outages.up('temporal');
  await waitFor('its next heartbeat', async () => (await temporalGoneSince(db)) === null);
});
