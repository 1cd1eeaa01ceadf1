import { instant, integer, nullable } from '../db/columns.ts';
import { type Connection, execute, row } from '../db/rows.ts';

/** A window under way; its row in `sync_window` is kept longer than Temporal keeps its history. */
export interface OpenWindow {
  id: number;
  /** Fencing token of the installation's lease; null for a backfill, which runs beside windows. */
  token: number | null;
  /** Source time from which and up to which the window reads changes; `from` is null for a first load and a backfill. */
  from: string | null;
  to: string;
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
    workflowId: string;
    runId: string;
  },
): Promise<{ id: number; from: string | null; to: string }> {
  const { installation, kind, trigger, from, to, workflowId, runId } = opened;
  const { id, from_time, to_time } = await row(
    db,
    { id: integer, from_time: nullable(instant), to_time: instant },
    `insert into sync_window (installation, kind, trigger, from_time, to_time, workflow_id, run_id)
     values (?, ?, ?, ?, ?, ?, ?)
     on conflict (workflow_id, run_id) do update set trigger = sync_window.trigger
     returning id, from_time, to_time`,
    [installation, kind, trigger, from, to, workflowId, runId],
  );
  return { id, from: from_time?.toISOString() ?? null, to: to_time.toISOString() };
}

export async function closeWindowRow(
  db: Connection,
  id: number,
  outcome: 'closed' | 'failed',
  counts: unknown,
  error: unknown,
): Promise<void> {
  await execute(
    db,
    'update sync_window set outcome = ?, counts = ?::json, error = ?::json, closed_at = clock_timestamp() where id = ?',
    [outcome, JSON.stringify(counts), error === null ? null : JSON.stringify(error), id],
  );
}
