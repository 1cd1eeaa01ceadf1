import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Knex } from 'knex';
import { UserError } from '../domain/errors.ts';
import { text } from './columns.ts';
import { type Db, schemaName } from './pool.ts';
import { execute, rows } from './rows.ts';

const migrationsDir = new URL('./migrations/', import.meta.url);
const migrationTable = 'migration';

function migrationNames(): string[] {
  return readdirSync(migrationsDir)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => basename(name, '.sql'))
    .sort();
}

const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => migrationNames(),
  getMigrationName: (name) => name,
  getMigration: async (name) => ({
    up: async (db) => {
      const sql = readFileSync(new URL(`${name}.sql`, migrationsDir), 'utf8');
      await execute(db, sql.replaceAll('?', '\\?'));
    },
    down: async () => {
      throw new Error('migrations only go forward');
    },
  }),
};

/**
 * Brings the schema up to date; several processes may call it at once. Throws UserError when the database was made by another
 * version whose migrations this one does not know: it is left as it is.
 */
export async function migrate(db: Db): Promise<void> {
  await execute(db, `create schema if not exists ${schemaName}`);
  await refuseUnknownMigrations(db);
  await db.migrate.latest({ migrationSource, schemaName, tableName: migrationTable });
}

async function refuseUnknownMigrations(db: Db): Promise<void> {
  const tables = await rows(
    db,
    { table_name: text },
    `select table_name::text from information_schema.tables where table_schema = ? and table_name = ?`,
    [schemaName, migrationTable],
  );
  if (tables.length === 0) return;
  const applied = await rows(db, { name: text }, `select name from ${schemaName}.${migrationTable} order by id`);
  const known = new Set(migrationNames());
  const unknown = applied.map(({ name }) => name).filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new UserError(
    'database_of_another_version',
    `The database was set up by another version of vetledger: this one does not know its migration ${unknown.join(', ')}. Nothing in it was changed.`,
    'Run the version that made it, or name an empty database in database_url (for embedded servers: another data_dir) and run `vetledger sync`.',
    3,
  );
}
