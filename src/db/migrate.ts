import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { UserError } from '../domain/errors.ts';
import { text } from './columns.ts';
import { type Db, schemaName } from './pool.ts';
import { type Connection, execute, rows } from './rows.ts';

const migrationsDir = new URL('./migrations/', import.meta.url);

function migrationNames(): string[] {
  return readdirSync(migrationsDir)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => basename(name, '.sql'))
    .sort();
}

/**
 * Brings the schema up to date, in one transaction; several processes may call it at once. Throws UserError when the database
 * has a migration that this version does not know, and leaves that database unchanged.
 */
export async function migrate(db: Db): Promise<void> {
  await db.transaction(async (trx) => {
    // `create … if not exists` fails when two processes run it at the same moment, so they take turns.
    await execute(trx, `select pg_advisory_xact_lock(hashtextextended('vetledger migrate', 0))`);
    await execute(trx, `create schema if not exists ${schemaName}`);
    await execute(
      trx,
      `create table if not exists ${schemaName}.migration (
         name text primary key, applied_at timestamptz not null default clock_timestamp())`,
    );
    const applied = await appliedMigrations(trx);
    refuseUnknown(applied);
    for (const name of migrationNames()) {
      if (!applied.includes(name)) await apply(trx, name);
    }
  });
}

async function appliedMigrations(trx: Connection): Promise<string[]> {
  const applied = await rows(trx, { name: text }, `select name from ${schemaName}.migration order by name`);
  return applied.map(({ name }) => name);
}

function refuseUnknown(applied: string[]): void {
  const known = new Set(migrationNames());
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new UserError(
    'database_of_another_version',
    `The database was set up by another version of vetledger: this one does not know its migration ${unknown.join(', ')}. Nothing in it was changed.`,
    'Run the version that made it, or name an empty database in database_url (for embedded servers: another data_dir) and run `vetledger sync`.',
    3,
  );
}

async function apply(trx: Connection, name: string): Promise<void> {
  const sql = readFileSync(new URL(`${name}.sql`, migrationsDir), 'utf8');
  // A question mark would stand for a parameter.
  await execute(trx, sql.replaceAll('?', '\\?'));
  await execute(trx, `insert into ${schemaName}.migration (name) values (?)`, [name]);
}
