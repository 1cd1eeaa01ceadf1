import { z } from 'zod';
import { instant, integer, storedJson, text } from '../db/columns.ts';
import { type Connection, execute, maybeRow, row } from '../db/rows.ts';
import type { ApiUse } from '../domain/api-use.ts';
import { type InstallationId, recordKinds } from '../terms.ts';
import { noteEnded } from './replay/coverage.ts';
import { eachStream, selectedSpans, spanBindings, spanColumns, spanShape, spansOf } from './replay/noted-windows.ts';
import type { Bounds, StreamBounds } from './replay/spans.ts';

/**
 * Windows that found nothing (column `idle_windows` of `sync_window`). Nearly all windows are idle, 105,000 a year for
 * each installation. Consecutive ones have no gap between them, so they share one row. It has their whole interval,
 * which a replay reads, and their total cost. Its times and its workflow are those of the last one.
 */

/** An idle window at its end. */
export interface IdleWindow {
  installation: InstallationId;
  trigger: string;
  from: Date;
  to: Date;
  openedAt: Date;
  counts: IdleCounts;
  /** The part of each stream that it has read. */
  spans: StreamBounds;
  workflowId: string;
  runId: string;
}

/** `seen` counts records that were received again within the overlap. */
interface IdleCounts {
  seen: object;
  api: ApiUse;
}

/** Null if the stored counts are damaged. The row is then not changed. */
const figures = z.record(z.string(), z.number());
const storedCounts = z.object({ seen: figures, api: figures }).nullable().catch(null);

/**
 * Stores an idle window at its end, under the lease of its lane. It is added to the installation's newest row if that
 * row has idle windows of the same trigger and ends where this one begins. Otherwise a new row is made. Returns the
 * row's id.
 */
export async function noteIdleWindow(trx: Connection, window: IdleWindow): Promise<number> {
  const { installation, from, to, openedAt, spans } = window;
  const id = (await joinNewest(trx, window)) ?? (await insertIdle(trx, window));
  const ended = { id, installation, openedAt, own: interval(from, to), spans, unread: [] };
  await noteEnded(trx, { ...ended, kind: 'window', outcome: 'closed' });
  return id;
}

async function joinNewest(trx: Connection, window: IdleWindow): Promise<number | null> {
  const { installation, trigger, to, openedAt, workflowId } = window;
  const newest = await maybeRow(
    trx,
    { id: integer, from_time: instant, counts: storedJson('sync_window.counts', storedCounts), ...spanShape },
    `select id, from_time, counts, ${selectedSpans} from sync_window
     where id = (select max(id) from sync_window where installation = ?) and idle_windows is not null and trigger = ?`,
    [installation, trigger],
  );
  if (newest === null || newest.counts === null) return null;
  const before = spansOf(newest);
  if (recordKinds.some((stream) => before[stream].to !== window.spans[stream].from)) return null;
  const spans = eachStream((stream) => ({ from: before[stream].from, to: window.spans[stream].to }));
  const counts = {
    ...window.counts,
    seen: sums(newest.counts.seen, window.counts.seen),
    api: sums(newest.counts.api, window.counts.api),
  };
  await execute(
    trx,
    `update sync_window set idle_windows = idle_windows + 1, to_time = ?, opened_at = least(?, clock_timestamp()),
       closed_at = clock_timestamp(), workflow_id = ?, counts = ?::json, (${spanColumns.join(', ')}) = row(${spanValues})
     where id = ?`,
    [
      ...[to, openedAt, workflowId, JSON.stringify(counts)],
      ...[...spanBindings(spans, interval(newest.from_time, to)), newest.id],
    ],
  );
  return newest.id;
}

async function insertIdle(trx: Connection, window: IdleWindow): Promise<number> {
  const { installation, trigger, from, to, openedAt, workflowId, runId, counts, spans } = window;
  const { id } = await row(
    trx,
    { id: integer },
    `insert into sync_window (installation, kind, trigger, outcome, idle_windows, from_time, to_time, opened_at, closed_at,
       workflow_id, run_id, counts, ${spanColumns.join(', ')})
     values (?, 'window', ?, 'closed', 1, ?, ?, least(?, clock_timestamp()), clock_timestamp(), ?, ?, ?::json, ${spanValues})
     returning id`,
    [
      ...[installation, trigger, from, to, openedAt, workflowId, runId, JSON.stringify(counts)],
      ...spanBindings(spans, interval(from, to)),
    ],
  );
  return id;
}

/** The idle window's row that an earlier attempt of this run has made. Null if there is none. */
export async function idleWindowOfRun(
  db: Connection,
  runId: string,
): Promise<{ id: number; trigger: string; from: string; to: string } | null> {
  const found = await maybeRow(
    db,
    { id: integer, trigger: text, from: instant, to: instant },
    `select id, trigger, from_time as "from", to_time as "to" from sync_window where run_id = ? and idle_windows is not null`,
    [runId],
  );
  return found && { ...found, from: found.from.toISOString(), to: found.to.toISOString() };
}

const spanValues = spanColumns.map(() => '?::bigint[]').join(', ');

function interval(from: Date, to: Date): Bounds {
  return { from: from.getTime(), to: to.getTime() };
}

/** The sums of two sets of figures, rounded to thousandths. */
function sums(first: Record<string, number>, second: object): Record<string, number> {
  const added = Object.entries(second).map(([name, n]) => [name, Math.round((n + (first[name] ?? 0)) * 1000) / 1000]);
  return Object.fromEntries(added);
}
