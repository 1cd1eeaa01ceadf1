import { bool, integer, text } from './columns.ts';
import { schemaName } from './pool.ts';
import { type Connection, execute, maybeRow, row, rows } from './rows.ts';

/**
 * Two roles: the owner migrates the schema, the runtime role is what every other command connects as. The runtime role owns
 * nothing and cannot change or delete what is in the journal, whatever a defect or an intruder makes it send.
 */

/** A role that connects with a password; null where it signs in in another way. */
export interface LoginRole {
  name: string;
  password: string | null;
}

/** The role that a connection URL names; null where it names none. */
export function roleOfUrl(url: string): LoginRole | null {
  const { username, password } = new URL(url);
  if (username === '') return null;
  return { name: decodeURIComponent(username), password: password === '' ? null : decodeURIComponent(password) };
}

/**
 * Makes the role if it is not there; false where this connection lacks the right to. A password that the role has already
 * stays as it is.
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

/** Statements that a superuser runs once, for an owner and a runtime role; the passwords are for them to choose. */
export function rolesSql(owner: string, runtime: string, database: string): string[] {
  const [as, to, of] = [owner, runtime, database].map(identifier);
  return [
    `create role ${as} login password '…';`,
    `create role ${to} login password '…';`,
    `grant connect, create on database ${of} to ${as};`,
    `grant connect on database ${of} to ${to};`,
  ];
}

/**
 * Gives a role the rights of the runtime: to read and add in the journal, to read which migrations were applied, and ordinary
 * rights on the rest. The journal's tables are those whose trigger refuses changes. Given anew by each migration, so that
 * they cover what it made.
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
  ];
  for (const statement of statements) await execute(trx, asWritten(statement));
}

/** The role that deploy/postgres/backup.sh connects as. */
const backupRole = 'vetledger_backup';

/** Gives the backup's role its rights, where somebody has made it: to read everything, and to note that a backup succeeded. */
export async function grantBackup(trx: Connection): Promise<void> {
  if (!(await roleState(trx, backupRole)).found) return;
  const statements = [
    `grant usage on schema ${schemaName} to ${backupRole}`,
    `grant select on all tables in schema ${schemaName} to ${backupRole}`,
    `grant select on all sequences in schema ${schemaName} to ${backupRole}`,
    `grant insert, update on ${schemaName}.backup to ${backupRole}`,
  ];
  for (const statement of statements) await execute(trx, statement);
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

/** What the role of this connection may do that a runtime role may not; empty where it is one. */
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
    ...(found.superuser ? ['is a superuser'] : []),
    ...(found.owned > 0 ? ['owns the tables'] : []),
    ...(found.writable > 0 ? ['may change the journal'] : []),
  ];
}

/** The role of this connection. */
export async function currentRole(db: Connection): Promise<string> {
  const found = await maybeRow(db, { name: text }, 'select current_user::text as name');
  return found?.name ?? '';
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A question mark would stand for a parameter. */
function asWritten(statement: string): string {
  return statement.replaceAll('?', '\\?');
}
