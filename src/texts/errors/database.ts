import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

const unchanged = 'Nothing in it was changed.';

/** Errors of the database: its version, schema, roles and stored rows. */
export const databaseErrors = catalogue('errors/database.databaseErrors', {
  notSetUp: (): PlainError => ({
    code: 'database_not_set_up',
    message: 'The database has no tables of vetledger yet.',
    todo: 'Run `vetledger migrate` once to create them.',
  }),
  needsMigration: ({ missing, count }: { missing: string; count: number }): PlainError => ({
    code: 'database_needs_migration',
    message: `The database belongs to an older version of vetledger: ${missing} ${count === 1 ? 'is' : 'are'} not applied. ${unchanged}`,
    todo: 'Stop every other process of vetledger, make a backup and run `vetledger migrate` (docs/operators/upgrade.md).',
  }),
  postgresTooOld: ({ major, oldest, newest }: { major: number; oldest: number; newest: number }): PlainError => ({
    code: 'postgres_too_old',
    message: `The server is PostgreSQL ${major}. vetledger requires ${oldest} or newer, since older versions get no corrections any more.`,
    todo: `Move the database to PostgreSQL ${oldest} to ${newest} (pg_dump and pg_restore), or name another server in database_url.`,
  }),
  anotherBuild: ({ names }: { names: string }): PlainError => ({
    code: 'database_of_another_build',
    message: `Another build before 0.1.0 created the database, and its tables differ (${names}). ${unchanged}`,
    todo: 'Create a new one: name an empty database in database_url. For embedded servers, name another data_dir, or remove that folder if you need nothing in it.',
  }),
  anotherVersion: ({ names }: { names: string }): PlainError => ({
    code: 'database_of_another_version',
    message: `Another version of vetledger created the database. This version does not know its migration ${names} and cannot work with it. ${unchanged}`,
    todo: 'Run the version that created it, or name an empty database in database_url. For embedded servers, name another data_dir.',
  }),
  inUse: ({ name }: { name: string }): PlainError => ({
    code: 'database_in_use',
    message: `The migration ${name} was not applied, because another transaction uses a table that it changes. It changed nothing. Migrations that were applied before stay applied.`,
    todo: "Run `vetledger migrate` again. If that recurs, `select pid, xact_start, query from pg_stat_activity where xact_start < now() - interval '10 seconds'` shows who holds the table.",
  }),
  roleMissing: ({ role, key, owner, sql }: { role: string; key: string; owner: string; sql: string }): PlainError => ({
    code: 'role_missing',
    message: `The role ${role} of ${key} does not exist, and ${owner} of migrate_database_url may not create roles. Nothing was changed.`,
    todo: `Let a superuser run the missing ones of these statements, with the passwords of the URLs:\n${sql}\nThen run \`vetledger migrate\` again.`,
  }),
  backupRoleFiltered: ({ role, sql }: { role: string; sql: string }): PlainError => ({
    code: 'backup_role_filtered',
    message: `The row-level security of the console applies to the role ${role}, so that it could not make backups. Nothing was changed.`,
    todo: `Let a superuser run this statement:\n${sql}\nThen run \`vetledger migrate\` again.`,
  }),
  rightsMissing: (): PlainError => ({
    code: 'database_rights_missing',
    message: 'The role of database_url may not read the tables of vetledger.',
    todo: 'Run `vetledger migrate` with migrate_database_url set to the owner of the tables: it grants the role of database_url its rights.',
  }),
  olderProcesses: ({
    missing,
    processes,
    seconds,
  }: {
    missing: string;
    processes: string;
    seconds: number;
  }): PlainError => ({
    code: 'older_processes_at_work',
    message: `The database lacks ${missing}, and processes that do not know this migration are running: ${processes}. Nothing was changed.`,
    todo: `Stop them and run \`vetledger migrate\` again. A process that was killed counts as running for ${seconds} seconds.`,
  }),
  process: ({ command, host, pid, version }: { command: string; host: string; pid: number; version: string }) =>
    `${command} on ${host} (process ${pid}, ${version})`,
  rowDamaged: ({ place, row, reason }: { place: string; row: string; reason: string }): PlainError => ({
    code: 'stored_row_damaged',
    message: `${place}${row} is damaged: ${reason}`,
    todo: 'Restore the row from a backup of the database. If it was not changed by hand, report it.',
  }),
  rowWith: ({ values }: { values: string }) => ` of the row with ${values}`,
  notJson: 'it is not JSON',
  theValue: 'the value',

  isSuperuser: 'is a superuser',
  ownsTables: 'owns the tables',
  mayChangeJournal: 'may change the journal',
});

const lane = ({ installation, lane }: { installation: number; lane: string }) =>
  `The lease of lane ${lane} of installation ${installation}`;
const company = 'The lease of the ERP’s company';

/** Errors of leases (src/db/lease.ts); `ofCompany` are those of the delivery to a company of an ERP. */
export const leaseErrors = catalogue('errors/database.leaseErrors', {
  lost: (of: { installation: number; lane: string }): PlainError => ({
    code: 'window_superseded',
    message: `${lane(of)} has another holder, or was released.`,
    todo: 'Nothing: the work that took over covers this one.',
  }),
  lostOfCompany: (): PlainError => ({
    code: 'erp_company_lost',
    message: `${company} has another holder, or was released.`,
    todo: 'Nothing: the delivery that took over covers this one.',
  }),
  expired: (of: { installation: number; lane: string; seconds: number }): PlainError => ({
    code: 'lease_expired',
    message: `${lane(of)} was not renewed within ${of.seconds} s.`,
    todo: 'Nothing: vetledger retries automatically.',
  }),
  busy: (of: { installation: number; lane: string }) => `${lane(of)} has another holder.`,
  busyOfCompany: `${company} has another holder.`,
});
