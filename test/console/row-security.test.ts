// The role of the console reads the installations that a transaction names, and no other. Each table has its policy.
import { expect, test } from 'vitest';
import { bool, integer, nullable, text } from '../../src/db/columns.ts';
import { showInstallations } from '../../src/db/console-role.ts';
import { execute, row, rows } from '../../src/db/rows.ts';
import { useDatabase } from '../support/database.ts';

const { consoleDb, consoleUrl, db, owner } = useDatabase();

/** Tables whose rows belong to no installation, with the reason why the console reads them. */
const global: Record<string, string> = {
  migration: 'the version of the schema',
  meta: 'the id of the database',
  daemon: 'the running processes',
  backup: 'the time of the last backup',
  database_size: 'the size of the database by day',
  schedule_look: 'the time of the last list of Schedules',
  field_map: 'names of fields of the practice API',
};
/** Tables that the console does not read. */
const hidden = ['copy_bar', 'erp_company_identity', 'erp_login', 'erp_request'];

const tables = () =>
  rows(
    owner,
    { name: text, secured: bool, readable: bool, writable: bool, policy: nullable(text) },
    `select c.relname::text as name, c.relrowsecurity as secured,
       has_table_privilege(?, c.oid, 'select') as readable, has_table_privilege(?, c.oid, 'update, delete, truncate') as writable,
       (select pg_get_expr(p.polqual, p.polrelid) from pg_policy p where p.polrelid = c.oid and p.polname = 'console_reads') as policy
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'vetledger' and c.relkind = 'r' order by 1`,
    [role(), role()],
  );
const role = () => decodeURIComponent(new URL(consoleUrl).username);

test('each table that the console reads has row-level security with a condition on the installation', async () => {
  const found = await tables();
  expect(found.length).toBeGreaterThan(70);
  expect(found.filter(({ readable }) => !readable).map(({ name }) => name)).toEqual(hidden);
  const open = found.filter(({ readable, secured, policy }) => readable && (!secured || policy === 'true'));
  expect(open.map(({ name }) => name)).toEqual(Object.keys(global).sort());
});

test('the console changes no table of the books, and moves only the head of the chain of actions', async () => {
  const found = await tables();
  expect(found.filter(({ writable }) => writable).map(({ name }) => name)).toEqual(['action_head']);
});

test('each view of the books applies the rights of its reader', async () => {
  const views = await rows(
    owner,
    { name: text, options: nullable(text) },
    `select c.relname::text as name, array_to_string(c.reloptions, ',') as options
     from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'vetledger' and c.relkind = 'v'`,
  );
  expect(views.map(({ options }) => options)).toEqual(views.map(() => 'security_invoker=true'));
});

test('a transaction sees the named installations only; without a name it sees none', async () => {
  for (const id of [4711, 4712]) {
    await execute(owner, 'insert into installation_state (installation) values (?)', [id]);
  }
  const seen = (installations: number[] | null) =>
    consoleDb.transaction(async (trx) => {
      if (installations !== null) await showInstallations(trx, installations);
      const found = await rows(trx, { id: integer }, 'select installation as id from installation_state order by 1');
      return found.map(({ id }) => id);
    });
  expect(await seen(null)).toEqual([]);
  expect(await seen([])).toEqual([]);
  expect(await seen([4711])).toEqual([4711]);
  expect(await seen([4711, 4712])).toEqual([4711, 4712]);
  // The setting ended with its transaction, although the pool uses the connection again.
  expect(await seen(null)).toEqual([]);
  // The role of the program sees all rows.
  expect((await rows(db, { id: integer }, 'select installation as id from installation_state')).length).toBe(2);
});

test('lines of entries are seen with their installation', async () => {
  await owner.transaction(async (trx) => {
    await execute(trx, 'set local session_replication_role = replica');
    for (const id of ['4711/invoice/1/1', '47/invoice/1/1'])
      await execute(
        trx,
        `insert into entry_line (entry_id, line, account, role, side, amount, rule, mapped_by) values (?, 1, '3000', 'revenue', 'credit', 1, 'R1', 'test')`,
        [id],
      );
  });
  const seen = await consoleDb.transaction(async (trx) => {
    await showInstallations(trx, [47]);
    return row(trx, { ids: text }, `select string_agg(entry_id, ' ') as ids from entry_line`);
  });
  expect(seen.ids).toBe('47/invoice/1/1');
});
