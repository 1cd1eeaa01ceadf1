import { codeOf, UserError } from '../domain/errors.ts';
import { databaseErrors } from '../texts/errors/database.ts';
import { bool, integer, nullable, text } from './columns.ts';
import { grantConsole } from './console-role.ts';
import { isRetriable } from './database-errors.ts';
import { knownMigrations, type Migration } from './migrations.ts';
import { type Db, schemaName } from './pool.ts';
import { ensureRole, grantBackup, grantRuntime, type LoginRole, rolesSql } from './roles.ts';
import { type Connection, execute, row, rows } from './rows.ts';

/**
 * Supported versions of PostgreSQL: 15 is the oldest that its project maintains (until November 2027), 18 the newest
 * that vetledger was tested with. A newer one is accepted, and `doctor` reports that it was not tested.
 */
export const supportedPostgres = { oldest: 15, newestTried: 18 } as const;

const insufficientPrivilege = '42501';

export interface MigrateOptions {
  /**
   * The role that gets the rights of the runtime; it is created if missing. Without it, the role of the connection does
   * everything.
   */
  runtime?: LoginRole | undefined;
  /** The role of the console, which is created if missing. Without it, the database has no row-level security. */
  console?: LoginRole | undefined;
  /** The migrations that the program has. Default: those of this version. */
  known?: Migration[];
  /** Limit of the wait for a table that another transaction uses. */
  lockTimeoutMs?: number;
}

/**
 * Brings the schema up to date and returns the names of the applied migrations, in order. Each migration is one
 * transaction that also records it, so an interrupted one changes nothing. Several processes may call this at the same
 * time: they take turns. Throws UserError if another build or version created the database, if a runtime role is
 * missing that this connection cannot create, or if a table was in use for too long.
 */
export async function migrate(db: Db, options: MigrateOptions = {}): Promise<string[]> {
  const known = options.known ?? knownMigrations();
  for (const done: string[] = []; ; ) {
    const applied = await db.transaction((trx) => applyNext(trx, known, options));
    if (applied === null) return done;
    done.push(applied);
  }
}

/** Applies the first missing migration, and grants the other roles their rights; null if none was missing. */
async function applyNext(
  trx: Connection,
  known: Migration[],
  { runtime, console: consoleRole, lockTimeoutMs = 60_000 }: MigrateOptions,
): Promise<string | null> {
  // The lock also prevents an error: `create … if not exists` fails if two processes run it at the same moment.
  await execute(trx, `select pg_advisory_xact_lock(hashtextextended('vetledger migrate', 0))`);
  await refuseOldPostgres(trx);
  for (const [key, role] of Object.entries({ database_url: runtime, 'console.database_url': consoleRole })) {
    if (role && !(await ensureRole(trx, role))) throw await roleMissing(trx, key, role.name);
  }
  if (!(await hasSchema(trx))) await execute(trx, `create schema ${schemaName}`);
  await execute(
    trx,
    `create table if not exists ${schemaName}.migration (
       name text primary key, hash text not null, applied_at timestamptz not null default clock_timestamp())`,
  );
  const next = missingOf(known, await appliedMigrations(trx))[0];
  if (next) await apply(trx, next, lockTimeoutMs);
  if (runtime) await grantRuntime(trx, runtime.name);
  const isLast = next === undefined || missingOf(known, await appliedMigrations(trx)).length === 0;
  if (consoleRole && isLast) await grantConsole(trx, consoleRole.name, runtime?.name ?? null);
  await grantBackup(trx);
  return next?.name ?? null;
}

async function apply(trx: Connection, { name, sql, hash }: Migration, lockTimeoutMs: number): Promise<void> {
  await execute(trx, `set local lock_timeout = ${lockTimeoutMs}`);
  try {
    // knex would read a question mark as a parameter.
    await execute(trx, sql.replaceAll('?', '\\?'));
  } catch (error) {
    throw isRetriable(error) ? tablesInUse(name, error) : error;
  }
  await execute(trx, `insert into ${schemaName}.migration (name, hash) values (?, ?)`, [name, hash]);
}

/**
 * Checks that this program can use the database: its PostgreSQL is supported, and exactly the migrations of this
 * version were applied. Throws a UserError with the command to run.
 */
export async function checkSchema(db: Connection, known = knownMigrations()): Promise<void> {
  await refuseOldPostgres(db);
  const missing = await missingMigrations(db, known);
  if (missing === null) {
    throw new UserError(databaseErrors.notSetUp(), 3);
  }
  if (missing.length === 0) return;
  throw new UserError(databaseErrors.needsMigration({ missing: missing.join(', '), count: missing.length }), 3);
}

/**
 * Names of the migrations that the database lacks; null if it has no vetledger schema. Throws UserError if another
 * build or version created it.
 */
export async function missingMigrations(db: Connection, known = knownMigrations()): Promise<string[] | null> {
  if (!(await hasSchema(db))) return null;
  const applied = await appliedMigrations(db).catch((error: unknown) => {
    throw codeOf(error) === insufficientPrivilege ? rightsMissing(error) : error;
  });
  return missingOf(known, applied).map(({ name }) => name);
}

interface Applied {
  name: string;
  /** The hash of the migration. Null if an old build applied it, which stored only names. */
  hash: string | null;
}

async function appliedMigrations(db: Connection): Promise<Applied[]> {
  return rows(
    db,
    { name: text, hash: nullable(text) },
    `select name, to_jsonb(m) ->> 'hash' as hash from ${schemaName}.migration m order by name`,
  );
}

function missingOf(known: Migration[], applied: Applied[]): Migration[] {
  const hashes = new Map(applied.map(({ name, hash }) => [name, hash]));
  const differing = known.filter(({ name, hash }) => hashes.has(name) && hashes.get(name) !== hash);
  if (differing.length > 0) throw anotherBuild(differing);
  const names = new Set(known.map(({ name }) => name));
  const unknown = applied.filter(({ name }) => !names.has(name));
  if (unknown.length > 0) throw anotherVersion(unknown);
  return known.filter(({ name }) => !hashes.has(name));
}

/** Whether the database has the vetledger schema. Without it, the database counts as empty. */
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
  const { oldest, newestTried: newest } = supportedPostgres;
  throw new UserError(databaseErrors.postgresTooOld({ major, oldest, newest }), 3);
}

function anotherBuild(differing: { name: string }[]): UserError {
  return new UserError(databaseErrors.anotherBuild({ names: namesOf(differing) }), 3);
}

function anotherVersion(unknown: { name: string }[]): UserError {
  return new UserError(databaseErrors.anotherVersion({ names: namesOf(unknown) }), 3);
}

function tablesInUse(name: string, cause: unknown): UserError {
  return new UserError(databaseErrors.inUse({ name }), 3, cause);
}

function namesOf(migrations: { name: string }[]): string {
  return migrations.map(({ name }) => name).join(', ');
}

async function roleMissing(db: Connection, key: string, role: string): Promise<UserError> {
  const here = await row(
    db,
    { role: text, database: text },
    'select current_user::text as role, current_database()::text as database',
  );
  const sql = rolesSql(here.role, [role], here.database).join('\n');
  return new UserError(databaseErrors.roleMissing({ role, key, owner: here.role, sql }), 3);
}

function rightsMissing(cause: unknown): UserError {
  return new UserError(databaseErrors.rightsMissing(), 3, cause);
}
