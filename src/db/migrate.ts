import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, UserError } from '../domain/errors.ts';
import { bool, integer, nullable, text } from './columns.ts';
import { isRetriable } from './errors.ts';
import {
  type Applied,
  knownMigrations,
  type Migration,
  missingMigrations,
  pendingMigrations,
  unknownMigrations,
} from './migrations.ts';
import { type Db, schemaName } from './pool.ts';
import { ensureRole, grantRuntime, type LoginRole, rolesSql } from './roles.ts';
import { type Connection, execute, row, rows } from './rows.ts';

/**
 * The versions of PostgreSQL that are supported: 15 is the oldest that its own project still mends (until November 2027), 18
 * the newest that this program was tried on. A newer one is used, and `doctor` says that it was not tried.
 */
export const supportedPostgres = { oldest: 15, newestTried: 18 } as const;

/**
 * A migration waits for a table's lock no longer than `timeoutMs`, because whoever comes after it waits behind it, live windows too.
 * Then it gives way, and tries again after a pause.
 */
const locks = { timeoutMs: 3000, attempts: 10, pauseMs: 3000 };

const insufficientPrivilege = '42501';

export interface MigrateOptions {
  /** The role that gets the rights of the runtime, and is made if it is missing. Without one the connection's role does all. */
  runtime?: LoginRole | undefined;
  /** Also applies contractions, after which programs of older versions no longer work. A new database gets them in any case. */
  contract?: boolean;
  /** Applies migrations up to this one only: for tests of what comes after it. */
  through?: string;
  known?: Migration[];
  lock?: Partial<typeof locks>;
}

/**
 * Brings the schema up to date and returns the migrations that it applied; several processes may call it at once, and programs of
 * this version or the one before may work on the database meanwhile. A new database gets all of them in one transaction; later
 * ones have a transaction each, so that none holds its locks while another works. Throws UserError when the database has a
 * migration that this version neither knows nor can work beside, when a runtime role is missing that this connection cannot make,
 * or when a table was in use for too long; the migration concerned then changed nothing.
 */
export async function migrate(db: Db, options: MigrateOptions = {}): Promise<string[]> {
  const { runtime, through, known = knownMigrations() } = options;
  const begun = await db.transaction(async (trx) => {
    await takeTurn(trx);
    await refuseOldPostgres(trx);
    if (runtime && !(await ensureRole(trx, runtime))) throw await runtimeMissing(trx, runtime.name);
    if (!(await hasSchema(trx))) await execute(trx, `create schema ${schemaName}`);
    await makeList(trx);
    const applied = await appliedMigrations(trx);
    refuseBreaking(known, applied);
    const isNew = applied.length === 0;
    const wanted = pendingMigrations(known, applied, isNew || options.contract === true);
    const pending = wanted.filter(({ name }) => !through || name <= through);
    if (!isNew && pending.length > 0) return { done: [], pending };
    for (const each of pending) await apply(trx, each);
    if (runtime) await grantRuntime(trx, runtime.name);
    return { done: pending.map(({ name }) => name), pending: [] };
  });
  const done: string[] = begun.done;
  for (const each of begun.pending) if (await applyBesideOthers(db, each, options)) done.push(each.name);
  return done;
}

/** The contractions that this version brings and the database does not have: it works without them. */
export async function waitingContractions(db: Connection, known = knownMigrations()): Promise<string[]> {
  return pendingMigrations(known, await appliedMigrations(db), true).flatMap(({ name, kind }) =>
    kind === 'contract' ? [name] : [],
  );
}

/** `create … if not exists` fails when two processes run it at the same moment, so they take turns. */
async function takeTurn(trx: Connection): Promise<void> {
  await execute(trx, `select pg_advisory_xact_lock(hashtextextended('vetledger migrate', 0))`);
}

async function makeList(trx: Connection): Promise<void> {
  await execute(
    trx,
    `create table if not exists ${schemaName}.migration (
       name text primary key, applied_at timestamptz not null default clock_timestamp(), kind text)`,
  );
  const { found } = await row(
    trx,
    { found: bool },
    `select exists (select from pg_attribute where attrelid = ?::regclass and attname = 'kind') as found`,
    [`${schemaName}.migration`],
  );
  if (!found) await execute(trx, `alter table ${schemaName}.migration add column kind text`);
}

/** Applies a migration in a transaction of its own; false where another process has applied it meanwhile. */
async function applyBesideOthers(db: Db, each: Migration, { runtime, lock }: MigrateOptions): Promise<boolean> {
  const { timeoutMs, attempts, pauseMs } = { ...locks, ...lock };
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction(async (trx) => {
        await takeTurn(trx);
        if ((await appliedMigrations(trx)).some(({ name }) => name === each.name)) return false;
        await execute(trx, `set local lock_timeout = '${timeoutMs}ms'`);
        await apply(trx, each);
        if (runtime) await grantRuntime(trx, runtime.name);
        return true;
      });
    } catch (error) {
      if (!isRetriable(error)) throw error;
      if (attempt >= attempts) throw tablesInUse(each, attempts, error);
      await sleep(pauseMs);
    }
  }
}

/**
 * Checks that this program can work with the database as it is: its PostgreSQL is supported, every migration that the program
 * needs was applied, and it knows every one that was, or the others only added to what it knows. Returns those others. Throws
 * UserError that says what to run.
 */
export async function checkSchema(db: Connection, known = knownMigrations()): Promise<string[]> {
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
  refuseBreaking(known, applied);
  const missing = missingMigrations(known, applied);
  if (missing.length === 0) return unknownMigrations(known, applied).harmless;
  throw new UserError(
    'database_needs_migration',
    `The database is of an older version of vetledger: ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not applied. Nothing in it was changed.`,
    'Make a backup and run `vetledger migrate` (OPERATIONS "Upgrading").',
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

async function appliedMigrations(db: Connection): Promise<Applied[]> {
  // Programs of older versions made the list without kinds.
  return rows(
    db,
    { name: text, kind: nullable(text) },
    `select name, to_jsonb(m) ->> 'kind' as kind from ${schemaName}.migration m order by name`,
  );
}

function refuseBreaking(known: Migration[], applied: Applied[]): void {
  const { breaking } = unknownMigrations(known, applied);
  if (breaking.length === 0) return;
  throw new UserError(
    'database_of_another_version',
    `The database was set up by another version of vetledger: this one does not know its migration ${breaking.join(', ')} and cannot work with it. Nothing in it was changed.`,
    'Run the version that made it, or name an empty database in database_url (for embedded servers: another data_dir).',
    3,
  );
}

function tablesInUse({ name }: Migration, attempts: number, cause: unknown): UserError {
  return new UserError(
    'database_in_use',
    `The migration ${name} was not applied: another transaction used a table that it changes, in each of ${attempts} attempts. It changed nothing; what was applied before it stays.`,
    "Run `vetledger migrate` again. If that recurs, `select pid, xact_start, query from pg_stat_activity where xact_start < now() - interval '10 seconds'` shows who holds the table.",
    3,
    cause,
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

async function apply(trx: Connection, { name, kind, sql }: Migration): Promise<void> {
  // A question mark would stand for a parameter.
  await execute(trx, sql.replaceAll('?', '\\?'));
  await execute(trx, `insert into ${schemaName}.migration (name, kind) values (?, ?)`, [name, kind]);
}
