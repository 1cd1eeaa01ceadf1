import { z } from 'zod';
import { type Config, loadConfig } from '../../config/load-config.ts';
import { roleOfUrl, rolesSql } from '../../db/roles.ts';
import { ConfigError, UserError } from '../../domain/errors.ts';
import { acquirePostgres, type PostgresHandle, ServiceError } from '../../embedded/index.ts';
import { migrateAsOwner } from '../../runtime/database.ts';
import { migrateTexts } from '../../texts/commands/results.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { configErrors } from '../../texts/errors/config.ts';
import type { Definition } from '../command.ts';
import type { CommandContext } from '../context.ts';

const answer = z.strictObject({
  applied: z.array(z.string()),
  owner: z.string().nullable(),
  /** The runtime role. Null if one role owns the tables and runs the daemon. */
  runtime: z.string().nullable(),
  /** Null if the configuration has no role of the console. */
  console: z.string().nullable(),
});

export const command: Definition<object> = {
  description:
    'Connects with `migrate_database_url` (or `database_url` if it is absent) and applies the missing migrations. The role of `database_url` gets the right to read and append to the journal, and to read and change the other tables. The role `vetledger_backup`, if it exists, gets the right to read. If the role of `database_url` is missing, the command creates it, or prints the SQL for a superuser if it lacks the right. Before an upgrade, stop every process of vetledger and make a backup. A database with other tables, of a build before 0.1.0, is refused. `dev`, and `sync` with an embedded database, migrate automatically.',
  examples: [
    ['vetledger migrate', 'after installing, and after each upgrade'],
    ['vetledger migrate --json', 'which migrations were applied, as JSON'],
  ],
  answer,
  run: migrate,
};

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

function rolesOf({ url, ownerUrl, consoleUrl }: PostgresHandle): Omit<z.infer<typeof answer>, 'applied'> {
  const owner = roleOfUrl(ownerUrl)?.name ?? null;
  const other = (of: string | null) => {
    const role = of === null ? null : (roleOfUrl(of)?.name ?? null);
    return role === owner ? null : role;
  };
  return { owner, runtime: other(url), console: other(consoleUrl) };
}

async function acquireOwned(context: CommandContext, config: Config): Promise<PostgresHandle> {
  const { databaseUrl, migrateDatabaseUrl, dataDir } = config;
  const consoleUrl = config.console?.databaseUrl ?? null;
  if (migrateDatabaseUrl === '') {
    throw new ConfigError(configErrors.ownerVariableMissing({ file: config.file }));
  }
  // Connects only as the owner, because the runtime role may not exist yet.
  const given = migrateDatabaseUrl ?? databaseUrl ?? undefined;
  try {
    const postgres = await acquirePostgres({
      dataDir,
      databaseUrl: given,
      progress: context.note,
      env: context.env,
    });
    return given === undefined ? postgres : { ...postgres, ownerUrl: given, url: databaseUrl ?? given, consoleUrl };
  } catch (error) {
    const sql =
      migrateDatabaseUrl === null || databaseUrl === null ? null : sqlOfRoles(migrateDatabaseUrl, databaseUrl);
    if (!(error instanceof ServiceError) || error.code !== 'postgres_unreachable' || sql === null) throw error;
    const message = error.message.replace('database_url (DATABASE_URL)', 'migrate_database_url');
    throw new UserError(commandErrors.ownerUnreachable({ message, sql: sql.join('\n') }), 3, error);
  }
}

function sqlOfRoles(ownerUrl: string, runtimeUrl: string): string[] | null {
  const owner = roleOfUrl(ownerUrl);
  const runtime = roleOfUrl(runtimeUrl);
  if (owner === null || runtime === null) return null;
  return rolesSql(owner.name, [runtime.name], decodeURIComponent(new URL(ownerUrl).pathname.slice(1)) || owner.name);
}

function migratedText({ applied, runtime, console: consoleRole }: z.infer<typeof answer>): string {
  const did = applied.length === 0 ? migrateTexts.upToDate : migrateTexts.applied({ migrations: applied.join(', ') });
  const rights = runtime === null ? '' : migrateTexts.rights({ role: runtime });
  return `${did}${rights}${consoleRole === null ? '' : migrateTexts.consoleRights({ role: consoleRole })}`;
}
