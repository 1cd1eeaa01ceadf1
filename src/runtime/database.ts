import { integer, text } from '../db/columns.ts';
import { checkSchema, hasSchema, migrate, missingMigrations } from '../db/migrate.ts';
import { type Db, openDatabase } from '../db/pool.ts';
import { type LoginRole, roleOfUrl } from '../db/roles.ts';
import { rows } from '../db/rows.ts';
import { UserError } from '../domain/errors.ts';
import type { PostgresHandle } from '../embedded/index.ts';
import { databaseErrors } from '../texts/errors/database.ts';
import { presenceTimes } from './presence-times.ts';

/** A migration may rewrite large tables. */
const migrationTimeoutMs = 3_600_000;

/**
 * Checks that the database has the schema of this version. An empty embedded database gets it. With `upgradesEmbedded`,
 * an embedded database gets the migrations that it lacks.
 */
export async function prepareSchema(postgres: PostgresHandle, db: Db, upgradesEmbedded: boolean): Promise<void> {
  if (postgres.embedded && (upgradesEmbedded || !(await hasSchema(db)))) await migrateAsOwner(postgres);
  await checkSchema(db);
}

/**
 * Brings the schema up to date as the owner of the tables, and grants the runtime role its rights if there are two
 * roles. Returns the names of the applied migrations. Throws UserError while processes of an older version are running.
 */
export function migrateAsOwner(postgres: Urls): Promise<string[]> {
  return asOwner(postgres, async (owner, roles) => {
    const missing = await missingMigrations(owner);
    if (missing !== null && missing.length > 0) await refuseBesideProcesses(owner, missing);
    return migrate(owner, roles);
  });
}

async function refuseBesideProcesses(owner: Db, missing: string[]): Promise<void> {
  const found = await rows(
    owner,
    { command: text, host: text, process: integer, version: text },
    `select command, host, process, version from daemon
     where ended_at is null and heard_at > clock_timestamp() - make_interval(secs => ?) order by started_at`,
    [presenceTimes.forgottenAfterSeconds],
  );
  if (found.length === 0) return;
  const processes = found.map(({ process: pid, ...each }) => databaseErrors.process({ pid, ...each })).join(', ');
  const seconds = presenceTimes.forgottenAfterSeconds;
  throw new UserError(databaseErrors.olderProcesses({ missing: missing.join(', '), processes, seconds }), 3);
}

/** Runs work that needs the owner of the tables. `runtime` and `console` are the roles of the programs, if they are other ones. */
async function asOwner<T>(
  { url, ownerUrl, consoleUrl = null }: Urls,
  work: (owner: Db, roles: { runtime?: LoginRole; console?: LoginRole }) => Promise<T>,
): Promise<T> {
  const ownerName = roleOfUrl(ownerUrl)?.name;
  const other = (of: string | null) => {
    const role = of === null ? null : roleOfUrl(of);
    return role === null || role.name === ownerName ? undefined : role;
  };
  const [runtime, consoleRole] = [other(url), other(consoleUrl)];
  const owner = openDatabase(ownerUrl, { max: 1, statementTimeoutMs: migrationTimeoutMs });
  try {
    return await work(owner, { ...(runtime && { runtime }), ...(consoleRole && { console: consoleRole }) });
  } finally {
    await owner.destroy();
  }
}

type Urls = Pick<PostgresHandle, 'url' | 'ownerUrl'> & { consoleUrl?: string | null };
