import { z } from 'zod';
import { type Config, loadConfig } from '../../config/load-config.ts';
import { roleOfUrl, rolesSql } from '../../db/roles.ts';
import { ConfigError, UserError } from '../../domain/errors.ts';
import { acquirePostgres, type PostgresHandle, ServiceError } from '../../embedded/index.ts';
import { migrateAsOwner } from '../../runtime/database.ts';
import type { Definition } from '../command.ts';
import type { CommandContext } from '../context.ts';

const answer = z.strictObject({
  applied: z.array(z.string()),
  owner: z.string().nullable(),
  /** Null where one role does all. */
  runtime: z.string().nullable(),
});

export const command: Definition<object> = {
  description:
    'Connects with `migrate_database_url` (without it: `database_url`), applies the migrations that are missing, and gives the role of `database_url` its rights: to read and add in the journal, and ordinary ones on the rest. The role `vetledger_backup` gets the right to read, where it was made. It makes that role if it may; otherwise it prints the SQL for a superuser. Before an upgrade, stop every process of vetledger and make a backup. A database of a build before 0.1.0 with other tables is refused. `dev`, and `sync` on an embedded database, do this by themselves.',
  examples: [
    ['vetledger migrate', 'after installing, and after each upgrade'],
    ['vetledger migrate --json', 'which migrations were applied, as JSON'],
  ],
  answer,
  run: migrate,
};

/** Makes the tables or brings them up to date, as the owner of the database, and gives the runtime role its rights. */
async function migrate(context: CommandContext): Promise<number> {
  const config = await loadConfig(context.configPath, context.env, { mappingMayBeMissing: true });
  const postgres = await acquireOwned(context, config);
  try {
    const migrated = { applied: await migrateAsOwner(postgres), ...rolesOf(postgres) };
    await context.result(migrated, () => migratedText(migrated));
    return 0;
  } finally {
    await postgres.release();
  }
}

function rolesOf({ url, ownerUrl }: PostgresHandle): { owner: string | null; runtime: string | null } {
  const owner = roleOfUrl(ownerUrl)?.name ?? null;
  const runtime = roleOfUrl(url)?.name ?? null;
  return { owner, runtime: runtime === owner ? null : runtime };
}

async function acquireOwned(context: CommandContext, config: Config): Promise<PostgresHandle> {
  const { databaseUrl, migrateDatabaseUrl, dataDir } = config;
  if (migrateDatabaseUrl === '') {
    throw new ConfigError({
      code: 'environment_missing',
      message: `${config.file}: migrate_database_url names an environment variable that is not set.`,
      todo: 'Set it to the URL of the owner of the tables for this command, or remove migrate_database_url where one role does all.',
    });
  }
  // Only as the owner: the runtime role may be one that is still to be made.
  const given = migrateDatabaseUrl ?? databaseUrl ?? undefined;
  try {
    const postgres = await acquirePostgres({
      dataDir,
      databaseUrl: given,
      progress: context.note,
      env: context.env,
    });
    return given === undefined ? postgres : { ...postgres, ownerUrl: given, url: databaseUrl ?? given };
  } catch (error) {
    const sql =
      migrateDatabaseUrl === null || databaseUrl === null ? null : sqlOfRoles(migrateDatabaseUrl, databaseUrl);
    if (!(error instanceof ServiceError) || error.code !== 'postgres_unreachable' || sql === null) throw error;
    throw new UserError(
      {
        code: error.code,
        message: error.message.replace('database_url (DATABASE_URL)', 'migrate_database_url'),
        todo: `Start that server or correct migrate_database_url. Where its roles are still to be made, let a superuser run, with the passwords of the two URLs:\n${sql.join('\n')}`,
      },
      3,
      error,
    );
  }
}

function sqlOfRoles(ownerUrl: string, runtimeUrl: string): string[] | null {
  const owner = roleOfUrl(ownerUrl);
  const runtime = roleOfUrl(runtimeUrl);
  if (owner === null || runtime === null) return null;
  return rolesSql(owner.name, runtime.name, decodeURIComponent(new URL(ownerUrl).pathname.slice(1)) || owner.name);
}

function migratedText({ applied, runtime }: z.infer<typeof answer>): string {
  const did = applied.length === 0 ? 'The database was up to date.' : `Applied: ${applied.join(', ')}.`;
  const rights =
    runtime === null
      ? ''
      : ` The role ${runtime} has its rights: it reads and adds in the journal, and changes nothing there.`;
  return `${did}${rights}`;
}
