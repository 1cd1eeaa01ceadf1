import { afterEach, expect, test } from 'vitest';
import { text } from '../../src/db/columns.ts';
import { checkSchema, migrate, waitingContractions } from '../../src/db/migrate.ts';
import { knownMigrations, migration } from '../../src/db/migrations.ts';
import { schemaName } from '../../src/db/pool.ts';
import { execute, rows } from '../../src/db/rows.ts';
import { migrateWith, refuseOlderProcesses } from '../../src/runtime/contractions.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';

const { db, owner, url, ownerUrl, openPool } = useDatabase();

const today = knownMigrations();
const expansion = migration('900_more', 'alter table meta add column remark text;');
const optional = migration('901_index', '-- Optional: finds remarks sooner.\ncreate index on meta (remark);');
const contraction = migration(
  '902_less',
  '-- Contract: no version since 900 reads remarks.\nalter table meta drop column remark;',
);
const afterIt = migration('903_later', 'alter table meta add column note text;');
const tomorrow = [...today, expansion, optional, contraction, afterIt];

afterEach(async () => {
  await execute(
    owner,
    `alter table meta drop column if exists remark, drop column if exists note;
     drop table if exists beside;
     alter table migration add column if not exists kind text;
     delete from migration where name like '9%' or name like '89%';
     delete from daemon`,
  );
});

const columnsOfMeta = async () =>
  (
    await rows(
      owner,
      { name: text },
      `select attname::text as name from pg_attribute where attrelid = '${schemaName}.meta'::regclass
         and attnum > 0 and not attisdropped order by 1`,
    )
  ).map(({ name }) => name);

test('an expanded database still serves the version before: it starts, and its own `migrate` has nothing to do', async () => {
  expect(await migrate(owner, { known: tomorrow })).toEqual(['900_more', '901_index', '903_later']);
  expect(await checkSchema(db, today)).toEqual(['900_more', '901_index', '903_later']);
  expect(await migrate(owner, { known: today })).toEqual([]);
  expect(await columnsOfMeta()).toEqual(['key', 'note', 'remark', 'value']);
});

test('a contraction is applied on demand alone, and ends the way back', async () => {
  await migrate(owner, { known: tomorrow });
  expect(await waitingContractions(owner, tomorrow)).toEqual(['902_less']);
  // The version that brings it does without it.
  expect(await checkSchema(db, tomorrow)).toEqual([]);
  expect(await migrate(owner, { known: tomorrow, contract: true })).toEqual(['902_less']);
  expect(await columnsOfMeta()).toEqual(['key', 'note', 'value']);
  for (const refused of [() => checkSchema(db, today), () => migrate(owner, { known: today })]) {
    await expect(refused()).rejects.toMatchObject({
      code: 'database_of_another_version',
      message: expect.stringMatching(/migration 902_less and/),
    });
  }
});

test('a version needs its expansions, and neither its optional migrations nor its contractions', async () => {
  await expect(checkSchema(db, tomorrow)).rejects.toMatchObject({
    code: 'database_needs_migration',
    message: expect.stringMatching(/: 900_more, 903_later are not applied/),
  });
});

test('a migration that was applied before kinds were noted is refused where it is unknown', async () => {
  await execute(owner, `alter table migration drop column kind`);
  await execute(owner, `insert into migration (name) values ('899_of_long_ago')`);
  await expect(checkSchema(db)).rejects.toMatchObject({ code: 'database_of_another_version' });
  await expect(migrate(owner)).rejects.toMatchObject({ code: 'database_of_another_version' });
});

test('a migration gives way to whoever holds the table, and says so in the end; those before it stay', async () => {
  const holder = openPool();
  const trx = await holder.transaction();
  await query(trx, 'select key from meta');
  try {
    const first = migration('899_beside', 'create table beside (id bigint);');
    const known = [...today, first, expansion];
    const failed = migrate(owner, { known, lock: { timeoutMs: 50, attempts: 2, pauseMs: 1 } });
    await expect(failed).rejects.toMatchObject({
      code: 'database_in_use',
      message: expect.stringContaining('900_more'),
    });
    expect(await columnsOfMeta()).toEqual(['key', 'value']);
    // It waits for its turn when it is tried again, and goes on as soon as the table is free.
    const again = migrate(owner, { known, lock: { timeoutMs: 50, attempts: 1000, pauseMs: 1 } });
    await trx.rollback();
    expect(await again).toEqual(['900_more']);
  } finally {
    await trx.rollback().catch(() => undefined);
  }
});

test('`migrate --contract` refuses while a process that started before the last migration is at work', async () => {
  const process = (id: number, started: string) =>
    execute(
      owner,
      `insert into daemon (id, command, host, process, version, started_at)
       values ('00000000-0000-4000-8000-00000000000${id}', 'run', 'mill', ${id}, '0.1.0', ${started})`,
    );
  await process(1, `clock_timestamp() - interval '1 day'`);
  await expect(refuseOlderProcesses(owner)).rejects.toMatchObject({
    code: 'older_processes_at_work',
    message: expect.stringContaining('run on mill (process 1, 0.1.0)'),
  });
  await execute(owner, `update daemon set heard_at = clock_timestamp() - interval '2 minutes'`);
  await process(2, 'clock_timestamp()');
  await refuseOlderProcesses(owner);
  expect(await migrateWith({ url, ownerUrl }, true)).toEqual({ applied: [], waiting: [] });
});

test('a new database gets contractions at once, in the order that a later upgrade gives', async () => {
  await execute(owner, `drop schema ${schemaName} cascade`);
  const applied = await migrate(owner, { known: tomorrow });
  expect(applied.slice(-4)).toEqual(['900_more', '901_index', '903_later', '902_less']);
  expect(await columnsOfMeta()).toEqual(['key', 'note', 'value']);
});
