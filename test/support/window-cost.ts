// Measures the cost of a window in a clinic with a long history. The history is created in SQL, and PostgreSQL counts
// the cost.

import { setTimeout as sleep } from 'node:timers/promises';
import { integer, text } from '../../src/db/columns.ts';
import { type Connection, execute, rows } from '../../src/db/rows.ts';

/** PostgreSQL reads small tables without an index; reading one too often shows in the number of blocks. */
const fewRows = 1_000;

/** The tables that grow with the clinic. */
const growing = [
  ...['mirror_record', 'mirror_version', 'document', 'entry', 'entry_line', 'summary_entry', 'summary_line'],
  ...['summary_member', 'summary_waiting', 'write_back', 'sync_window', 'window_unread'],
];

/**
 * Adds a history of this number of invoices, with three rows, 0.8 payments and 0.2 prepayments each, all posted,
 * summarised and written back long ago. The session's role disables triggers and foreign keys, which only a superuser
 * may do. Payments get ids below those of the source, because ids are their cursor.
 */
export async function addHistory(db: Connection, installation: number, invoices: number): Promise<void> {
  const past = `timestamptz '2020-01-01' + make_interval(mins => n::int)`;
  const mirrored = async (kind: string, each: number, id: string, parent: string) => {
    await execute(
      db,
      `insert into mirror_record (installation, kind, id, parent_id, version, modified, source_time, first_seen_at,
         content_hash, raw, needs_rows, rows_fresh_from, rows_source_time)
       select ?, '${kind}', ${id}, ${parent}, 1, ${past}, ${past}, ${past}, 'past', json '{}',
         '${kind}' = 'invoice', case when '${kind}' = 'invoice' then ${past} end, case when '${kind}' = 'invoice' then ${past} end
       from generate_series(1, ?::bigint) n`,
      [installation, Math.floor(invoices * each)],
    );
    if (kind === 'row') return;
    await execute(
      db,
      `insert into document (installation, kind, id, state, dirty, document_date, entry_id, entry_count, input_hash, written_entry_id)
       select installation, kind, id, 'posted', false, modified::date, 'past/' || kind || '/' || id, 1, 'past',
         case when kind = 'prepayment' then 'past/' || kind || '/' || id end
       from mirror_record where installation = ? and kind = '${kind}' and content_hash = 'past'`,
      [installation],
    );
  };
  // Autovacuum is disabled, because its reads would count as the windows' and the time of its statistics would vary.
  for (const table of growing) await execute(db, `alter table ${table} set (autovacuum_enabled = false)`);
  await execute(db, 'set local session_replication_role = replica');
  await mirrored('invoice', 1, '1000000 + n', 'null::bigint');
  await mirrored('row', 3, '1000000 + n', '1000000 + (n + 2) / 3');
  await mirrored('payment', 0.8, '-n', '1000000 + n');
  await mirrored('prepayment', 0.2, '1000000 + n', 'null::bigint');
  await execute(
    db,
    `insert into entry (id, installation, kind, document_id, n, seq, posting_mode, entry_date, document_date, reason,
       description, idempotency_key, input_hash, previous_hash, hash, vat_period, is_late)
     select entry_id, installation, kind, id, 1, -row_number() over (), 'daily_summary', document_date, document_date, 'new', '',
       entry_id, 'past', 'past', 'past', to_char(document_date, 'YYYY-MM'), false
     from document where installation = ? and input_hash = 'past'`,
    [installation],
  );
  await execute(
    db,
    `insert into summary_member (entry_id, summary_id)
     select id, 'past/' || entry_date from entry where installation = ? and hash = 'past'`,
    [installation],
  );
  await execute(
    db,
    `insert into write_back (installation, kind, document_id, unit_id, value_is, value, state, read_back, read_back_at)
     select installation, kind, id, entry_id, 'entry_id', entry_id, 'done', 'shown', now() from document
     where installation = ? and kind = 'prepayment' and input_hash = 'past'`,
    [installation],
  );
  await execute(
    db,
    `insert into sync_window (installation, kind, trigger, outcome, workflow_id, run_id)
     select ?, 'window', 'schedule', 'closed', 'past', 'past ' || n from generate_series(1, ?::bigint / 2) n`,
    [installation, invoices],
  );
  // Records a census, because the source does not have this history.
  await execute(db, 'update installation_state set census_taken_at = clock_timestamp() where installation = ?', [
    installation,
  ]);
}

export interface Cost {
  /** The number of blocks of tables and indexes that were read. */
  buffers: number;
  /** Growing tables of which many rows were read without an index. */
  scanned: string[];
}

/** The cost of the work for PostgreSQL on the growing tables. The work must not use the connection `db`. */
export async function costOf(db: Connection, work: () => Promise<unknown>): Promise<Cost> {
  const before = await counters(db);
  await work();
  const after = await counters(db);
  const grown = (table: string, of: 'scans' | 'scannedRows') =>
    (after.get(table)?.[of] ?? 0) - (before.get(table)?.[of] ?? 0);
  const scanned = growing.filter((table) => grown(table, 'scannedRows') > fewRows * grown(table, 'scans'));
  const sum = (all: Map<string, { buffers: number }>) => [...all.values()].reduce((n, { buffers }) => n + buffers, 0);
  return { buffers: sum(after) - sum(before), scanned };
}

/** Reads the statistics. They are complete only after other connections have ended, so idle ones are closed. */
async function counters(db: Connection): Promise<Map<string, { scans: number; scannedRows: number; buffers: number }>> {
  for (;;) {
    const others = await rows(
      db,
      { pid: integer },
      `select pid from (
         select pid, pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'vetledger' and pid <> pg_backend_pid()) ended`,
    );
    if (others.length === 0) break;
    await sleep(20);
  }
  // A connection reports its statistics at most once a second, so this one's earlier work is flushed first.
  await execute(db, 'select pg_stat_force_next_flush()');
  const found = await rows(
    db,
    { relname: text, scans: integer, scannedRows: integer, buffers: integer },
    `select s.relname::text, s.seq_scan as scans, s.seq_tup_read as "scannedRows",
       coalesce(heap_blks_read + heap_blks_hit, 0) + coalesce(idx_blks_read + idx_blks_hit, 0)
         + coalesce(toast_blks_read + toast_blks_hit, 0) as buffers
     from pg_stat_user_tables s join pg_statio_user_tables using (relid) where s.relname = any(?)`,
    [growing],
  );
  return new Map(found.map(({ relname, ...counted }) => [relname, counted]));
}
