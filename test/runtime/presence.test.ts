// What a process asks of the database to be known of to others.

import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import type { App } from '../../src/runtime/app.ts';
import { Events } from '../../src/runtime/events.ts';
import { Outages } from '../../src/runtime/outages.ts';
import { enter } from '../../src/runtime/presence.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';
import { waitFor } from '../workflows/support.ts';

const { db, truncate } = useDatabase();
beforeEach(truncate);

const installationsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => {
    const id = 1_000 + n;
    return { id, baseUrl: 'https://a.example', currency: 'EUR', timezone: 'UTC' };
  }) as InstallationConfig[];

/** How many statements a process sends until its second heartbeat, its mappings being in force already. */
async function statementsOf(count: number): Promise<number> {
  const clock = () => new Date();
  const outages = new Outages(pino({ enabled: false }), new Events(clock), clock);
  const app = {
    config: { installations: installationsOf(count) },
    presenceDb: db,
    clock,
    outages,
    log: pino({ enabled: false }),
  };
  const times = { heartbeatMs: 5 };
  const first = await enter(app as unknown as App, { command: 'run', taskQueue: 'vetledger', times });
  await first.end();
  let sent = 0;
  let heartbeats = 0;
  const counted = ({ sql }: { sql: string }) => {
    if (heartbeats < 2) sent += 1;
    if (sql.startsWith('update daemon set heard_at')) heartbeats += 1;
  };
  db.on('query', counted);
  const presence = await enter(app as unknown as App, { command: 'run', taskQueue: 'vetledger', times });
  const served = await query(db, 'select from daemon_installation');
  expect(served).toHaveLength(count);
  await waitFor('heartbeats', () => heartbeats >= 2);
  await presence.end();
  db.removeListener('query', counted);
  return sent;
}

test('a process with many installations asks the database no more often than one with few: its heartbeat has a time-out', async () => {
  const few = await statementsOf(2);
  expect(few).toBeGreaterThan(5);
  expect(await statementsOf(200)).toBe(few);
});
