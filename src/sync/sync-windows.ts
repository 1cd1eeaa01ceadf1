import { instant, integer, nullable, oneOf, storedJson, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { pruneBatch, pruneInBatches } from '../db/prune.ts';
import { type Binding, type Connection, execute, maybeRow, row, rows } from '../db/rows.ts';
import { storedError, storedUse } from '../db/stored-schemas.ts';
import type { ApiUse } from '../domain/api-use.ts';
import type { SavedReadAt } from '../domain/read-at.ts';
import { type Remark, recordKinds } from '../terms.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { readCursors } from './cursors.ts';
import { noteEnded } from './replay/coverage.ts';
import { endedWindow, openingSpans, spanBindings, spanColumns } from './replay/noted-windows.ts';
import type { StreamBounds } from './replay/spans.ts';

/** A window under way. Its row in `sync_window` is kept longer than Temporal's history. */
export interface OpenWindow {
  id: number;
  /** Fencing token of the lane's lease. */
  token: number;
  /**
   * The window reads changes from `from` to `to`, by the earlier of the source's and the database's clock. `from` is
   * null for a first load and a backfill.
   */
  from: string | null;
  to: string;
  /** The time of the answer that opened the window. */
  opened: SavedReadAt;
  /** Remarks about the source's clock, from the window's first answer. */
  remarks: Remark[];
  /**
   * Settings of the installation in the process that opened the window. The processes of its steps must have the same.
   */
  identity: { currency: string; timezone: string; source: string };
}

const useColumn = storedJson('sync_window.counts', storedUse);
const errorColumn = nullable(storedJson('sync_window.error', storedError));

export type WindowKind = 'window' | 'backfill' | 'replay';

/**
 * Inserts a window's row. It is idempotent: one workflow run has one row, even after several attempts. Null if the row
 * has ended, because another window found it without a lease and ended it.
 */
export async function openWindowRow(
  db: Connection,
  opened: {
    installation: number;
    kind: WindowKind;
    trigger: string;
    from: string | null;
    to: string;
    remarks?: Remark[];
    /** The time of the first answer. Default: now. */
    openedAt?: Date;
    /** The parts of the streams that the window will read. Null if it reads nothing from the source. */
    spans: StreamBounds | null;
    workflowId: string;
    runId: string;
  },
): Promise<{ id: number; trigger: string; from: string | null; to: string } | null> {
  const { installation, kind, trigger, from, to, remarks = [], openedAt, spans, workflowId, runId } = opened;
  const found = await maybeRow(
    db,
    { id: integer, trigger: text, ...intervalShape },
    `insert into sync_window (installation, kind, trigger, from_time, to_time, remarks, opened_at, workflow_id, run_id, ${noted.columns})
     values (?, ?, ?, ?, ?, ?::json, least(?, clock_timestamp()), ?, ?, ${noted.values})
     on conflict (run_id) do update set trigger = sync_window.trigger where sync_window.outcome = 'open'
     returning id, trigger, from_time, to_time`,
    [
      ...[installation, kind, trigger, from, to, JSON.stringify(remarks), openedAt ?? null, workflowId, runId],
      ...[
        ...spanBindings(spans, { from: from === null ? null : Date.parse(from), to: Date.parse(to) }),
        spans === null ? [] : recordKinds,
      ],
    ],
  );
  if (found === null) return null;
  return { id: found.id, trigger: found.trigger, ...intervalOf(found) };
}

const noted = {
  columns: [...spanColumns, 'unread_streams'].join(', '),
  values: [...spanColumns.map(() => '?::bigint[]'), '?::text[]'].join(', '),
};

/** When a window's row was made. Null if there is no such window. */
export async function windowOpenedAt(db: Connection, id: number): Promise<Date | null> {
  const found = await maybeRow(db, { opened_at: instant }, 'select opened_at from sync_window where id = ?', [id]);
  return found?.opened_at ?? null;
}

/** The end of a window. */
export interface WindowEnd {
  outcome: 'closed' | 'failed';
  counts: { api: ApiUse };
  error: PlainError | null;
}

/** The end of a window, as its row has it. */
export interface WindowEnded {
  outcome: 'closed' | 'failed';
  api: ApiUse;
  error: PlainError | null;
}

/**
 * Stores the end of a window for a run of its workflow. A run that a reset has made continues with the open row.
 * Returns the row's end: the given one, or an earlier one, which is kept. Null if the window belongs to another
 * workflow, or another run has ended it.
 */
export async function endWindowRow(
  db: Connection,
  { id, workflowId, runId }: { id: number; workflowId: string; runId: string },
  { outcome, counts, error }: WindowEnd,
): Promise<WindowEnded | null> {
  const window = await endedWindow(db, id, outcome);
  if (window !== null) {
    const ended = await execute(
      db,
      `update sync_window set outcome = ?, counts = ?::json, error = ?::json, closed_at = clock_timestamp(), run_id = ?,
         (${noted.columns}) = row(${noted.values})
       where id = ? and workflow_id = ? and outcome = 'open'`,
      [
        ...[outcome, JSON.stringify(counts), jsonOf(error), runId, ...spanBindings(window.spans, window.own)],
        ...[window.unread, id, workflowId],
      ],
    );
    if (ended > 0) {
      await noteEnded(db, window);
      return { outcome, api: counts.api, error };
    }
  }
  const found = await maybeRow(
    db,
    { id: integer, outcome: oneOf(['closed', 'failed']), api: useColumn, error: errorColumn },
    `select id, outcome, counts->'api' as api, error from sync_window where id = ? and workflow_id = ? and run_id = ?`,
    [id, workflowId, runId],
  );
  return found && { outcome: found.outcome, api: found.api, error: found.error };
}

/**
 * Inserts a failed window: an attempt that opened no window, or a reset of an ended window. Its row has the reason. One
 * run has one row.
 */
export async function insertFailedWindow(
  db: Connection,
  failed: {
    installation: number;
    kind: WindowKind;
    trigger: string;
    counts: { api: ApiUse };
    error: PlainError;
    workflowId: string;
    runId: string;
    beganAt: Date;
    resetOf?: number;
  },
): Promise<number> {
  const { installation, kind, trigger, counts, error, workflowId, runId, beganAt, resetOf = null } = failed;
  // Like an open window, a live window reads from the present cursors.
  const spans = kind === 'window' ? openingSpans(await readCursors(db, installation), null, beganAt) : null;
  const unread = spans === null ? [] : [...recordKinds];
  const own = { from: null, to: null };
  const { id } = await row(
    db,
    { id: integer },
    `with made as (
       insert into sync_window
         (installation, kind, trigger, outcome, counts, error, workflow_id, run_id, opened_at, closed_at, reset_of,
          ${noted.columns})
       values (?, ?, ?, 'failed', ?::json, ?::json, ?, ?, least(?, clock_timestamp()), clock_timestamp(), ?, ${noted.values})
       on conflict (run_id) do nothing returning id
     )
     select id from made union all select id from sync_window where workflow_id = ? and run_id = ?`,
    [
      ...[installation, kind, trigger, JSON.stringify(counts), jsonOf(error), workflowId, runId, beganAt, resetOf],
      ...[...spanBindings(spans, own), unread, workflowId, runId],
    ],
  );
  await noteEnded(db, { id, installation, kind, outcome: 'failed', openedAt: beganAt, own, spans, unread });
  return id;
}

/** A window whose end was never stored. */
export interface AbandonedWindow {
  id: number;
  installation: number;
  kind: WindowKind;
  workflowId: string;
  runId: string;
  from: string | null;
  to: string;
}

/**
 * The open windows of one kind of an installation, without those of this run. The caller holds the lane's lease, so
 * they are over: their workflow was ended from outside, or its server was lost.
 */
export function abandonedWindows(
  db: Connection,
  installation: number,
  { kind, exceptRun }: { kind: WindowKind; exceptRun: string },
): Promise<AbandonedWindow[]> {
  return openWindows(db, 'installation = ? and kind = ? and run_id <> ?', [installation, kind, exceptRun]);
}

/**
 * The open windows of all installations without a valid lease. No process works on them now, and their run may have
 * ended.
 */
export function unheldWindows(db: Connection): Promise<AbandonedWindow[]> {
  return openWindows(
    db,
    `not exists (select from lease where lease.installation = sync_window.installation
       and lease.holder = workflow_id || '/' || run_id and expires_at > clock_timestamp())`,
    [],
  );
}

async function openWindows(db: Connection, which: string, parameters: readonly Binding[]): Promise<AbandonedWindow[]> {
  const found = await rows(
    db,
    {
      ...{ id: integer, installation: integer, kind: oneOf(['window', 'backfill', 'replay']) },
      ...{ workflow_id: text, run_id: text, ...intervalShape },
    },
    `select id, installation, kind, workflow_id, run_id, from_time, to_time from sync_window
     where outcome = 'open' and ${which} order by id`,
    parameters,
  );
  return found.map(({ workflow_id, run_id, from_time, to_time, ...window }) => ({
    ...window,
    ...{ workflowId: workflow_id, runId: run_id, ...intervalOf({ from_time, to_time }) },
  }));
}

const intervalShape = { from_time: nullable(instant), to_time: instant };

function intervalOf({ from_time, to_time }: { from_time: Date | null; to_time: Date }) {
  return { from: from_time?.toISOString() ?? null, to: to_time.toISOString() };
}

function jsonOf(error: PlainError | null): string | null {
  return error === null ? null : JSON.stringify(error);
}

/** The open backfills of an installation, without this run. */
export function openBackfills(
  db: Connection,
  installation: number,
  { exceptRun }: { exceptRun: string },
): Promise<{ id: number; workflowId: string; runId: string }[]> {
  return rows(
    db,
    { id: integer, workflowId: text, runId: text },
    `select id, workflow_id as "workflowId", run_id as "runId" from sync_window
     where installation = ? and kind = 'backfill' and outcome = 'open' and run_id <> ?`,
    [installation, exceptRun],
  );
}

/** The open window of a workflow's run. Null if it has none. */
export async function openWindowOfRun(
  db: Connection,
  { workflowId, runId }: { workflowId: string; runId: string },
): Promise<{ id: number; from: string | null; to: string } | null> {
  const found = await maybeRow(
    db,
    { id: integer, ...intervalShape },
    `select id, from_time, to_time from sync_window where workflow_id = ? and run_id = ? and outcome = 'open'`,
    [workflowId, runId],
  );
  return found && { id: found.id, ...intervalOf(found) };
}

/** The workflows of an installation's open windows of every kind. */
export function openWorkflows(
  db: Connection,
  installation: number,
): Promise<{ kind: string; workflowId: string; runId: string }[]> {
  return rows(
    db,
    { kind: text, workflowId: text, runId: text },
    `select kind, workflow_id as "workflowId", run_id as "runId" from sync_window
     where installation = ? and outcome = 'open' order by id`,
    [installation],
  );
}

/** Removes windows that ended more than this number of days ago. Returns the number of removed windows. */
export function pruneWindows(db: Db, days: number, signal: AbortSignal): Promise<number> {
  return pruneInBatches(
    db,
    // The latest window of each installation is kept, because it shows when the installation was last synchronised.
    `delete from sync_window where id in (
       select w.id from sync_window w
       where w.outcome <> 'open' and w.closed_at < clock_timestamp() - make_interval(days => ?)
         and exists (select 1 from sync_window l
           where l.installation = w.installation and l.id > w.id and (l.outcome = 'closed' or w.outcome = 'failed'))
       order by w.id limit ${pruneBatch})`,
    days,
    signal,
  );
}
