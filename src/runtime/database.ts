import { checkSchema, hasSchema, migrate } from '../db/migrate.ts';
import { type Db, openDatabase } from '../db/pool.ts';
import { type LoginRole, roleOfUrl } from '../db/roles.ts';
import type { PostgresHandle } from '../embedded/index.ts';

/** A migration may rewrite large tables. */
const migrationTimeoutMs = 3_600_000;

/**
 * Checks that the database has the schema that this version needs, and returns the migrations of a newer version beside which it
 * works. An empty embedded database gets the schema, and with `upgradesEmbedded` an embedded one of an older version is brought up
 * to date.
 */
export async function prepareSchema(postgres: PostgresHandle, db: Db, upgradesEmbedded: boolean): Promise<string[]> {
  if (postgres.embedded && (upgradesEmbedded || !(await hasSchema(db)))) await migrateAsOwner(postgres);
  return checkSchema(db);
}

/** Brings the schema up to date as the owner of the tables, and gives the runtime role its rights where there are two. */
export function migrateAsOwner(postgres: Urls): Promise<string[]> {
  return asOwner(postgres, (owner, runtime) => migrate(owner, runtime));
}

/** Runs what needs the owner of the tables; `runtime` is the role that the program runs as, where it is another. */
export async function asOwner<T>(
  { url, ownerUrl }: Urls,
  work: (owner: Db, runtime: { runtime?: LoginRole }) => Promise<T>,
): Promise<T> {
  const runtime = roleOfUrl(url);
  const owner = openDatabase(ownerUrl, { max: 1, statementTimeoutMs: migrationTimeoutMs });
  try {
    return await work(owner, runtime === null || runtime.name === roleOfUrl(ownerUrl)?.name ? {} : { runtime });
  } finally {
    await owner.destroy();
  }
}

type Urls = Pick<PostgresHandle, 'url' | 'ownerUrl'>;
