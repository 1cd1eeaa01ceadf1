import { integer, oneOf } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { execute, maybeRow } from '../db/rows.ts';
import { type RecordKind, recordKinds } from '../terms.ts';

/** For how many days what is prunable is kept; 0: for ever. */
export interface Retention {
  windowDays: number;
  versionDays: number;
  walkDays: number;
  daemonDays: number;
}

/** Rows removed of each kind. */
export interface Pruned {
  windows: number;
  versions: number;
  walks: number;
  daemons: number;
  slots: number;
}

/** Rows of a statement: it ends within milliseconds, so nobody waits for it. */
const batchSize = 500;
/** Slots count for minutes; what is left of them later are those of budgets that nobody asks any more. */
const slotHours = 24;
/** A version may have been replaced while a document was still being judged by it. */
const judgingHours = 24;

/**
 * Whether this process is to prune now: one a day among all daemons of the database. The day begins with the claim, so that a
 * daemon that is killed while it prunes costs one day's pruning and no more.
 */
export async function claimPruning(db: Db): Promise<boolean> {
  const claimed = await execute(
    db,
    `insert into meta (key, value) values ('pruned_at', clock_timestamp()::text)
     on conflict (key) do update set value = excluded.value
     where meta.value::timestamptz < clock_timestamp() - interval '23 hours 30 minutes'`,
  );
  return claimed > 0;
}

/**
 * Removes what is older than the retention, in small batches: windows, replaced versions of records, walks nobody goes on with,
 * daemons long gone, expired slots. Never a version that an entry was posted from, reversed or not, and nothing of the journal.
 */
export async function prune(db: Db, retention: Retention, signal: AbortSignal): Promise<Pruned> {
  const { windowDays, versionDays, walkDays, daemonDays } = retention;
  const all = (days: number, sql: string) => (days === 0 ? 0 : inBatches(db, sql, days, signal));
  return {
    windows: await all(
      windowDays,
      // The latest of each installation says when it was last synchronised, however long ago.
      `delete from sync_window where id in (
         select w.id from sync_window w
         where w.outcome <> 'open' and w.closed_at < clock_timestamp() - make_interval(days => ?)
           and exists (select 1 from sync_window l
             where l.installation = w.installation and l.id > w.id and (l.outcome = 'closed' or w.outcome = 'failed'))
         order by w.id limit ${batchSize})`,
    ),
    versions: versionDays === 0 ? 0 : await pruneVersions(db, versionDays, signal),
    walks: await all(
      walkDays,
      `delete from sync_walk where ctid in (select ctid from sync_walk
         where saved_at < clock_timestamp() - make_interval(days => ?) limit ${batchSize})`,
    ),
    daemons: await all(
      daemonDays,
      `delete from daemon where id in (select id from daemon
         where heard_at < clock_timestamp() - make_interval(days => ?) limit ${batchSize})`,
    ),
    slots: await inBatches(
      db,
      `delete from budget_slot where id in (select id from budget_slot
         where expires_at < clock_timestamp() - make_interval(hours => ?) limit ${batchSize})`,
      slotHours,
      signal,
    ),
  };
}

async function inBatches(db: Db, sql: string, age: number, signal: AbortSignal): Promise<number> {
  let removed = 0;
  while (!signal.aborted) {
    const batch = await execute(db, sql, [age]);
    removed += batch;
    if (batch < batchSize) break;
  }
  return removed;
}

interface VersionKey {
  installation: number;
  kind: RecordKind;
  id: number;
  version: number;
}

async function pruneVersions(db: Db, days: number, signal: AbortSignal): Promise<number> {
  let removed = 0;
  let after: VersionKey | null = { installation: -1, kind: 'invoice', id: 0, version: 0 };
  while (after !== null && !signal.aborted) {
    const batch = await pruneVersionsAfter(db, after, days);
    removed += batch.removed;
    after = batch.last;
  }
  return removed;
}

/**
 * Looks at the next versions in the order of their key, and removes those that no entry was posted from. An entry was posted
 * from a version if it was written between the replacement of the one before and its own. The entries of an invoice's records
 * are those of the invoice and of its payments, which take their party from it.
 */
async function pruneVersionsAfter(
  db: Db,
  after: VersionKey,
  days: number,
): Promise<{ removed: number; last: VersionKey | null }> {
  const { installation, kind, id, version } = after;
  const keys = [installation, kind, id, version];
  const last = await maybeRow(
    db,
    { installation: integer, kind: oneOf(recordKinds), id: integer, version: integer },
    `select installation, kind, id, version from (
       select v.installation, v.kind, v.id, v.version from mirror_version v
       where (v.installation, v.kind, v.id, v.version) > (?::bigint, ?::text, ?::bigint, ?::int)
       order by v.installation, v.kind, v.id, v.version limit ${batchSize}
     ) page order by installation desc, kind desc, id desc, version desc limit 1`,
    keys,
  );
  if (last === null) return { removed: 0, last };
  const removed = await execute(
    db,
    `delete from mirror_version v
     where (v.installation, v.kind, v.id, v.version) > (?::bigint, ?::text, ?::bigint, ?::int)
       and (v.installation, v.kind, v.id, v.version) <= (?::bigint, ?::text, ?::bigint, ?::int)
       and v.replaced_at < clock_timestamp() - make_interval(days => ?)
       and not exists (
         select 1 from (
           select v.kind as kind, v.id as id where v.kind <> 'row'
           union all
           select 'invoice', r.parent_id from mirror_record r
           where v.kind = 'row' and r.installation = v.installation and r.kind = 'row' and r.id = v.id
           union all
           select 'payment', p.id from mirror_record p
           where v.kind = 'invoice' and p.installation = v.installation and p.kind = 'payment' and p.parent_id = v.id
         ) document
         join entry e on e.installation = v.installation and e.kind = document.kind and e.document_id = document.id
         where e.created_at <= v.replaced_at + interval '${judgingHours} hours'
           and e.created_at >= coalesce((
             select p.replaced_at from mirror_version p
             where p.installation = v.installation and p.kind = v.kind and p.id = v.id and p.version < v.version
             order by p.version desc limit 1), '-infinity')
       )`,
    [...keys, last.installation, last.kind, last.id, last.version, days],
  );
  return { removed, last };
}
