// Starts a standby of an embedded PostgreSQL with a base backup by SQL functions, because its packages have no
// pg_basebackup.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { postgresBinaries } from '../../src/embedded/postgres-binaries.ts';
import { placeOfCluster } from '../../src/embedded/postgres-cluster.ts';
import { unusedPort } from '../embedded/support.ts';
import { waitFor } from '../workflows/support.ts';

const quiet = { progress: () => undefined, env: process.env };

export interface Standby {
  port: number;
  /** The same URL with the standby's address. */
  urlOf(url: string): string;
  /** Waits until the standby has every commit of the primary. */
  caughtUp(): Promise<void>;
  promote(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a standby of the embedded server of `dataDir`. With `follows` it streams from the server; otherwise it lacks
 * every later commit. It stops with the test.
 */
export async function startStandby(
  dataDir: string,
  ownerUrl: string,
  { follows }: { follows: boolean },
): Promise<Standby> {
  const place = placeOfCluster(dataDir, quiet.progress);
  const binaries = await postgresBinaries({ ...quiet, dataDir }, place.account);
  const port = await unusedPort();
  const folder = join(dirname(place.folder), `standby-${port}`);
  const primary = new pg.Client({ connectionString: ownerUrl });
  await primary.connect();
  await primary.query(`select pg_backup_start('standby', true)`);
  copy(place.folder, folder);
  const { rows } = await primary.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
  rmSync(join(folder, 'pg_wal'), { recursive: true });
  copy(join(place.folder, 'pg_wal'), join(folder, 'pg_wal'));
  await primary.end();
  rmSync(join(folder, 'postmaster.pid'), { force: true });
  writeFileSync(join(folder, 'backup_label'), rows[0]?.labelfile ?? '');
  writeFileSync(join(folder, 'standby.signal'), '');
  const { hostname, port: from, username, password } = new URL(ownerUrl);
  const source = `host=${hostname} port=${from} user=${username} password=${password}`;
  if (follows) appendFileSync(join(folder, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  if (place.account) spawnSync('chown', ['-R', `${place.account.uid}:${place.account.gid}`, folder]);
  const child = spawn(
    binaries.postgres,
    [
      '-D',
      folder,
      ...settings({
        port,
        listen_addresses: '127.0.0.1',
        unix_socket_directories: '',
        max_connections: 200,
        fsync: 'off',
      }),
    ],
    { cwd: '/', stdio: 'ignore', env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' }, ...(place.account ?? {}) },
  );
  const stop = () => ended(child, () => rmSync(folder, { recursive: true, force: true }));
  onTestFinished(stop);
  const urlOf = (url: string) => Object.assign(new URL(url), { port: String(port) }).href;
  const ask = async <Row extends pg.QueryResultRow>(url: string, sql: string) => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
    await client.connect();
    try {
      return (await client.query<Row>(sql)).rows[0];
    } finally {
      await client.end();
    }
  };
  const here = urlOf(ownerUrl);
  await waitFor('standby', () => ask(here, 'select 1').catch(() => null));
  return {
    port,
    urlOf,
    caughtUp: async () => {
      const at = await ask<{ lsn: string }>(ownerUrl, 'select pg_current_wal_lsn() as lsn');
      const behind = `select pg_last_wal_replay_lsn() >= '${at?.lsn}'::pg_lsn as done`;
      await waitFor('replay', async () => (await ask<{ done: boolean }>(here, behind))?.done);
    },
    promote: async () => void (await ask(here, 'select pg_promote(true, 60)')),
    stop,
  };
}

const settings = (values: Record<string, string | number>) =>
  Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

function copy(from: string, to: string): void {
  // Files may be deleted during the copy; the log in the backup covers them.
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  if (status !== 0 && !/No such file|vanished/.test(stderr)) throw new Error(stderr);
}

async function ended(child: ChildProcess, then: () => void): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill('SIGQUIT');
    await exit;
  }
  then();
}
