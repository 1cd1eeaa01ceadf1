import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLostConnection } from '../../src/db/database-errors.ts';
import { takeLease } from '../../src/db/lease.ts';
import { type Db, openDatabase, withoutIdleTimeout } from '../../src/db/pool.ts';
import { execute } from '../../src/db/rows.ts';
import { createTestDatabase } from '../support/database.ts';
import { TcpProxy } from '../support/proxy.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let others: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  others = openDatabase(database.url, { max: 2, statementTimeoutMs: 20_000 });
  await takeLease(others, { installation: 1, lane: 'live' }, 'first');
});
afterAll(async () => {
  await others.destroy();
  await database.drop();
});

const lockTheRow = `update lease set token = token + 1 where installation = 1 and lane = 'live'`;

test('a transaction whose process lost its network blocks others only for a short time', {
  timeout: 30_000,
}, async () => {
  const { hostname, port } = new URL(database.url);
  const proxy = new TcpProxy({ host: hostname, port: Number(port) });
  await proxy.listen();
  const url = new URL(database.url);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  const lost = openDatabase(url.href, { max: 1, idleTransactionTimeoutMs: 500, report: () => undefined });
  try {
    const trx = await lost.transaction();
    await execute(trx, lockTheRow);
    // The proxy cuts the client's side and keeps PostgreSQL's side open, like a network that drops all packets.
    proxy.cut();
    expect(await execute(others, lockTheRow)).toBe(1);
    await trx.rollback().catch(() => undefined);
  } finally {
    proxy.close();
    await lost.destroy();
  }
});

test('a transaction of ours that stands still for too long fails as a lost connection, which is tried again', {
  timeout: 30_000,
}, async () => {
  const slow = openDatabase(database.url, { max: 1, idleTransactionTimeoutMs: 200, report: () => undefined });
  try {
    const failure = await slow
      .transaction(async (trx) => {
        await execute(trx, lockTheRow);
        await execute(others, lockTheRow);
        await execute(trx, 'select 1');
      })
      .catch((error: unknown) => error);
    expect(isLostConnection(failure)).toBe(true);
    expect(await execute(slow, 'select 1')).toBe(1);
  } finally {
    await slow.destroy();
  }
});

test('one that only reads may wait for its reader', async () => {
  const slow = openDatabase(database.url, { max: 1, idleTransactionTimeoutMs: 200 });
  try {
    const trx = await slow.transaction({ readOnly: true });
    await withoutIdleTimeout(trx);
    await execute(others, 'select pg_sleep(0.6)');
    expect(await execute(trx, 'select 1')).toBe(1);
    await trx.rollback();
  } finally {
    await slow.destroy();
  }
});
