import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import {
  acquirePostgres,
  type PostgresHandle,
  type ServiceError,
  type ServicesOptions,
  startEphemeralPostgres,
} from '../../src/embedded/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { canListen, listeningAddresses, signalGroup, startHolder, temporaryFolder, unusedPort } from './support.ts';

const quiet = { progress: () => {}, env: process.env };
const portOf = (url: string) => Number(new URL(url).port);

/** Acquires a server that is released at the test's end, even if the test fails. */
async function acquire(options: ServicesOptions): Promise<PostgresHandle> {
  const postgres = await acquirePostgres(options);
  onTestFinished(() => postgres.release());
  return postgres;
}

async function rows(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

test('a server with the database vetledger, in UTF-8 and UTC, that waits for the disk', async () => {
  const dataDir = temporaryFolder();
  const postgres = await acquire({ dataDir, ...quiet });
  expect(postgres.embedded).toBe(true);
  expect(
    await rows(
      postgres.url,
      `select current_database(), current_setting('server_encoding'), current_setting('timezone'), current_setting('fsync')`,
    ),
  ).toEqual(['vetledger', 'UTF8', 'UTC', 'on']);
  expect(statSync(join(dataDir, 'postgres', 'vetledger.password')).mode & 0o777).toBe(0o600);
  const wrong = new URL(postgres.url);
  wrong.password = 'guess';
  await expect(rows(wrong.href, 'select 1')).rejects.toThrow(/password authentication failed/);
  const pid = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  expect(listeningAddresses(pid)).toEqual(['127.0.0.1']);
});

test('users share one server, the last one stops it, and the next start finds the data', async () => {
  const dataDir = temporaryFolder();
  const [first, second] = await Promise.all([acquire({ dataDir, ...quiet }), acquire({ dataDir, ...quiet })]);
  expect(second.url).toBe(first.url);
  await rows(first.ownerUrl, 'create table kept as select 7 as n');
  await rows(first.ownerUrl, 'grant select on kept to public');
  await first.release();
  await first.release();
  expect(await rows(second.url, 'select n from kept')).toEqual([7]);
  await second.release();
  expect(await canListen(portOf(first.url))).toBe(true);
  expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);

  const again = await acquire({ dataDir, ...quiet });
  expect(await rows(again.url, 'select n from kept')).toEqual([7]);
  await again.release();
});

test('two data folders have a server each', async () => {
  const [a, b] = await Promise.all([
    acquire({ dataDir: temporaryFolder(), ...quiet }),
    acquire({ dataDir: temporaryFolder(), ...quiet }),
  ]);
  expect(portOf(a.url)).not.toBe(portOf(b.url));
  await Promise.all([a.release(), b.release()]);
});

test.each(['SIGINT', 'SIGKILL'] as const)(
  'a process ended by %s leaves its server to the next start',
  async (signal) => {
    const dataDir = temporaryFolder();
    const { child, line: url } = await startHolder('postgres', dataDir);
    await signalGroup(child, signal);
    expect(await rows(url, 'select 1')).toEqual([1]);

    const lines: string[] = [];
    const postgres = await acquire({ dataDir, ...quiet, progress: (line) => lines.push(line) });
    expect(postgres.url).toBe(url);
    expect(lines.join()).toMatch(/using process \d+, which was left running earlier/);
    await postgres.release();
    expect(await canListen(portOf(url))).toBe(true);
  },
);

test('a server that died is started again', async () => {
  const dataDir = temporaryFolder();
  const first = await acquire({ dataDir, ...quiet });
  const [pid] = (await rows(first.ownerUrl, `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int`)) as [
    number,
  ];
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => canListen(portOf(first.url))).toBe(true);

  const second = await acquire({ dataDir, ...quiet });
  expect(await rows(second.url, 'select 1')).toEqual([1]);
  await first.release();
  expect(await rows(second.url, 'select 1')).toEqual([1]);
  await second.release();
});

test('a start that was killed while it made the database leaves nothing in the way', async () => {
  const dataDir = temporaryFolder();
  mkdirSync(join(dataDir, 'postgres.new', 'base'), { recursive: true });
  const postgres = await acquire({ dataDir, ...quiet });
  await postgres.release();
  expect(readdirSync(dataDir).sort()).toEqual(['logs', 'postgres', 'services']);
});

test('a given server is used as it is', async () => {
  const { url, drop } = await createTestDatabase();
  const postgres = await acquire({ dataDir: '/nowhere', databaseUrl: url, ...quiet });
  expect(postgres).toMatchObject({ url, embedded: false });
  await postgres.release();
  expect(await rows(url, 'select 1')).toEqual([1]);
  await drop();
});

const elsewhere = (change: (url: URL) => void) => {
  const url = new URL(inject('databaseUrl'));
  change(url);
  return url.href;
};
test.each([
  ['nobody listens', async () => `postgresql://ledger:hush-hush@127.0.0.1:${await unusedPort()}/books`, /ECONNREFUSED/],
  ['a wrong password', async () => elsewhere((url) => (url.password = 'hush-hush')), /password authentication failed/],
  ['a missing database', async () => elsewhere((url) => (url.pathname = '/hush')), /"hush" does not exist/],
])('a given server that cannot be used: %s', async (_case, given, reason) => {
  const databaseUrl = await given();
  const error = (await acquire({ dataDir: '/nowhere', databaseUrl, ...quiet }).catch(
    (e: unknown) => e,
  )) as ServiceError;
  expect(error.code).toBe('postgres_unreachable');
  expect(error.message).toMatch(reason);
  expect(error.message).toContain(new URL(databaseUrl).host);
  expect(error.message + error.todo).toContain('DATABASE_URL');
  expect(error.message + error.todo).not.toContain('hush-hush');
});

test('an ephemeral server is gone with its release', async () => {
  const postgres = await startEphemeralPostgres();
  const [folder, fsync] = (await rows(
    postgres.ownerUrl,
    `select current_setting('data_directory'), current_setting('fsync')`,
  )) as [string, string];
  expect(fsync).toBe('off');
  await postgres.release();
  expect(existsSync(folder)).toBe(false);
});
