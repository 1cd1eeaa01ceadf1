import { pruneSteps } from '../db/open-steps.ts';
import type { Db } from '../db/pool.ts';
import { execute } from '../db/rows.ts';
import { pruneMails } from '../mail/outbox.ts';
import { pruneVersions } from '../mirror/versions.ts';
import { pruneSlots } from '../practice/budget-store.ts';
import { pruneWalks } from '../sync/saved-walks.ts';
import { pruneWindows } from '../sync/sync-windows.ts';
import { pruneDaemons } from './presence.ts';

/** Retention in days; 0 keeps everything. */
export interface Retention {
  windowDays: number;
  versionDays: number;
  walkDays: number;
  daemonDays: number;
}

/** Number of removed rows of each kind. */
export interface Pruned {
  windows: number;
  versions: number;
  walks: number;
  daemons: number;
  slots: number;
  steps: number;
  mails: number;
}

/**
 * Whether this process must prune now: only one daemon of the database does, once a day. The day starts with this call,
 * so a daemon that is killed while it prunes skips at most one day.
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

/** Stores the size of the database of this day. */
export async function noteSize(db: Db): Promise<void> {
  await execute(
    db,
    `insert into database_size (day, bytes) values ((clock_timestamp() at time zone 'utc')::date, pg_database_size(current_database()))
     on conflict (day) do update set bytes = excluded.bytes`,
  );
}

/**
 * Removes rows older than the retention in small batches: windows, replaced versions of records, abandoned walks, ended
 * daemons, expired slots, steps of ended runs, and mails. It never removes a version that an entry was posted from, nor any
 * part of the journal.
 */
export async function prune(db: Db, retention: Retention, signal: AbortSignal): Promise<Pruned> {
  const { windowDays, versionDays, walkDays, daemonDays } = retention;
  return {
    windows: windowDays === 0 ? 0 : await pruneWindows(db, windowDays, signal),
    versions: versionDays === 0 ? 0 : await pruneVersions(db, versionDays, signal),
    walks: walkDays === 0 ? 0 : await pruneWalks(db, walkDays, signal),
    daemons: daemonDays === 0 ? 0 : await pruneDaemons(db, daemonDays, signal),
    slots: await pruneSlots(db, signal),
    steps: await pruneSteps(db, signal),
    mails: await pruneMails(db, signal),
  };
}
