import knex from 'knex';
import { expect, test } from 'vitest';
import { isLostConnection } from '../../src/db/database-errors.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { execute } from '../../src/db/rows.ts';
import { useDatabase } from '../support/database.ts';

const { db, openPool } = useDatabase();

async function errorOf(statement: Promise<unknown>): Promise<unknown> {
  try {
    await statement;
  } catch (error) {
    return error;
  }
  throw new Error('nothing failed');
}

test('a server that is not there', async () => {
  const nobody = openDatabase('postgresql://nobody@127.0.0.1:1/none');
  expect(isLostConnection(await errorOf(execute(nobody, 'select 1')))).toBe(true);
  await nobody.destroy();
});

test('a connection that the server ends', async () => {
  const doomed = openPool({ max: 1 });
  const ended = errorOf(execute(doomed, `select pg_terminate_backend(pg_backend_pid())`));
  expect(isLostConnection(await ended)).toBe(true);
});

test.each([
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
  'select 1 - Connection terminated unexpectedly',
  'ROLLBACK - Client has encountered a connection error and is not queryable',
])('a connection that is gone, as the driver tells it: %s', (message) => {
  expect(isLostConnection(new Error(message))).toBe(true);
});

test('no connection free in time', () => {
  expect(isLostConnection(new knex.KnexTimeoutError())).toBe(true);
});

test('an error of a statement is none', async () => {
  expect(isLostConnection(await errorOf(execute(db, 'select 1 / 0')))).toBe(false);
  expect(isLostConnection(new Error('ECONNREFUSED'))).toBe(false);
  expect(isLostConnection(null)).toBe(false);
});
