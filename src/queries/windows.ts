import { z } from 'zod';
import { bool, instant, integer, integers, nullable, oneOf, storedJson, text } from '../db/columns.ts';
import { type Binding, type Connection, maybeRow, rows } from '../db/rows.ts';
import { storedError, storedTrouble } from '../db/stored-schemas.ts';
import { joinedTrouble } from '../domain/trouble.ts';
import type { InstallationId, Remark } from '../terms.ts';
import type { PlainError } from '../texts/plain-error.ts';

const windowOutcomes = ['open', 'closed', 'failed'] as const;
export type WindowState = (typeof windowOutcomes)[number];

/** A window, as `windows --json` prints it. */
export interface RecordedWindow {
  id: number;
  installation: InstallationId;
  kind: string;
  trigger: string;
  /**
   * The interval that the window read, by the earlier of the source's and the database's clock. `from` is null for the
   * first window.
   */
  from: Date | null;
  to: Date | null;
  outcome: WindowState;
  error: PlainError | null;
  remarks: Remark[];
  opened_at: Date;
  closed_at: Date | null;
  workflow_id: string;
  /**
   * For a failed window: the later windows that have read and posted what it left out. Null if no window has done so
   * yet, and for other windows.
   */
  covered_by: number[] | null;
  /** The id of the ended window whose workflow was reset in Temporal. This row records the reset, which was refused. */
  reset_of: number | null;
  /**
   * The number of consecutive windows without changes that share this row. The row has their whole interval, and the
   * times of the last of them. Null for a single window.
   */
  idle_windows: number | null;
}

/** The reason why an installation's windows do not close now. */
export interface PresentCause extends PlainError {
  /** Failed windows in a row; for an open window, failed attempts of its steps. */
  attempts: number;
  since: Date;
}

const windowColumns = {
  id: integer,
  installation: integer,
  kind: oneOf(['window', 'backfill', 'replay']),
  trigger: text,
  from_time: nullable(instant),
  to_time: nullable(instant),
  outcome: oneOf(windowOutcomes),
  error: nullable(storedJson('sync_window.error', storedError)),
  remarks: storedJson('sync_window.remarks', z.array(z.object({ code: z.string(), message: z.string() }))),
  opened_at: instant,
  closed_at: nullable(instant),
  workflow_id: text,
  reset_of: nullable(integer),
  idle_windows: nullable(integer),
};

/** Windows of the schedule and of `sync`, without backfills and resets of ended windows. */
const ownWindows = `kind = 'window' and reset_of is null`;

/** Which windows to list. Without a field, all. */
export interface WindowFilter {
  failedOnly?: boolean;
  kind?: RecordedWindow['kind'] | null;
  /** Windows that opened from this time on, and before this one. */
  from?: Date | null;
  to?: Date | null;
  /** Windows of this workflow and its children. */
  workflow?: string | null;
}

/** SQL: window `w` meets the filter. A condition that is not asked for is left out, so that PostgreSQL can search an index. */
function matched(installations: readonly InstallationId[], filter: WindowFilter): { sql: string; bindings: Binding[] } {
  const { failedOnly = false, kind, from, to, workflow } = filter;
  const parts: { sql: string; bindings: Binding[] }[] = [
    installations.length === 1
      ? { sql: 'w.installation = ?', bindings: [...installations] }
      : { sql: 'w.installation = any(?)', bindings: [installations] },
    ...(failedOnly ? [{ sql: `w.outcome = 'failed'`, bindings: [] }] : []),
    ...(kind == null ? [] : [{ sql: 'w.kind = ?', bindings: [kind] }]),
    ...(from == null ? [] : [{ sql: 'w.opened_at >= ?', bindings: [from] }]),
    ...(to == null ? [] : [{ sql: 'w.opened_at < ?', bindings: [to] }]),
    ...(workflow == null
      ? []
      : [{ sql: `(w.workflow_id = ? or starts_with(w.workflow_id, ? || '/'))`, bindings: [workflow, workflow] }]),
  ];
  return { sql: parts.map(({ sql }) => sql).join(' and '), bindings: parts.flatMap(({ bindings }) => bindings) };
}

/**
 * The newest windows of these installations, newest first. `after` is the id of the last window of the previous page. The
 * table keeps windows longer than Temporal does.
 */
export async function recordedWindows(
  db: Connection,
  installations: readonly InstallationId[],
  options: WindowFilter & { limit: number; after?: number | null },
): Promise<RecordedWindow[]> {
  const { after = null, limit } = options;
  const { sql, bindings } = matched(installations, options);
  const found = await rows(
    db,
    { ...windowColumns, covered_by: nullable(integers) },
    `select ${Object.keys(windowColumns).map((column) => `w.${column}`)}, case when u.is_covered then u.covered_by end as covered_by
     from sync_window w left join window_unread u on u.window_id = w.id
     where ${sql} ${after === null ? '' : 'and w.id < ?'} order by w.id desc limit ?`,
    [...bindings, ...(after === null ? [] : [after]), limit],
  );
  return found.map(({ from_time, to_time, error, remarks, covered_by, ...window }) => ({
    ...window,
    ...{ from: from_time, to: to_time, error, remarks, covered_by },
  }));
}

/** The number of windows by outcome. Windows without changes count one by one. */
export async function countWindows(
  db: Connection,
  installation: InstallationId,
  filter: WindowFilter,
): Promise<Record<WindowState, number>> {
  const { sql, bindings } = matched([installation], filter);
  const found = await rows(
    db,
    { outcome: windowColumns.outcome, n: integer },
    `select w.outcome, sum(coalesce(w.idle_windows, 1))::bigint as n from sync_window w where ${sql} group by w.outcome`,
    bindings,
  );
  const counted = { open: 0, closed: 0, failed: 0 };
  for (const { outcome, n } of found) counted[outcome] = n;
  return counted;
}

/** A window on a time line. */
export interface DrawnWindow {
  id: number;
  kind: string;
  outcome: WindowState;
  isCovered: boolean;
  from: Date | null;
  to: Date | null;
  openedAt: Date;
  idleWindows: number | null;
}

/** The newest windows that opened, or whose interval ended, since a time. Oldest first, at most `limit`. */
export async function drawnWindows(
  db: Connection,
  installation: InstallationId,
  since: Date,
  limit: number,
): Promise<DrawnWindow[]> {
  const { id, kind, outcome } = windowColumns;
  const found = await rows(
    db,
    {
      ...{ id, kind, outcome, isCovered: bool, from: nullable(instant), to: nullable(instant) },
      ...{ openedAt: instant, idleWindows: nullable(integer) },
    },
    `select w.id, w.kind, w.outcome, coalesce(u.is_covered, false) as "isCovered", w.from_time as "from", w.to_time as "to",
       w.opened_at as "openedAt", w.idle_windows as "idleWindows"
     from sync_window w left join window_unread u on u.window_id = w.id
     where w.installation = ? and (w.opened_at >= ? or w.to_time >= ?) order by w.id desc limit ?`,
    [installation, since, since, limit],
  );
  return found.reverse();
}

/** The newest window of each installation's schedule or `sync`, in one statement. Backfills do not count. */
export async function newestWindows(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Pick<RecordedWindow, 'installation' | 'outcome' | 'opened_at' | 'error' | 'remarks'>[]> {
  const { installation, outcome, error, remarks, opened_at } = windowColumns;
  return rows(
    db,
    { installation, outcome, opened_at, error, remarks },
    `select i.id as installation, w.outcome, w.opened_at, w.error, w.remarks
     from unnest(?::bigint[]) i(id) cross join lateral (
       select outcome, opened_at, error, remarks from sync_window
       where installation = i.id and ${ownWindows} order by id desc limit 1) w`,
    [installations],
  );
}

/**
 * The error that keeps each installation's windows from closing: the error of the newest window, or of an open window's
 * steps, and since when. Installations whose newest window closed, or is open without an error, are left out.
 */
export async function presentCauses(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, PresentCause>> {
  const { installation, outcome, error } = windowColumns;
  const found = await rows(
    db,
    {
      ...{ installation, outcome, error, attempts: integer, since: nullable(instant) },
      troubles: storedJson('open_step.trouble', z.array(storedTrouble)),
    },
    // A request that fails for the first time is repeated within its attempt, so it does not block the window yet.
    `select i.id as installation, w.outcome, w.error, streak.attempts, streak.since, (
       select coalesce(json_agg(trouble), '[]') from open_step
       where w.outcome = 'open' and run_id = w.run_id and trouble is not null and (is_ended or attempt > 1)) as troubles
     from unnest(?::bigint[]) i(id) cross join lateral (
       select outcome, error, run_id from sync_window
       where installation = i.id and ${ownWindows} order by id desc limit 1) w
     cross join lateral (
       select count(*) as attempts, min(opened_at) as since from sync_window
       where w.outcome = 'failed' and installation = i.id and ${ownWindows} and outcome = 'failed' and id > coalesce((
         select id from sync_window where installation = i.id and ${ownWindows}
           and (outcome = 'closed' or outcome = 'failed' and error->>'code' is distinct from w.error->>'code')
         order by id desc limit 1), 0)) streak
     where w.outcome <> 'closed'`,
    [installations],
  );
  const causes = new Map<InstallationId, PresentCause>();
  for (const { installation: id, attempts, since, troubles, ...window } of found) {
    const trouble = joinedTrouble(troubles);
    if (trouble) causes.set(id, { ...trouble.error, attempts: trouble.times, since: new Date(trouble.since) });
    if (window.error && since) causes.set(id, { ...window.error, attempts, since });
  }
  return causes;
}

/**
 * When the newest window found that the source's clock was put back. Null if no window found this, or if a backfill has
 * read everything since.
 */
export async function clockPutBackAt(db: Connection, installation: InstallationId): Promise<Date | null> {
  const found = await maybeRow(
    db,
    { opened_at: windowColumns.opened_at },
    `select opened_at from sync_window w
     where installation = ? and exists (select from json_array_elements(remarks) r where r->>'code' = 'clock_put_back')
       and not exists (select from sync_window b where b.installation = w.installation and b.kind = 'backfill'
         and b.outcome = 'closed' and b.opened_at > w.opened_at)
     order by id desc limit 1`,
    [installation],
  );
  return found?.opened_at ?? null;
}

/** Whether a window, or a repost, holds the installation's live lane. */
export async function windowUnderWay(db: Connection, installation: InstallationId): Promise<boolean> {
  const lease = await maybeRow(
    db,
    { held: bool },
    `select expires_at > clock_timestamp() as held from lease where installation = ? and lane = 'live'`,
    [installation],
  );
  return lease?.held ?? false;
}
