import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { beforeEach, expect, inject, test } from 'vitest';
import { text } from '../../src/db/columns.ts';
import { consoleSchema } from '../../src/db/console-role.ts';
import { checkSchema, migrate } from '../../src/db/migrate.ts';
import { knownMigrations, migration } from '../../src/db/migrations.ts';
import { type Db, openDatabase, schemaName } from '../../src/db/pool.ts';
import { execute, rows } from '../../src/db/rows.ts';
import { schemaText } from '../../src/db/schema-text.ts';
import { migrateAsOwner } from '../../src/runtime/database.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';

const { db, owner, url, ownerUrl, openPool } = useDatabase();

const today = knownMigrations();
const more = migration('900_more', 'alter table meta add column remark text;');
const later = migration('901_later', 'create table beside (id bigint); alter table meta add column note text;');
const tomorrow = [...today, more, later];

// Each test starts from a database without our schema.
beforeEach(async () => {
  await execute(owner, `drop schema if exists ${schemaName}, ${consoleSchema} cascade`);
});

const applied = (target: Db) =>
  rows(target, { name: text, hash: text }, 'select name, hash from migration order by name');

const columnsOfMeta = async () =>
  (
    await rows(
      owner,
      { name: text },
      `select attname::text as name from pg_attribute where attrelid = '${schemaName}.meta'::regclass
         and attnum > 0 and not attisdropped order by 1`,
    )
  ).map(({ name }) => name);

test('several processes may migrate at once: each finds the schema whole when it goes on', async () => {
  const found = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const pool = openDatabase(ownerUrl, { max: 2 });
      const done = await migrate(pool, { known: tomorrow });
      const [meta] = await rows(pool, { value: text }, 'select value from meta').finally(() => pool.destroy());
      return { done, id: meta?.value };
    }),
  );
  expect(new Set(found.map(({ id }) => id)).size).toBe(1);
  // One of the two processes applied each migration.
  expect(found.flatMap(({ done }) => done).toSorted()).toEqual(tomorrow.map(({ name }) => name));
});

test('the database notes the name of each migration and the SHA-256 of its text', async () => {
  await migrate(owner);
  const folder = new URL('../../src/db/migrations/', import.meta.url);
  const files = readdirSync(folder).toSorted();
  const noted = files.map((file) => ({
    name: file.replace('.sql', ''),
    hash: createHash('sha256')
      .update(readFileSync(new URL(file, folder)))
      .digest('hex'),
  }));
  expect(await applied(owner)).toEqual(noted);
});

test('a second migration changes nothing', async () => {
  await migrate(owner);
  const before = await schemaText(owner);
  expect(await migrate(owner)).toEqual([]);
  expect(await schemaText(owner)).toBe(before);
});

test('later migrations follow the initial one in the order of their names; until then the program demands them', async () => {
  await migrate(owner);
  await expect(checkSchema(owner, tomorrow)).rejects.toMatchObject({
    code: 'database_needs_migration',
    message: expect.stringMatching(/: 900_more, 901_later are not applied/),
    exitCode: 3,
  });
  expect(await migrate(owner, { known: tomorrow })).toEqual(['900_more', '901_later']);
  await checkSchema(owner, tomorrow);
  expect((await applied(owner)).map(({ name }) => name)).toEqual(tomorrow.map(({ name }) => name));
  expect(await columnsOfMeta()).toEqual(['key', 'note', 'remark', 'value']);
});

test('an older program refuses a database that a newer one has migrated, and leaves it alone', async () => {
  await migrate(owner, { known: tomorrow });
  const before = [await schemaText(owner), await applied(owner)];
  for (const refused of [() => checkSchema(owner, today), () => migrate(owner, { known: today })]) {
    await expect(refused()).rejects.toMatchObject({
      code: 'database_of_another_version',
      message: expect.stringContaining('900_more, 901_later'),
      exitCode: 3,
    });
  }
  expect([await schemaText(owner), await applied(owner)]).toEqual(before);
});

test.each([
  [
    'whose initial migration had another text',
    `update migration set hash = repeat('0', 64) where name = '001_initial'`,
  ],
  [
    'whose build noted no hashes and had more migrations',
    `alter table migration drop column hash, add column kind text;
     insert into migration (name) values ('002_asked_at'), ('003_lanes')`,
  ],
])('a database %s is refused in plain words, and left alone', async (_, change) => {
  await migrate(owner);
  await execute(owner, change);
  const noted = () => query(owner, 'select to_jsonb(m)::text as line from migration m order by 1');
  const before = [await schemaText(owner), await noted()];
  for (const refused of [
    () => checkSchema(owner),
    () => migrate(owner),
    () => migrate(owner, { known: tomorrow }),
    () => migrateAsOwner({ url, ownerUrl }),
  ]) {
    await expect(refused()).rejects.toMatchObject({
      code: 'database_of_another_build',
      message: expect.stringMatching(/^Another build before 0\.1\.0 created the database/),
      todo: expect.stringMatching(/^Create a new one: name an empty database in database_url\. .* another data_dir/),
      exitCode: 3,
    });
  }
  expect([await schemaText(owner), await noted()]).toEqual(before);
});

const killed = (sql: string) => `${sql}\nselect pg_terminate_backend(pg_backend_pid());\nselect 1;`;
const schemas = () => query(owner, 'select from pg_namespace where nspname = ?', [schemaName]);

test('a first migration that is killed in the middle leaves an empty database', async () => {
  const [initial] = today;
  const half = migration('001_initial', killed(initial?.sql ?? ''));
  await expect(migrate(owner, { known: [half] })).rejects.toThrow();
  expect(await schemas()).toHaveLength(0);
  expect(await migrate(owner)).toEqual(today.map(({ name }) => name));
});

test.each([
  ['killed', killed(later.sql)],
  ['refused by PostgreSQL', `${later.sql}\nselect 1 / 0;`],
])('a later migration that is %s in the middle changes nothing; those before it stay', async (_, sql) => {
  await expect(migrate(owner, { known: [...today, more, migration('901_later', sql)] })).rejects.toThrow();
  expect((await applied(owner)).map(({ name }) => name)).toEqual([...today.map(({ name }) => name), '900_more']);
  expect(await columnsOfMeta()).toEqual(['key', 'remark', 'value']);
  expect(await migrate(owner, { known: tomorrow })).toEqual(['901_later']);
});

test('a migration does not wait for ever for a table that another transaction uses; it says so and changes nothing', async () => {
  await migrate(owner, { runtime: inject('runtimeRole') });
  const trx = await openPool().transaction();
  try {
    await query(trx, 'select from meta');
    const failed = migrate(owner, { known: tomorrow, lockTimeoutMs: 50 });
    await expect(failed).rejects.toMatchObject({
      code: 'database_in_use',
      message: expect.stringContaining('900_more'),
      exitCode: 3,
    });
    expect(await columnsOfMeta()).toEqual(['key', 'value']);
  } finally {
    await trx.rollback();
  }
  expect(await migrate(owner, { known: tomorrow })).toEqual(['900_more', '901_later']);
});

test('`migrate` refuses while a process of the version before is at work', async () => {
  await migrate(owner);
  // The state of a database that lacks a migration of this version.
  await execute(owner, `delete from migration`);
  await execute(
    owner,
    `insert into daemon (id, command, host, process, version, task_queue, installations)
     values ('00000000-0000-4000-8000-000000000001', 'run', 'mill', 1, '0.1.0', 'vetledger', '{}')`,
  );
  await expect(migrateAsOwner({ url, ownerUrl })).rejects.toMatchObject({
    code: 'older_processes_at_work',
    message: expect.stringMatching(/lacks 001_initial, .* run on mill \(process 1, 0\.1\.0\)/),
    exitCode: 3,
  });
  expect(await applied(owner)).toEqual([]);
  await execute(owner, `update daemon set heard_at = clock_timestamp() - interval '2 minutes'`);
  // The second process continues and finds that the tables exist.
  await expect(migrateAsOwner({ url, ownerUrl })).rejects.toThrow('already exists');
});

test('a process at work does not keep `migrate` from finding that nothing is missing', async () => {
  await migrate(owner);
  await execute(
    owner,
    `insert into daemon (id, command, host, process, version, task_queue, installations)
     values ('00000000-0000-4000-8000-000000000001', 'run', 'mill', 1, '0.1.0', 'vetledger', '{}')`,
  );
  expect(await migrateAsOwner({ url, ownerUrl })).toEqual([]);
  await checkSchema(db);
});
