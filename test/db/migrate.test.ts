import { readdirSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { text } from '../../src/db/columns.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type Db, openDatabase, schemaName } from '../../src/db/pool.ts';
import { execute, rows } from '../../src/db/rows.ts';
import { schemaText } from '../../src/db/schema-text.ts';
import { useDatabase } from '../support/database.ts';

const { owner: db, ownerUrl } = useDatabase();

// Each test starts from a database with nothing of ours in it.
beforeEach(async () => {
  await execute(db, `drop schema ${schemaName} cascade`);
});

const appliedMigrations = (db: Db) => rows(db, { name: text }, 'select name from migration order by name');

test('several processes may migrate at once: each finds the schema whole when it goes on', async () => {
  const found = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const pool = openDatabase(ownerUrl, { max: 2 });
      await migrate(pool);
      return rows(pool, { value: text }, 'select value from meta').finally(() => pool.destroy());
    }),
  );
  expect(found.flat()).toHaveLength(6);
  expect(new Set(found.flat().map(({ value }) => value)).size).toBe(1);
  const names = readdirSync(new URL('../../src/db/migrations/', import.meta.url));
  expect(await appliedMigrations(db)).toEqual(names.sort().map((name) => ({ name: name.replace('.sql', '') })));
});

test('a second migration changes nothing', async () => {
  await migrate(db);
  const before = await schemaText(db);
  await migrate(db);
  expect(await schemaText(db)).toBe(before);
});

test('a database with an unknown migration is refused and left alone', async () => {
  await migrate(db);
  await execute(db, "insert into migration (name) values ('999_of_the_future')");
  await execute(db, 'drop table write_back');
  const before = [await schemaText(db), await appliedMigrations(db)];
  await expect(migrate(db)).rejects.toMatchObject({
    code: 'database_of_another_version',
    message: expect.stringContaining('999_of_the_future'),
    exitCode: 3,
  });
  expect([await schemaText(db), await appliedMigrations(db)]).toEqual(before);
});
