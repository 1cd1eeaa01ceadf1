import { UserError } from '../domain/errors.ts';
import { databaseErrors } from '../texts/errors/database.ts';
import { bool, integer, text } from './columns.ts';
import { consoleSchema } from './console-role.ts';
import { schemaName } from './pool.ts';
import { type Connection, execute, maybeRow, row, rows } from './rows.ts';

/**
 * The owner migrates the schema. The runtime role runs every other command; it owns nothing and cannot change or delete
 * the journal, even after a defect or an intrusion. The role of the console is in console-role.ts.
 */

/** A role that connects with a password; null if it signs in without one. */
export interface LoginRole {
  name: string;
  password: string | null;
}

/** The role in a connection URL; null if the URL names no role. */
export function roleOfUrl(url: string): LoginRole | null {
  const { username, password } = new URL(url);
  if (username === '') return null;
  return { name: decodeURIComponent(username), password: password === '' ? null : decodeURIComponent(password) };
}

/**
 * Creates the role if it is missing; false if this connection lacks the right to do so. An existing role keeps its
 * password.
 */
export async function ensureRole(db: Connection, role: LoginRole): Promise<boolean> {
  const { found, mayCreate } = await roleState(db, role.name);
  if (found) return true;
  if (!mayCreate) return false;
  const { statement } = await row(
    db,
    { statement: text },
    role.password === null
      ? `select format('create role %I login', ?::text) as statement`
      : `select format('create role %I login password %L', ?::text, ?::text) as statement`,
    role.password === null ? [role.name] : [role.name, role.password],
  );
  await execute(db, asWritten(statement));
  return true;
}

async function roleState(db: Connection, name: string): Promise<{ found: boolean; mayCreate: boolean }> {
  const state = await row(
    db,
    { found: bool, may_create: bool },
    `select exists (select from pg_roles where rolname = ?) as found,
       (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) as may_create`,
    [name],
  );
  return { found: state.found, mayCreate: state.may_create };
}

/** Statements that a superuser runs once, for an owner and the other roles. The superuser chooses the passwords. */
export function rolesSql(owner: string, others: readonly string[], database: string): string[] {
  const [as, of] = [identifier(owner), identifier(database)];
  return [
    ...[owner, ...others].map((role) => `create role ${identifier(role)} login password '…';`),
    `grant connect, create on database ${of} to ${as};`,
    `grant connect on database ${of} to ${others.map(identifier).join(', ')};`,
  ];
}

/**
 * Grants a role the rights of the runtime: to read and add to the journal, to read the applied migrations, and ordinary
 * rights on all other tables. The journal's tables are those whose trigger refuses changes. Each migration grants the
 * rights again, so that they cover new tables.
 */
export async function grantRuntime(trx: Connection, role: string): Promise<void> {
  const to = identifier(role);
  const journal = (await journalTables(trx)).map((name) => `${schemaName}.${identifier(name)}`).join(', ');
  const statements = [
    `grant usage on schema ${schemaName} to ${to}`,
    `grant select, insert, update, delete on all tables in schema ${schemaName} to ${to}`,
    `grant usage on all sequences in schema ${schemaName} to ${to}`,
    `revoke update, delete on ${journal} from ${to}`,
    `revoke insert, update, delete on ${schemaName}.migration from ${to}`,
    // Commands add users, and look up who acts.
    `grant usage on schema ${consoleSchema} to ${to}`,
    `grant select, insert, update, delete on all tables in schema ${consoleSchema} to ${to}`,
    `revoke insert, update, delete on ${consoleSchema}.sign_in, ${consoleSchema}.refused from ${to}`,
  ];
  for (const statement of statements) await execute(trx, asWritten(statement));
}

/** The role that deploy/postgres/backup.sh connects as. */
const backupRole = 'vetledger_backup';

/**
 * Grants the backup role its rights, if the role exists: to read everything, and to record a successful backup. Row-level
 * security must not apply to it. Otherwise pg_dump refuses to make a backup. Throws UserError if this connection cannot
 * exempt the role.
 */
export async function grantBackup(trx: Connection): Promise<void> {
  if (!(await roleState(trx, backupRole)).found) return;
  const schemas = `${schemaName}, ${consoleSchema}`;
  const statements = [
    `grant usage on schema ${schemas} to ${backupRole}`,
    `grant select on all tables in schema ${schemas} to ${backupRole}`,
    `grant select on all sequences in schema ${schemas} to ${backupRole}`,
    `grant insert, update on ${schemaName}.backup to ${backupRole}`,
  ];
  for (const statement of statements) await execute(trx, statement);
  const { isFiltered, mayExempt } = await row(
    trx,
    { isFiltered: bool, mayExempt: bool },
    `select not rolbypassrls and not rolsuper and exists (
         select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = ? and c.relrowsecurity
       ) as "isFiltered",
       (select rolsuper from pg_roles where rolname = current_user) as "mayExempt"
     from pg_roles where rolname = ?`,
    [schemaName, backupRole],
  );
  if (!isFiltered) return;
  const exemption = `alter role ${backupRole} bypassrls`;
  if (!mayExempt) throw new UserError(databaseErrors.backupRoleFiltered({ role: backupRole, sql: `${exemption};` }), 3);
  await execute(trx, exemption);
}

/** The append-only tables. */
async function journalTables(db: Connection): Promise<string[]> {
  const found = await rows(
    db,
    { name: text },
    `select distinct c.relname::text as name from pg_trigger t
     join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = ? and p.proname = 'refuse_change' order by 1`,
    [schemaName],
  );
  return found.map(({ name }) => name);
}

/** Rights of the connection's role that a runtime role must not have; empty for a proper runtime role. */
export async function rightsBeyondRuntime(db: Connection): Promise<string[]> {
  const tables = await journalTables(db);
  const found = await row(
    db,
    { superuser: bool, owned: integer, writable: integer },
    `select (select rolsuper from pg_roles where rolname = current_user) as superuser,
       (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = ? and c.relkind = 'r' and pg_has_role(current_user, c.relowner, 'member')) as owned,
       (select count(*) from unnest(?::text[]) t(name)
        where has_table_privilege(current_user, format('%I.%I', ?::text, t.name), 'update, delete, truncate')) as writable`,
    [schemaName, tables, schemaName],
  );
  return [
    ...(found.superuser ? [databaseErrors.isSuperuser] : []),
    ...(found.owned > 0 ? [databaseErrors.ownsTables] : []),
    ...(found.writable > 0 ? [databaseErrors.mayChangeJournal] : []),
  ];
}

export async function currentRole(db: Connection): Promise<string> {
  const found = await maybeRow(db, { name: text }, 'select current_user::text as name');
  return found?.name ?? '';
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** knex would read a question mark as a parameter. */
function asWritten(statement: string): string {
  return statement.replaceAll('?', '\\?');
}
