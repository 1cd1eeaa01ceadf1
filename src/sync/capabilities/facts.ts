import type { Knex } from 'knex';
import type { Db } from '../../db/pool.ts';
import type { RecordKind } from '../../terms.ts';
import type { FilterFinding, FilterVerdict } from './probe.ts';

/**
 * What has been learnt of one installation (table installation_fact): which filters it honours and ignores, its default page
 * size, its department locks. Names are `filter.<list>.<filter>`, `default_page_size`, `source_locks`, `mapping_hash`,
 * `webhook_nudge`.
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
export const ignoredForHours = 24;

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

export interface FilterFact {
  list: RecordKind;
  filter: string;
  verdict: FilterVerdict;
  notedAt: Date;
}

/** Stores what a probe found. A filter found honoured is used again at once; one that could not be told stays what it was. */
export async function noteFilters(db: Db, installation: number, findings: FilterFinding[]): Promise<void> {
  for (const { list, filter, verdict } of findings) {
    await db.raw(
      `insert into installation_fact as f (installation, name, value) values (?, ?, ?::json)
       on conflict (installation, name) do update set noted_at = clock_timestamp(),
         value = case when excluded.value::text = '"unknown"' then f.value else excluded.value end`,
      [installation, `filter.${list}.${filter}`, JSON.stringify(verdict)],
    );
  }
}

/** What is stored of an installation's filters, and since when. */
export async function filterFacts(db: Db, installation: number): Promise<FilterFact[]> {
  const found = await db.raw<{ rows: { name: string; value: string; noted_at: Date }[] }>(
    `select name, value, noted_at from installation_fact where installation = ? and left(name, 7) = 'filter.' order by name`,
    [installation],
  );
  return found.rows.map(({ name, value, noted_at }) => {
    const [, list, filter] = name.split('.');
    const verdict = JSON.parse(value) as FilterVerdict;
    return { list: list as RecordKind, filter: filter!, verdict, notedAt: noted_at };
  });
}

const nudge = 'webhook_nudge';

/**
 * Notes that webhooks asked for a window, so that it can say so: a schedule's trigger itself carries no reason. As many count as
 * windows can come of them: one, and one more while none has opened yet.
 */
export async function noteNudge(db: Db, installation: number): Promise<void> {
  await db.raw(
    `insert into installation_fact as f (installation, name, value) values (?, ?, '1')
     on conflict (installation, name) do update set noted_at = clock_timestamp(), value = to_json(least(
       f.value::text::int + 1,
       case when exists (select from sync_window where installation = ? and kind = 'window' and outcome = 'open') then 1 else 2 end))`,
    [installation, nudge, installation],
  );
}

/** Whether webhooks asked for the window that opens now; counts as one that came of them. */
export async function takeNudge(db: Db, installation: number): Promise<boolean> {
  const taken = await db.raw<{ rows: unknown[] }>(
    `update installation_fact set value = to_json(value::text::int - 1)
     where installation = ? and name = ? and value::text::int > 0 returning 1`,
    [installation, nudge],
  );
  return taken.rows.length > 0;
}

/** When the latest webhook that asked for a window came; null when none has. */
export async function latestNudge(db: Db, installation: number): Promise<Date | null> {
  const found = await db.raw<{ rows: { noted_at: Date }[] }>(
    `select noted_at from installation_fact where installation = ? and name = ?`,
    [installation, nudge],
  );
  return found.rows[0]?.noted_at ?? null;
}
