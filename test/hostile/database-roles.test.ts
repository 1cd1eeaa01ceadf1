import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { bool, text } from '../../src/db/columns.ts';
import { migrate } from '../../src/db/migrate.ts';
import { migrationNames } from '../../src/db/migrations.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { rightsBeyondRuntime } from '../../src/db/roles.ts';
import { execute, rows } from '../../src/db/rows.ts';
import { folderOf, vetledger } from '../cli/support.ts';
import { createTestDatabase, useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { dropDatabase, runAlone, urlOfDatabase } from '../support/server.ts';

const journal = ['entry', 'entry_line', 'ledger_close', 'summary_entry', 'summary_line', 'summary_member'];

describe('the role that the program runs as', () => {
  const { db, owner } = useDatabase();

  it.each(journal)('reads and adds in %s, and cannot change, delete or empty it', async (table) => {
    const [rights] = await rows(
      db,
      { reads: bool, adds: bool, changes: bool },
      `select has_table_privilege(t, 'select') as reads, has_table_privilege(t, 'insert') as adds,
         has_table_privilege(t, 'update, delete, truncate, trigger') as changes from (select ?::text as t) one`,
      [table],
    );
    expect(rights).toEqual({ reads: true, adds: true, changes: false });
    await expect(execute(db, `alter table ${table} disable trigger all`)).rejects.toThrow(/must be owner/);
  });

  it('owns nothing; a role that does is reported', async () => {
    expect(await rightsBeyondRuntime(db)).toEqual([]);
    expect(await rightsBeyondRuntime(owner)).toEqual(['is a superuser', 'owns the tables', 'may change the journal']);
  });

  it('cannot make the database believe that a migration was applied', async () => {
    await expect(execute(db, `insert into migration (name) values ('x')`)).rejects.toThrow(/permission denied/);
  });

  it('cannot put an own table before the closed periods', async () => {
    const posting = db.transaction(async (trx) => {
      await execute(trx, `insert into ledger_close (installation, through) values (1, '2026-01-31')`);
      await execute(trx, 'create temporary table ledger_close (installation bigint, through date)');
      await execute(
        trx,
        `insert into entry (id, installation, kind, document_id, n, seq, entry_date, document_date, reason, description,
           idempotency_key, input_hash, previous_hash, hash, vat_period, is_late)
         values ('1/invoice/1/1', 1, 'invoice', 1, 1, 2, '2026-01-15', '2026-01-15', 'posted', '', 'x', 'x', 'x', 'x', '2026-01', false)`,
      );
    });
    await expect(posting).rejects.toThrow('closed through 2026-01-31');
  });
});

describe('vetledger migrate', () => {
  const dropped: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const drop of dropped.splice(0)) await drop();
  });
  const server = inject('databaseUrl');
  const newName = (of: string) => `test_${of}_${randomBytes(6).toString('hex')}`;

  async function emptyDatabase() {
    const name = newName('empty');
    await runAlone(server, `create database ${name}`);
    dropped.push(() => dropDatabase(server, name));
    return { name, url: urlOfDatabase(server, name) };
  }

  async function newRole(made: boolean) {
    const role = { name: newName('role'), password: 'p?$1' };
    if (made) await runAlone(server, `create role ${role.name} login password '${role.password}'`);
    dropped.push(() => runAlone(server, `drop role if exists ${role.name}`));
    return role;
  }

  function commandOn(env: Record<string, string>) {
    const config = `installations:
  - {id: 1, base_url: "http://127.0.0.1:9", auth: {token: "\${TOKEN}"}, timezone: Europe/Helsinki, currency: EUR, mapping: ${demoMapping}}
database_url: "\${DATABASE_URL}"
migrate_database_url: "\${MIGRATE_DATABASE_URL}"
temporal: {address: "127.0.0.1:9"}
`;
    const file = join(folderOf({ 'vetledger.yaml': config }), 'vetledger.yaml');
    return async (...args: string[]) => {
      const ran = await vetledger([...args, '--json', '--config', file], {
        TOKEN: 't',
        VETLEDGER_LOG: 'silent',
        ...env,
      });
      return { code: ran.code, document: ran.json() };
    };
  }

  it('makes tables and runtime role; other commands then work as that role', async () => {
    const { name, url } = await emptyDatabase();
    const runtime = await newRole(false);
    const DATABASE_URL = urlOfDatabase(server, name, runtime);
    const command = commandOn({ DATABASE_URL, MIGRATE_DATABASE_URL: url });
    expect(await command('migrate')).toEqual({
      code: 0,
      document: { applied: migrationNames(), owner: new URL(server).username, runtime: runtime.name },
    });
    expect((await command('migrate')).document.applied).toEqual([]);
    const daily = commandOn({ DATABASE_URL });
    expect((await daily('status')).code).toBe(0);
    const { document } = await daily('doctor');
    expect(document.checks).toContainEqual(expect.objectContaining({ check: 'database role', status: 'ok' }));
    expect((await daily('migrate')).document.error).toMatchObject({ code: 'environment_missing' });
  });

  it('prints the SQL for a superuser where it may not make roles', async () => {
    const { name } = await emptyDatabase();
    const [owner, runtime] = [await newRole(true), await newRole(false)];
    await runAlone(server, `alter database ${name} owner to ${owner.name}`);
    const command = commandOn({
      DATABASE_URL: urlOfDatabase(server, name, runtime),
      MIGRATE_DATABASE_URL: urlOfDatabase(server, name, owner),
    });
    const { code, document } = await command('migrate');
    expect(code).toBe(3);
    expect(document.error).toMatchObject({
      code: 'role_missing',
      todo: expect.stringContaining(`create role "${runtime.name}" login password '…';`),
    });
    expect(document.error.todo).not.toContain(runtime.password);
    await runAlone(server, `create role ${runtime.name} login password '${runtime.password}'`);
    expect((await command('migrate')).code).toBe(0);
    expect((await command('status')).code).toBe(0);
  });

  it('prints the SQL for both roles where the owner cannot sign in', async () => {
    const { name } = await emptyDatabase();
    const [owner, runtime] = [await newRole(false), await newRole(false)];
    const { code, document } = await commandOn({
      DATABASE_URL: urlOfDatabase(server, name, runtime),
      MIGRATE_DATABASE_URL: urlOfDatabase(server, name, owner),
    })('migrate');
    expect(code).toBe(3);
    for (const role of [owner, runtime]) expect(document.error.todo).toContain(`create role "${role.name}"`);
  });

  it('works with one role, and doctor warns', async () => {
    const { url } = await emptyDatabase();
    const folder = folderOf({});
    const config = `installations:
  - {id: 1, base_url: "http://127.0.0.1:9", auth: {token: "\${TOKEN}"}, timezone: Europe/Helsinki, currency: EUR, mapping: ${demoMapping}}
database_url: "\${DATABASE_URL}"
temporal: {address: "127.0.0.1:9"}
`;
    const file = join(folderOf({ 'vetledger.yaml': config }), 'vetledger.yaml');
    const env = { TOKEN: 't', DATABASE_URL: url, VETLEDGER_LOG: 'silent', VETLEDGER_DATA_DIR: folder };
    const command = (name: string) => vetledger([name, '--json', '--config', file], env);
    expect((await command('migrate')).json()).toMatchObject({ applied: migrationNames(), runtime: null });
    expect((await command('doctor')).json().checks).toContainEqual(
      expect.objectContaining({ check: 'database role', status: 'warn' }),
    );
  });

  it('other commands say what to run on an empty database, and on one of an older version', async () => {
    const { url } = await emptyDatabase();
    const command = commandOn({ DATABASE_URL: url, MIGRATE_DATABASE_URL: '' });
    expect((await command('status')).document.error).toMatchObject({
      code: 'database_not_set_up',
      todo: expect.stringContaining('vetledger migrate'),
    });
    const db = openDatabase(url);
    await migrate(db, { known: [] });
    await db.destroy();
    const { code, document } = await command('status');
    expect(code).toBe(3);
    expect(document.error).toMatchObject({
      code: 'database_needs_migration',
      message: expect.stringContaining('001_initial'),
      todo: expect.stringContaining('vetledger migrate'),
    });
  });

  it('an older program is refused by name on a newer database', async () => {
    const { url, ownerUrl, drop } = await createTestDatabase();
    dropped.push(drop);
    const owner = openDatabase(ownerUrl);
    await execute(owner, `insert into migration (name, hash) values ('999_of_the_future', '')`);
    expect(await rows(owner, { name: text }, `select name from migration where name like '999%'`)).toHaveLength(1);
    await owner.destroy();
    const { code, document } = await commandOn({ DATABASE_URL: url, MIGRATE_DATABASE_URL: '' })('status');
    expect(code).toBe(3);
    expect(document.error).toMatchObject({
      code: 'database_of_another_version',
      message: expect.stringContaining('999_of_the_future'),
    });
  });

  it('every command refuses a database of another build before 0.1.0, and says how to make a new one', async () => {
    const { url, ownerUrl, drop } = await createTestDatabase();
    dropped.push(drop);
    const owner = openDatabase(ownerUrl);
    await execute(owner, `update migration set hash = 'of another text'`);
    await owner.destroy();
    const command = commandOn({ DATABASE_URL: url, MIGRATE_DATABASE_URL: ownerUrl });
    for (const name of ['status', 'migrate', 'doctor']) {
      const { code, document } = await command(name);
      const told = JSON.stringify(document);
      expect({ name, code, told }).toMatchObject({
        code: 3,
        told: expect.stringContaining('Another build before 0.1.0 created the database'),
      });
      expect(told).toContain('Create a new one: name an empty database in database_url');
    }
  });
});
