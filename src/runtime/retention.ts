import { pruneSteps } from '../db/open-steps.ts';
import type { Db } from '../db/pool.ts';
import { execute } from '../db/rows.ts';
import { pruneVersions } from '../mirror/versions.ts';
import { pruneSlots } from '../practice/budget-store.ts';
import { pruneWalks } from '../sync/saved-walks.ts';
import { pruneWindows } from '../sync/sync-windows.ts';
import { pruneDaemons } from './presence.ts';

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
  steps: number;
}

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
 * daemons long gone, expired slots, steps of runs that are over. Never a version that an entry was posted from, reversed or not, and nothing of the journal.
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
  };
}
