import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

export interface TestDatabase {
  url: string;
  /** Drops the database, ending connections that are still open. */
  drop(): Promise<void>;
}

/** A fresh, empty database with a random name on the test run's PostgreSQL. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject('databaseUrl');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await execute(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => execute(server, `drop database if exists ${name} with (force)`) };
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, query_timeout: 30_000 });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
