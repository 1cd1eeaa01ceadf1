import type { Knex } from 'knex';
import type { Db } from '../db/pool.ts';

/**
 * What has been learnt of one installation (table installation_fact): which filters it ignores, its default page size,
 * its department locks. Names are `filter.<list>.<filter>`, `default_page_size`, `source_locks`, `mapping_hash`.
 */
export async function noteFact(db: Db | Knex.Transaction, installation: number, name: string, value: unknown) {
  await db.raw(
    `insert into installation_fact (installation, name, value) values (?, ?, ?::json)
     on conflict (installation, name) do update set value = excluded.value, noted_at = clock_timestamp()`,
    [installation, name, JSON.stringify(value)],
  );
}

export async function readFact<T>(db: Db | Knex.Transaction, installation: number, name: string): Promise<T | null> {
  const found = await db.raw<{ rows: { value: string }[] }>(
    `select value from installation_fact where installation = ? and name = ?`,
    [installation, name],
  );
  return found.rows[0] ? (JSON.parse(found.rows[0].value) as T) : null;
}

/** A filter once ignored is asked for again after this long: servers are mended, too. */
const ignoredForHours = 24;

/** Filters of `list` that the server was lately seen to ignore. */
export async function ignoredFilters(db: Db, installation: number, list: string): Promise<Set<string>> {
  const prefix = `filter.${list}.`;
  const found = await db.raw<{ rows: { name: string }[] }>(
    `select name from installation_fact where installation = ? and left(name, ?) = ? and value::text = '"ignored"'
       and noted_at > clock_timestamp() - make_interval(hours => ?)`,
    [installation, prefix.length, prefix, ignoredForHours],
  );
  return new Set(found.rows.map((row) => row.name.slice(prefix.length)));
}

export async function noteIgnored(db: Db, installation: number, list: string, filter: string): Promise<void> {
  await noteFact(db, installation, `filter.${list}.${filter}`, 'ignored');
}
