import { text } from './columns.ts';
import { consoleSchema } from './console-role.ts';
import { type Db, schemaName } from './pool.ts';
import { rows } from './rows.ts';

/**
 * The schema of a migrated database as SQL text, ordered by name: tables with their columns and constraints, indexes,
 * views, functions and triggers. It is stored as src/db/schema.sql, so that a review shows what a migration changes.
 */
export async function schemaText(db: Db): Promise<string> {
  const parts = [
    '-- Written by `node scripts/schema.ts` from src/db/migrations; edit those instead.',
    ...(await tables(db)),
    ...(await statements(db, viewsSql)),
    ...(await statements(db, functionsSql)),
    ...(await statements(db, triggersSql)),
  ];
  return `${parts.join('\n\n')}\n`;
}

async function tables(db: Db): Promise<string[]> {
  const columns = await rows(db, { table_name: text, line: text }, columnsSql, [schemas]);
  const constraints = await rows(db, { table_name: text, line: text }, constraintsSql, [schemas]);
  const indexes = await rows(db, { table_name: text, line: text }, indexesSql, [schemas]);
  const byTable = Map.groupBy([...columns, ...constraints], (each) => each.table_name);
  return [...byTable].map(([name, lines]) => {
    const body = lines.map(({ line }) => `  ${line}`).join(',\n');
    const own = indexes.filter((index) => index.table_name === name).map(({ line }) => `${line};`);
    return [`create table ${name} (\n${body}\n);`, ...own].join('\n');
  });
}

async function statements(db: Db, sql: string): Promise<string[]> {
  const found = await rows(db, { line: text }, sql, [schemas]);
  return found.map(({ line }) => `${line.trim()};`);
}

const schemas = [schemaName, consoleSchema];
/** Names of other schemas than vetledger's are qualified. */
const named = `case n.nspname when '${schemaName}' then '' else n.nspname || '.' end || c.relname`;

// src/db/migrate.ts creates the table of applied migrations.
const ours = `n.nspname = any(?) and c.relkind = 'r' and c.relname not like 'migration%'`;

const columnsSql = `
  select ${named} as table_name,
    a.attname || ' ' || format_type(a.atttypid, a.atttypmod) ||
      case when a.attidentity = 'a' then ' generated always as identity' else '' end ||
      case when a.attnotnull then ' not null' else '' end ||
      coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') as line
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where ${ours} order by n.nspname desc, c.relname, a.attnum`;

// Not-null constraints are listed with their columns.
const constraintsSql = `
  select ${named} as table_name, 'constraint ' || k.conname || ' ' || pg_get_constraintdef(k.oid) as line
  from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
  where ${ours} and k.contype <> 'n' order by n.nspname desc, c.relname, k.contype desc, k.conname`;

const indexesSql = `
  select ${named} as table_name, pg_get_indexdef(i.indexrelid) as line
  from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
  where ${ours} and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
  order by n.nspname desc, c.relname, line`;

const viewsSql = `
  select 'create view ' || c.relname || coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '') || ' as' || chr(10) || rtrim(pg_get_viewdef(c.oid), ';') as line
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any(?) and c.relkind = 'v' order by c.relname`;

const functionsSql = `
  select pg_get_functiondef(p.oid) as line
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = any(?) order by p.proname`;

const triggersSql = `
  select pg_get_triggerdef(t.oid) as line
  from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any(?) and not t.tgisinternal order by c.relname, t.tgname`;
