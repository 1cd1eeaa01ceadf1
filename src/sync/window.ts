import type { Knex } from 'knex';
import type { Db } from '../db/pool.ts';

/** A window's own row (table sync_window): the truth that outlives Temporal's retention. */
export interface OpenWindow {
  id: number;
  /** Fencing token of the installation's lease; null for a backfill, which runs beside windows. */
  token: number | null;
  from: string | null;
  to: string;
}

export type WindowKind = 'window' | 'backfill';

export type StreamCursors = Record<
  'invoice' | 'prepayment' | 'payment' | 'row',
  { value: CursorValue | null; revision: number }
>;

/** `watermark` is source time (invoices, prepayments, rows); `after` an id (payments). */
export interface CursorValue {
  watermark?: string;
  after?: number | null;
}

/** The installation's cursors as they stand when a window opens. */
export async function readCursors(db: Db, installation: number): Promise<StreamCursors> {
  const found = await db.raw<{ rows: { stream: keyof StreamCursors; value: string; revision: number }[] }>(
    `select stream, value, revision from sync_cursor where installation = ?`,
    [installation],
  );
  const none = { value: null, revision: 0 };
  const cursors: StreamCursors = { invoice: none, prepayment: none, payment: none, row: none };
  for (const row of found.rows) {
    cursors[row.stream] = { value: JSON.parse(row.value) as CursorValue, revision: row.revision };
  }
  return cursors;
}

/** Moves a cursor by compare-and-set from the revision read at opening; false when another window moved it meanwhile. */
export async function moveCursor(
  db: Db | Knex.Transaction,
  installation: number,
  stream: keyof StreamCursors,
  value: CursorValue,
  revision: number,
): Promise<boolean> {
  const moved =
    revision === 0
      ? await db.raw<{ rows: unknown[] }>(
          `insert into sync_cursor (installation, stream, value) values (?, ?, ?::json)
           on conflict do nothing returning 1`,
          [installation, stream, JSON.stringify(value)],
        )
      : await db.raw<{ rows: unknown[] }>(
          `update sync_cursor set value = ?::json, revision = revision + 1, moved_at = clock_timestamp()
           where installation = ? and stream = ? and revision = ? returning 1`,
          [JSON.stringify(value), installation, stream, revision],
        );
  return moved.rows.length > 0;
}

/**
 * Takes the installation's lease, or renews it for the same holder; null while another holder's is in force. The token
 * grows with each new holder, so that a writer whose lease was lost can be told apart.
 */
export async function takeLease(db: Db, installation: number, holder: string, seconds: number): Promise<number | null> {
  const taken = await db.raw<{ rows: { token: number }[] }>(
    `insert into lease as l (installation, token, holder, expires_at)
     values (?, 1, ?, clock_timestamp() + make_interval(secs => ?))
     on conflict (installation) do update set
       token = case when l.holder = excluded.holder then l.token else l.token + 1 end,
       holder = excluded.holder, expires_at = excluded.expires_at
     where l.holder = excluded.holder or l.expires_at < clock_timestamp()
     returning token`,
    [installation, holder, seconds],
  );
  return taken.rows[0]?.token ?? null;
}

/** Keeps a lease alive; false when it was lost to another holder. */
export async function renewLease(db: Db, installation: number, token: number, seconds: number): Promise<boolean> {
  const renewed = await db.raw<{ rows: unknown[] }>(
    `update lease set expires_at = clock_timestamp() + make_interval(secs => ?)
     where installation = ? and token = ? returning 1`,
    [seconds, installation, token],
  );
  return renewed.rows.length > 0;
}

export async function releaseLease(db: Db | Knex.Transaction, installation: number, token: number): Promise<void> {
  // The token moves on, so that a late renewal cannot bring the lease back.
  await db.raw(
    `update lease set expires_at = clock_timestamp(), token = token + 1 where installation = ? and token = ?`,
    [installation, token],
  );
}

/** Writes the window's row; the same run opens it once, however often its activity is tried. */
export async function openWindowRow(
  db: Db,
  row: {
    installation: number;
    kind: WindowKind;
    trigger: string;
    from: string | null;
    to: string;
    workflowId: string;
    runId: string;
  },
): Promise<{ id: number; from: string | null; to: string }> {
  const opened = await db.raw<{ rows: { id: number; from_time: Date | null; to_time: Date }[] }>(
    `insert into sync_window (installation, kind, trigger, from_time, to_time, workflow_id, run_id)
     values (?, ?, ?, ?, ?, ?, ?)
     on conflict (workflow_id, run_id) do update set trigger = sync_window.trigger
     returning id, from_time, to_time`,
    [row.installation, row.kind, row.trigger, row.from, row.to, row.workflowId, row.runId],
  );
  const { id, from_time, to_time } = opened.rows[0]!;
  return { id, from: from_time?.toISOString() ?? null, to: to_time.toISOString() };
}

export async function closeWindowRow(
  db: Db | Knex.Transaction,
  id: number,
  outcome: 'closed' | 'failed',
  counts: unknown,
  error: unknown,
): Promise<void> {
  await db.raw(
    `update sync_window set outcome = ?, counts = ?::json, error = ?::json, closed_at = clock_timestamp() where id = ?`,
    [outcome, JSON.stringify(counts), error === null ? null : JSON.stringify(error), id],
  );
}
