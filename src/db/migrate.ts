import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { codeOf, UserError } from '../domain/errors.ts';
import { bool, integer, text } from './columns.ts';
import { type Db, schemaName } from './pool.ts';
import { ensureRole, grantRuntime, type LoginRole, rolesSql } from './roles.ts';
import { type Connection, execute, row, rows } from './rows.ts';

const migrationsDir = new URL('./migrations/', import.meta.url);

/**
 * The versions of PostgreSQL that are supported: 15 is the oldest that its own project still mends (until November 2027), 18
 * the newest that this program was tried on. A newer one is used, and `doctor` says that it was not tried.
 */
export const supportedPostgres = { oldest: 15, newestTried: 18 } as const;

/** First line of a migration that a program which knows it can do without, for instance of one that only makes an index. */
const optionalMark = '-- Optional: ';

const insufficientPrivilege = '42501';

export function migrationNames(): string[] {
  return readdirSync(migrationsDir)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => basename(name, '.sql'))
    .sort();
}

export interface MigrateOptions {
  /** The role that gets the rights of the runtime, and is made if it is missing. Without one the connection's role does all. */
  runtime?: LoginRole | undefined;
  /** Applies migrations up to this one only: for tests of what comes after it. */
  through?: string;
}

/**
 * Brings the schema up to date, in one transaction, and returns the migrations that it applied; several processes may call it
 * at once. Throws UserError when the database has a migration that this version does not know, or a runtime role is missing
 * that this connection cannot make, and leaves that database unchanged.
 */
export async function migrate(db: Db, { runtime, through }: MigrateOptions = {}): Promise<string[]> {
  return db.transaction(async (trx) => {
    // `create … if not exists` fails when two processes run it at the same moment, so they take turns.
    await execute(trx, `select pg_advisory_xact_lock(hashtextextended('vetledger migrate', 0))`);
    await refuseOldPostgres(trx);
    if (runtime && !(await ensureRole(trx, runtime))) throw await runtimeMissing(trx, runtime.name);
    if (!(await hasSchema(trx))) await execute(trx, `create schema ${schemaName}`);
    await execute(
      trx,
      `create table if not exists ${schemaName}.migration (
         name text primary key, applied_at timestamptz not null default clock_timestamp())`,
    );
    const applied = await appliedMigrations(trx);
    refuseUnknown(applied);
    const pending = migrationNames().filter((name) => !applied.includes(name) && (!through || name <= through));
    for (const name of pending) await apply(trx, name);
    if (runtime) await grantRuntime(trx, runtime.name);
    return pending;
  });
}

/**
 * Checks that this program can work with the database as it is: its PostgreSQL is supported, every migration that the program
 * needs was applied, and it knows every one that was. Throws UserError that says what to run.
 */
export async function checkSchema(db: Connection): Promise<void> {
  await refuseOldPostgres(db);
  if (!(await hasSchema(db))) {
    throw new UserError(
      'database_not_set_up',
      'The database has no tables of vetledger yet.',
      'Run `vetledger migrate` once; it makes them.',
      3,
    );
  }
  const applied = await appliedMigrations(db).catch((error: unknown) => {
    throw codeOf(error) === insufficientPrivilege ? rightsMissing(error) : error;
  });
  refuseUnknown(applied);
  const missing = migrationNames().filter((name) => !applied.includes(name) && !isOptional(name));
  if (missing.length === 0) return;
  throw new UserError(
    'database_needs_migration',
    `The database is of an older version of vetledger: ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not applied. Nothing in it was changed.`,
    'Make a backup, end other vetledger processes, and run `vetledger migrate`.',
    3,
  );
}

/** Whether the database has our schema: one without it is empty for us. */
export async function hasSchema(db: Connection): Promise<boolean> {
  const { found } = await row(
    db,
    { found: bool },
    'select exists (select from pg_namespace where nspname = ?) as found',
    [schemaName],
  );
  return found;
}

export async function postgresMajor(db: Connection): Promise<number> {
  const { version } = await row(
    db,
    { version: integer },
    `select current_setting('server_version_num')::int as version`,
  );
  return Math.floor(version / 10_000);
}

async function refuseOldPostgres(db: Connection): Promise<void> {
  const major = await postgresMajor(db);
  if (major >= supportedPostgres.oldest) return;
  throw new UserError(
    'postgres_too_old',
    `The server is PostgreSQL ${major}; vetledger needs ${supportedPostgres.oldest} or newer, since older ones get no corrections any more.`,
    `Move the database to PostgreSQL ${supportedPostgres.oldest} to ${supportedPostgres.newestTried} (pg_dump and pg_restore), or name another server in database_url.`,
    3,
  );
}

async function appliedMigrations(db: Connection): Promise<string[]> {
  const applied = await rows(db, { name: text }, `select name from ${schemaName}.migration order by name`);
  return applied.map(({ name }) => name);
}

function refuseUnknown(applied: string[]): void {
  const known = new Set(migrationNames());
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new UserError(
    'database_of_another_version',
    `The database was set up by another version of vetledger: this one does not know its migration ${unknown.join(', ')}. Nothing in it was changed.`,
    'Run the version that made it, or name an empty database in database_url (for embedded servers: another data_dir).',
    3,
  );
}

async function runtimeMissing(db: Connection, runtime: string): Promise<UserError> {
  const here = await row(
    db,
    { role: text, database: text },
    'select current_user::text as role, current_database()::text as database',
  );
  return new UserError(
    'runtime_role_missing',
    `The role ${runtime} of database_url does not exist, and ${here.role} of migrate_database_url may not make roles. Nothing was changed.`,
    `Let a superuser run, with the passwords of the two URLs, what is not there yet:\n${rolesSql(here.role, runtime, here.database).join('\n')}\nThen run \`vetledger migrate\` again.`,
    3,
  );
}

function rightsMissing(cause: unknown): UserError {
  return new UserError(
    'database_rights_missing',
    'The role of database_url may not read the tables of vetledger.',
    'Run `vetledger migrate` with migrate_database_url set to the owner of the tables: it gives the role of database_url its rights.',
    3,
    cause,
  );
}

function isOptional(name: string): boolean {
  return sqlOf(name).startsWith(optionalMark);
}

function sqlOf(name: string): string {
  return readFileSync(new URL(`${name}.sql`, migrationsDir), 'utf8');
}

async function apply(trx: Connection, name: string): Promise<void> {
  // A question mark would stand for a parameter.
  await execute(trx, sqlOf(name).replaceAll('?', '\\?'));
  await execute(trx, `insert into ${schemaName}.migration (name) values (?)`, [name]);
}
