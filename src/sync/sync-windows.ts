import { instant, integer, nullable, text } from '../db/columns.ts';
import { type Connection, execute, maybeRow, row, rows } from '../db/rows.ts';
import type { PlainError } from '../domain/errors.ts';
import type { SavedReadAt } from '../domain/read-at.ts';
import type { Remark } from '../terms.ts';

/** A window under way; its row in `sync_window` is kept longer than Temporal keeps its history. */
export interface OpenWindow {
  id: number;
  /** Fencing token of the lane's lease; null for a backfill that a release without leases for backfills opened. */
  token: number | null;
  /** From when and up to when the window reads changes, by the earlier of the source's and the database's clock; `from` is null for a first load and a backfill. */
  from: string | null;
  to: string;
  /** When the answer that opened the window was read; a window opened by an earlier version has none. */
  opened?: SavedReadAt;
  /** What the window's first answer shows of the source's clock. */
  remarks?: Remark[];
}

export type WindowKind = 'window' | 'backfill';

/** Inserts a window's row. Idempotent: one workflow run has one row, however often its activity is tried. */
export async function openWindowRow(
  db: Connection,
  opened: {
    installation: number;
    kind: WindowKind;
    trigger: string;
    from: string | null;
    to: string;
    remarks?: Remark[];
    workflowId: string;
    runId: string;
  },
): Promise<{ id: number; from: string | null; to: string }> {
  const { installation, kind, trigger, from, to, remarks = [], workflowId, runId } = opened;
  const { id, from_time, to_time } = await row(
    db,
    { id: integer, from_time: nullable(instant), to_time: instant },
    `insert into sync_window (installation, kind, trigger, from_time, to_time, remarks, workflow_id, run_id)
     values (?, ?, ?, ?, ?, ?::json, ?, ?)
     on conflict (workflow_id, run_id) do update set trigger = sync_window.trigger
     returning id, from_time, to_time`,
    [installation, kind, trigger, from, to, JSON.stringify(remarks), workflowId, runId],
  );
  return { id, from: from_time?.toISOString() ?? null, to: to_time.toISOString() };
}

/** When a window's row was made; null where there is no such window. */
export async function windowOpenedAt(db: Connection, id: number): Promise<Date | null> {
  const found = await maybeRow(db, { opened_at: instant }, 'select opened_at from sync_window where id = ?', [id]);
  return found?.opened_at ?? null;
}

export async function closeWindowRow(
  db: Connection,
  id: number,
  outcome: 'closed' | 'failed',
  counts: unknown,
  error: PlainError | null,
): Promise<void> {
  await execute(
    db,
    'update sync_window set outcome = ?, counts = ?::json, error = ?::json, closed_at = clock_timestamp() where id = ?',
    [outcome, JSON.stringify(counts), error === null ? null : JSON.stringify(error), id],
  );
}

/**
 * Marks windows or backfills that never recorded how they ended as failed: their workflow was terminated, or its server was
 * lost. Whoever holds the lane's lease knows that they are over. A window that resumes after all records its own end over this.
 */
export async function failAbandonedWindows(
  db: Connection,
  installation: number,
  { kind, exceptRun, error }: { kind: WindowKind; exceptRun: string; error: PlainError },
): Promise<void> {
  await execute(
    db,
    `update sync_window set outcome = 'failed', error = ?::json, closed_at = clock_timestamp()
     where installation = ? and kind = ? and outcome = 'open' and run_id <> ?`,
    [JSON.stringify(error), installation, kind, exceptRun],
  );
}

/** The backfills of an installation that are open, other than this run. */
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
