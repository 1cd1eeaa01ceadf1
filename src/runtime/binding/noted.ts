import { z } from 'zod';
import { nullable, storedJson, text } from '../../db/columns.ts';
import { type Connection, execute, maybeRow, row } from '../../db/rows.ts';
import { codeOf } from '../../domain/errors.ts';
import type { NotedBinding, Whereabouts } from './judge.ts';

/** The database's side of the binding (rows of `meta`). */

const bindingKey = 'binding';
const nameKey = 'temporal_name';

const bindingSchema: z.ZodType<NotedBinding> = z.object({
  ...{ system: z.string().nullable(), database: z.string().nullable(), timeline: z.string().nullable() },
  ...{ namespace: z.string().nullable(), incarnation: z.string(), next: z.string().nullable() },
});

/** SQLSTATEs of a missing right, a missing function, and a function that the server does not support. */
const notReturned: ReadonlySet<string> = new Set(['42501', '42883', '0A000']);

/** Identifies this PostgreSQL server. Some hosted servers do not return the values; they are null then. */
export async function whereDatabaseIs(db: Connection): Promise<Omit<Whereabouts, 'namespace'>> {
  try {
    return await row(
      db,
      { system: nullable(text), database: nullable(text), timeline: nullable(text) },
      `select (select system_identifier::text from pg_control_system()) as system,
         (select oid::text from pg_database where datname = current_database()) as database,
         case when pg_is_in_recovery() then null else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`,
    );
  } catch (error) {
    if (!notReturned.has(codeOf(error) ?? '')) throw error;
    return { system: null, database: null, timeline: null };
  }
}

export async function notedBinding(db: Connection): Promise<NotedBinding | null> {
  const value = storedJson('the binding in meta.value', bindingSchema);
  const found = await maybeRow(db, { value }, 'select value from meta where key = ?', [bindingKey]);
  return found?.value ?? null;
}

export async function noteBinding(db: Connection, binding: NotedBinding | null): Promise<void> {
  if (binding === null) await execute(db, 'delete from meta where key = ?', [bindingKey]);
  else await saveMeta(db, bindingKey, JSON.stringify(binding));
}

/** The name of this database in Temporal, part of workflow ids and task queues. Initially it is the database's id. */
export async function temporalName(db: Connection, databaseId: string): Promise<string> {
  const found = await maybeRow(db, { value: text }, 'select value from meta where key = ?', [nameKey]);
  return found?.value ?? databaseId;
}

export async function noteTemporalName(db: Connection, name: string): Promise<void> {
  await saveMeta(db, nameKey, name);
}

async function saveMeta(db: Connection, key: string, value: string): Promise<void> {
  await execute(
    db,
    'insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value',
    [key, value],
  );
}
