import { text } from './columns.ts';
import { schemaName } from './pool.ts';
import { type Connection, execute, row, rows } from './rows.ts';

/**
 * The role of the console: it reads the books of the installations that a request names, asks for actions, and keeps its
 * users and sessions in the schema `vetledger_console`. Row-level security keeps the books of other installations from it, so that a
 * forgotten condition in a query shows nothing of another firm.
 */

export const consoleSchema = 'vetledger_console';

/** The setting with the installations that a transaction of the console reads, as `{4711,4712}`. */
const setting = 'vetledger.installations';

/** Tables of the whole database. They contain no data of a single installation. */
const globalTables = ['migration', 'meta', 'daemon', 'backup', 'field_map', 'schedule_look', 'database_size'];

/** Tables without a column `installation`: the text of this column begins with it. */
const byEntryId: Record<string, string> = {
  entry_line: 'entry_id',
  summary_line: 'summary_id',
  summary_member: 'entry_id',
};

/** Tables whose rows are seen with those of another table, which is limited to the installations. */
const byOther: Record<string, string> = {
  action_reason: `select from ${schemaName}.action a where a.id = action_id`,
  erp_company: `select from ${schemaName}.erp_cursor c where c.company = erp_company.company`,
};

/** The setting with which a transaction of the console reads and adds actions of the whole database: changes of users. */
const usersSetting = 'vetledger.users';

/** Tables of actions, with the condition of a row that belongs to the whole database. */
const userActions: Record<string, string> = {
  action: 'installation is null',
  action_outcome: 'installation is null',
  action_head: 'installation is null',
  action_reason: `exists (select from ${schemaName}.action a where a.id = action_id and a.installation is null)`,
};

/** Tables that the console may add to, to ask for an action. */
const askedTables = ['action', 'action_reason', 'action_head'];

/** Makes the rows of these installations visible until the transaction ends. Without it, the role of the console sees none. */
export async function showInstallations(trx: Connection, installations: readonly number[]): Promise<void> {
  await execute(trx, 'select set_config(?, ?, true)', [setting, `{${installations.join(',')}}`]);
}

/** Lets a transaction read and record changes of users, until it ends. */
export async function showUserActions(trx: Connection): Promise<void> {
  await execute(trx, `select set_config(?, 'on', true)`, [usersSetting]);
}

/**
 * Turns row-level security on, and grants the console's role its rights. `runtime` is the role of the program, which sees all
 * rows. Null if it owns the tables, because row-level security does not apply to their owner.
 */
export async function grantConsole(trx: Connection, name: string, runtime: string | null): Promise<void> {
  const { to } = await row(trx, { to: text }, 'select quote_ident(?) as "to"', [name]);
  const policies = await policiesOf(trx);
  const own = ['subject', 'subject_role', 'session', 'link'].map((table) => `${consoleSchema}.${table}`).join(', ');
  const added = ['sign_in', 'refused'].map((table) => `${consoleSchema}.${table}`).join(', ');
  const statements = [
    `grant usage on schema ${schemaName}, ${consoleSchema} to ${to}`,
    ...policies.flatMap(({ table, sees }) => protect(table, to, sees)),
    `grant select on ${[...policies.map(({ table }) => table), 'action_done', 'mapping_content'].map(qualified).join(', ')} to ${to}`,
    `grant insert on ${[...askedTables, 'action_outcome'].map(qualified).join(', ')} to ${to}`,
    `grant update on ${qualified('action_head')} to ${to}`,
    `grant usage on sequence ${qualified('action_id')} to ${to}`,
    `grant select, insert, update, delete on ${own} to ${to}`,
    `grant select, insert on ${added} to ${to}`,
    ...askedTables.map((table) => policy(table, 'console_asks', `for insert to ${to} with check (${seesOf(table)})`)),
    ...Object.entries(userActions).map(([table, condition]) => {
      const own = `(${condition} and (select current_setting('${usersSetting}', true)) = 'on')`;
      return policy(table, 'console_changes_users', `to ${to} using ${own} with check ${own}`);
    }),
    policy('action_head', 'console_moves', `for update to ${to} using (${seesOf('action_head')})`),
  ];
  if (runtime !== null) {
    const { by } = await row(trx, { by: text }, 'select quote_ident(?) as "by"', [runtime]);
    statements.push(
      ...policies.map(({ table }) => policy(table, 'runtime_works', `to ${by} using (true) with check (true)`)),
    );
  }
  // One statement for all: a round trip for each of 300 would make the migration slow.
  await execute(trx, statements.map((each) => each.replaceAll('?', '\\?')).join(';\n'));
}

/** Each table that the console reads, with the condition of the rows that it sees. */
async function policiesOf(trx: Connection): Promise<{ table: string; sees: string }[]> {
  const found = await rows(
    trx,
    { name: text },
    `select c.relname::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = ? and c.relkind = 'r'
       and (c.relname = any(?) or exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'installation' and not a.attisdropped))
     order by 1`,
    [schemaName, [...globalTables, ...Object.keys(byEntryId), ...Object.keys(byOther)]],
  );
  return found.map(({ name }) => ({ table: name, sees: seesOf(name) }));
}

function seesOf(table: string): string {
  const visible = (type: string) => `((select nullif(current_setting('${setting}', true), '')::${type}[])::${type}[])`;
  if (globalTables.includes(table)) return 'true';
  const other = byOther[table];
  if (other !== undefined) return `exists (${other})`;
  const id = byEntryId[table];
  // The sub-select is evaluated once per statement. Outside it, the text of all installations would be parsed for each row.
  // `+ 0` makes the condition a filter: as a part of an index search, it would sort all installations for each search.
  return id === undefined
    ? `(installation + 0) = any ${visible('bigint')}`
    : `split_part(${id}, '/', 1) = any ${visible('text')}`;
}

function protect(table: string, to: string, sees: string): string[] {
  return [
    `alter table ${qualified(table)} enable row level security`,
    policy(table, 'console_reads', `for select to ${to} using (${sees})`),
  ];
}

function policy(table: string, name: string, content: string): string {
  return `drop policy if exists ${name} on ${qualified(table)}; create policy ${name} on ${qualified(table)} ${content}`;
}

function qualified(table: string): string {
  return `${schemaName}.${table}`;
}
