// The statements with which a process makes itself known to others.

import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { lastDaemon } from '../../src/queries/last-daemon.ts';
import { processes } from '../../src/queries/machine.ts';
import type { App } from '../../src/runtime/app.ts';
import { Events } from '../../src/runtime/events.ts';
import { Outages } from '../../src/runtime/outages.ts';
import { enter, servedInstallations } from '../../src/runtime/presence.ts';
import { useDatabase } from '../support/database.ts';
import { waitFor } from '../workflows/support.ts';

const { db, truncate } = useDatabase();
beforeEach(truncate);

function appOf(): App {
  const clock = () => new Date();
  const outages = new Outages(pino({ enabled: false }), new Events(clock), clock);
  return { presenceDb: db, clock, outages, log: pino({ enabled: false }) } as unknown as App;
}

/** The number of statements until a process's second heartbeat, with mappings already in force. */
async function statementsOf(count: number): Promise<number> {
  const installations = Array.from({ length: count }, (_, n) => 1_000 + n);
  const app = appOf();
  const times = { heartbeatMs: 5 };
  const first = await enter(app, { command: 'run', taskQueue: 'vetledger', installations, times });
  await first.end();
  let sent = 0;
  let heartbeats = 0;
  const counted = ({ sql }: { sql: string }) => {
    if (heartbeats < 2) sent += 1;
    if (sql.startsWith('insert into daemon')) heartbeats += 1;
  };
  db.on('query', counted);
  const presence = await enter(app, { command: 'run', taskQueue: 'vetledger', installations, times });
  await waitFor('heartbeats', () => heartbeats >= 2);
  expect([...(await servedInstallations(db, 'vetledger'))].sort()).toEqual(installations);
  expect(await servedInstallations(db, 'other')).toEqual(new Set());
  await presence.end();
  db.removeListener('query', counted);
  return sent;
}

test('a process with many installations asks the database no more often than one with few: its heartbeat has a time-out', async () => {
  const few = await statementsOf(2);
  expect(few).toBeGreaterThan(1);
  expect(await statementsOf(200)).toBe(few);
});

test.each([
  ['run', { heardAt: expect.any(Date), isRunning: false }],
  ['sync', null],
])('after an orderly end, `%s` serves nothing, and only a daemon is remembered', async (command, remembered) => {
  const presence = await enter(appOf(), { command, taskQueue: 'vetledger', installations: [7] });
  expect(await servedInstallations(db, 'vetledger')).toEqual(new Set([7]));
  await presence.end();
  expect(await servedInstallations(db, 'vetledger')).toEqual(new Set());
  expect(await lastDaemon(db, 7, 'vetledger')).toEqual(remembered);
  expect(await processes(db, [7])).toEqual([]);
});
