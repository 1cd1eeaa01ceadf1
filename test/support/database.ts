import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, inject } from 'vitest';
import { text } from '../../src/db/columns.ts';
import { type Db, openDatabase, schemaName } from '../../src/db/pool.ts';
import { execute, rows } from '../../src/db/rows.ts';
import { dropDatabase, runAlone, urlOfDatabase } from './server.ts';

export interface TestDatabase {
  /** As the runtime role, which the program runs as. */
  url: string;
  /** As the owner of the tables, for set-up that the program itself may not do. */
  ownerUrl: string;
  /** Drops the database, ending connections that are still open. */
  drop(): Promise<void>;
}

export interface UsedDatabase {
  /** A pool on the database, as the runtime role; it connects with its first statement. */
  db: Db;
  url: string;
  /** A pool as the owner of the tables, for set-up that the program itself may not do. */
  owner: Db;
  ownerUrl: string;
  /** Another pool on it as the runtime role, as another process would have; ended with the first. */
  openPool(options?: { max?: number }): Db;
  /** Empties every table but those that the migrations fill. */
  truncate(): Promise<void>;
}

/**
 * A migrated database for the tests of this file, or of the `describe` that calls it: made before its first test, dropped after
 * the last. Its name and pool exist at once, so that they can be given to whatever is declared beside the tests.
 */
export function useDatabase(): UsedDatabase {
  const { name, url, ownerUrl } = newDatabase();
  const pools: Db[] = [];
  const open = (as: string, options?: { max?: number }) => {
    const pool = openDatabase(as, options);
    pools.push(pool);
    return pool;
  };
  const openPool: UsedDatabase['openPool'] = (options) => open(url, options);
  const db = openPool();
  const owner = open(ownerUrl);
  beforeAll(() => createFromTemplate(name));
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.destroy()));
    await dropDatabase(inject('databaseUrl'), name);
  });
  return { db, url, owner, ownerUrl, openPool, truncate: () => truncateAll(owner) };
}

/** A migrated database with a random name on the test run's PostgreSQL, for as long as the caller wants it. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { name, url, ownerUrl } = newDatabase();
  await createFromTemplate(name);
  return { url, ownerUrl, drop: () => dropDatabase(inject('databaseUrl'), name) };
}

function newDatabase(): { name: string; url: string; ownerUrl: string } {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const server = inject('databaseUrl');
  return {
    name,
    url: urlOfDatabase(server, name, inject('runtimeRole')),
    ownerUrl: urlOfDatabase(server, name),
  };
}

/**
 * Copies the database that global-setup.ts migrated once for the run: some 50 ms, whatever the number of migrations. The copy
 * gets a database id of its own, because task queues and workflow ids contain that id: test files run at the same time and
 * share one Temporal server.
 */
async function createFromTemplate(name: string): Promise<void> {
  const server = inject('databaseUrl');
  await runAlone(server, `create database ${name} template ${inject('templateDatabase')}`);
  await runAlone(
    urlOfDatabase(server, name),
    `update ${schemaName}.meta set value = '${randomBytes(4).toString('hex')}' where key = 'database_id'`,
  );
}

async function truncateAll(db: Db): Promise<void> {
  await db.transaction(async (trx) => {
    const tables = await rows(
      trx,
      { name: text },
      `select tablename::text as name from pg_tables where schemaname = ? and tablename not in ('migration', 'meta')`,
      [schemaName],
    );
    // The journal's triggers refuse to let anything be deleted.
    await execute(trx, 'set local session_replication_role = replica');
    await execute(trx, `truncate ${tables.map(({ name }) => `${schemaName}.${name}`).join(', ')}`);
  });
}
