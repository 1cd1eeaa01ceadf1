import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, inject } from 'vitest';
import { text } from '../../src/db/columns.ts';
import { type Db, openDatabase, schemaName } from '../../src/db/pool.ts';
import { execute, rows } from '../../src/db/rows.ts';
import { dropDatabase, runAlone, urlOfDatabase } from './server.ts';

export interface TestDatabase {
  /** The URL for the runtime role, which the program uses. */
  url: string;
  /** The URL for the owner of the tables, for set-up that the program may not do. */
  ownerUrl: string;
  /** The URL for the role of the console. */
  consoleUrl: string;
  /** Drops the database, ending connections that are still open. */
  drop(): Promise<void>;
}

export interface UsedDatabase {
  /** A pool with the runtime role, which connects at its first statement. */
  db: Db;
  url: string;
  /** A pool with the role of the console. */
  consoleDb: Db;
  consoleUrl: string;
  /** A pool with the owner of the tables, for set-up that the program may not do. */
  owner: Db;
  ownerUrl: string;
  /** Another pool with the runtime role, as another process would have. It ends with the first. */
  openPool(options?: { max?: number }): Db;
  /** Empties every table except those that the migrations fill. */
  truncate(): Promise<void>;
}

/**
 * A migrated database for the tests of this file or `describe`. It is created before the first test and dropped after
 * the last. Its name and pool exist at once, so that declarations outside of tests can use them.
 */
export function useDatabase(): UsedDatabase {
  const { name, url, ownerUrl, consoleUrl } = newDatabase();
  const pools: Db[] = [];
  const open = (as: string, options?: { max?: number }) => {
    const pool = openDatabase(as, options);
    pools.push(pool);
    return pool;
  };
  const openPool: UsedDatabase['openPool'] = (options) => open(url, options);
  const db = openPool();
  const [owner, consoleDb] = [open(ownerUrl), open(consoleUrl)];
  beforeAll(() => createFromTemplate(name));
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.destroy()));
    await dropDatabase(inject('databaseUrl'), name);
  });
  return { db, url, consoleDb, consoleUrl, owner, ownerUrl, openPool, truncate: () => truncateAll(owner) };
}

/** Creates a migrated database with a random name on the test run's PostgreSQL. The caller drops it. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { name, url, ownerUrl, consoleUrl } = newDatabase();
  await createFromTemplate(name);
  return { url, ownerUrl, consoleUrl, drop: () => dropDatabase(inject('databaseUrl'), name) };
}

/** Creates a database without our schema. The caller migrates and drops it. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const { name, url, ownerUrl, consoleUrl } = newDatabase();
  await runAlone(inject('databaseUrl'), `create database ${name}`);
  return { url, ownerUrl, consoleUrl, drop: () => dropDatabase(inject('databaseUrl'), name) };
}

function newDatabase(): { name: string; url: string; ownerUrl: string; consoleUrl: string } {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const server = inject('databaseUrl');
  return {
    name,
    url: urlOfDatabase(server, name, inject('runtimeRole')),
    ownerUrl: urlOfDatabase(server, name),
    consoleUrl: urlOfDatabase(server, name, inject('consoleRole')),
  };
}

/**
 * Copies the files of the database that global-setup.ts migrated once for the run: half the cost of copying through the log. The copy gets a new
 * database id, because task queues and workflow ids contain it and test files share one Temporal server.
 */
async function createFromTemplate(name: string): Promise<void> {
  const server = inject('databaseUrl');
  await runAlone(server, `create database ${name} template ${inject('templateDatabase')} strategy file_copy`);
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
    // The journal's triggers refuse deletion, so they are disabled here. PostgreSQL deletes the few rows of a test faster than it
    // truncates all tables, since it would make new files for each of them.
    await execute(trx, 'set local session_replication_role = replica');
    await execute(trx, tables.map(({ name }) => `delete from ${schemaName}.${name}`).join('; '));
  });
}
