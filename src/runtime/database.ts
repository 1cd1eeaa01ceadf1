import { checkSchema, hasSchema, migrate } from '../db/migrate.ts';
import { type Db, openDatabase } from '../db/pool.ts';
import { roleOfUrl } from '../db/roles.ts';
import type { PostgresHandle } from '../embedded/index.ts';

/** A migration may rewrite large tables. */
const migrationTimeoutMs = 3_600_000;

/**
 * Checks that the database has the schema that this version needs. An empty embedded database gets it, and with
 * `upgradesEmbedded` an embedded one of an older version is brought up to date.
 */
export async function prepareSchema(postgres: PostgresHandle, db: Db, upgradesEmbedded: boolean): Promise<void> {
  if (postgres.embedded && (upgradesEmbedded || !(await hasSchema(db)))) await migrateAsOwner(postgres);
  else await checkSchema(db);
}

/** Brings the schema up to date as the owner of the tables, and gives the runtime role its rights where there are two. */
export async function migrateAsOwner({ url, ownerUrl }: Pick<PostgresHandle, 'url' | 'ownerUrl'>): Promise<string[]> {
  const runtime = roleOfUrl(url);
  const owner = openDatabase(ownerUrl, { max: 1, statementTimeoutMs: migrationTimeoutMs });
  try {
    return await migrate(owner, runtime === null || runtime.name === roleOfUrl(ownerUrl)?.name ? {} : { runtime });
  } finally {
    await owner.destroy();
  }
}
