import { insertRows } from '../../db/bulk.ts';
import { date, integer, nullable, text } from '../../db/columns.ts';
import type { Transact } from '../../db/lease.ts';
import { type Connection, execute, maybeRow, rows } from '../../db/rows.ts';
import type { LedgerEntry } from '../../domain/entry.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { chainStart } from '../journal/entry-hash.ts';
import { type EntryRow, entryColumns, entryShape } from '../journal/entry-rows.ts';
import { loadEntries, withLines } from '../journal/read-entries.ts';
import { type DailySummary, summarise, summaryId } from './summary.ts';
import { summaryHash } from './summary-hash.ts';
import {
  memberInsertTypes,
  summaryInsertTypes,
  summaryLineInsertTypes,
  summaryLineRow,
  summaryRow,
} from './summary-rows.ts';

/** Limit of entries per transaction. A day is never split, so a large day may exceed it. */
const entriesPerBatch = 2_000;

export interface SummariseOptions {
  /** Only days before this one get summaries. */
  before: CalendarDate;
  /** The window that makes the summaries; null outside a window. */
  windowId: number | null;
  entriesPerBatch?: number;
}

/**
 * Makes the summaries of all past days, one transaction per batch of days. Returns their number; calls `onBatch` with
 * the number so far.
 */
export async function summariseDays(
  transact: Transact,
  installation: InstallationId,
  options: SummariseOptions,
  onBatch: (summaries: number) => void = () => undefined,
): Promise<number> {
  for (let summaries = 0; ; ) {
    const appended = await transact((trx) => summariseBatch(trx, installation, options));
    if (appended.length === 0) return summaries;
    summaries += appended.length;
    onBatch(summaries);
  }
}

/**
 * Makes the summaries of the oldest past days with waiting entries, within the caller's transaction. A day that already
 * has summaries gets supplementary ones. Returns the new summaries; empty if nothing is left. A concurrent caller waits
 * for the lock and then finds these days done. The number of SQL statements does not depend on the number of entries.
 */
export async function summariseBatch(
  trx: Connection,
  installation: InstallationId,
  options: SummariseOptions,
): Promise<DailySummary[]> {
  await holdSummaries(trx, installation);
  const waiting = await waitingEntries(trx, installation, options);
  if (waiting.length === 0) return [];
  return append(trx, installation, await withLines(trx, waiting), options.windowId);
}

/**
 * Makes separate summaries of these entries, which have none yet, even for days that are not over. Returns them in the
 * order of their days.
 */
export async function summariseEntries(
  trx: Connection,
  installation: InstallationId,
  entryIds: string[],
): Promise<DailySummary[]> {
  if (entryIds.length === 0) return [];
  await holdSummaries(trx, installation);
  return append(trx, installation, await loadEntries(trx, entryIds), null);
}

async function holdSummaries(trx: Connection, installation: InstallationId): Promise<void> {
  await execute(trx, `select pg_advisory_xact_lock(hashtextextended('vetledger summaries ' || ?::bigint, 0))`, [
    installation,
  ]);
}

async function append(
  trx: Connection,
  installation: InstallationId,
  entries: LedgerEntry[],
  windowId: number | null,
): Promise<DailySummary[]> {
  const drafts = summarise(entries);
  const numbers = await lastNumbers(trx, installation, [...new Set(drafts.map((draft) => draft.date))]);
  const head = await chainHead(trx, installation);
  const summaries: DailySummary[] = [];
  for (const draft of drafts) {
    const previous = summaries.at(-1) ?? head;
    const day = dayKey(draft.date, draft.departmentId);
    const n = (numbers.get(day) ?? 0) + 1;
    numbers.set(day, n);
    const id = summaryId(installation, draft, n);
    const summary = { ...draft, id, installation, n, seq: previous.seq + 1, previousHash: previous.hash };
    summaries.push({ ...summary, hash: summaryHash(previous.hash, summary) });
  }
  await insert(trx, summaries, windowId);
  return summaries;
}

/** Reads the table `summary_waiting`, which triggers update with each entry and member. */
async function waitingEntries(
  trx: Connection,
  installation: InstallationId,
  options: SummariseOptions,
): Promise<EntryRow[]> {
  const waiting = await rows(
    trx,
    { id: text },
    `with waiting as (
       select entry_date as day, count(*) as n from summary_waiting
       where installation = ? and entry_date < ?::date group by entry_date),
     days as (select day, sum(n) over (order by day) - n as entries_before from waiting)
     select entry_id as id from summary_waiting
     where installation = ? and entry_date in (select day from days where entries_before < ?)`,
    [installation, options.before, installation, options.entriesPerBatch ?? entriesPerBatch],
  );
  if (waiting.length === 0) return [];
  // A separate statement, because a join might read the whole journal for a few entries.
  const ids = waiting.map(({ id }) => id);
  return rows(trx, entryShape, `select ${entryColumns} from entry where id = any(?) order by seq`, [ids]);
}

/** Whether a day before this one has entries that require a summary and have none yet. */
export async function areDaysWaiting(
  db: Connection,
  installation: InstallationId,
  before: CalendarDate,
): Promise<boolean> {
  const sql = 'select from summary_waiting where installation = ? and entry_date < ?::date limit 1';
  return (await rows(db, {}, sql, [installation, before])).length > 0;
}

function dayKey(day: CalendarDate, departmentId: number | null): string {
  return `${day}-${departmentId}`;
}

/** The number of the last summary of each of these days and departments. */
async function lastNumbers(
  trx: Connection,
  installation: InstallationId,
  days: CalendarDate[],
): Promise<Map<string, number>> {
  const found = await rows(
    trx,
    { day: date, department_id: nullable(integer), n: integer },
    `select summary_date as day, department_id, max(n) as n from summary_entry
     where installation = ? and summary_date = any(?::date[]) group by summary_date, department_id`,
    [installation, days],
  );
  return new Map(found.map(({ day, department_id, n }) => [dayKey(day, department_id), n]));
}

async function chainHead(trx: Connection, installation: InstallationId): Promise<{ seq: number; hash: string }> {
  const head = await maybeRow(
    trx,
    { seq: integer, hash: text },
    'select seq, hash from summary_entry where installation = ? order by seq desc limit 1',
    [installation],
  );
  return head ?? { seq: 0, hash: chainStart };
}

async function insert(trx: Connection, summaries: DailySummary[], windowId: number | null): Promise<void> {
  const summaryRows = summaries.map((summary) => ({ ...summaryRow(summary), window_id: windowId }));
  await insertRows(trx, 'summary_entry', summaryInsertTypes, summaryRows);
  const lineRows = summaries.flatMap(({ id, lines }) => lines.map((line, index) => summaryLineRow(id, index, line)));
  await insertRows(trx, 'summary_line', summaryLineInsertTypes, lineRows);
  const memberRows = summaries.flatMap(({ id, members }) =>
    members.map(({ entryId }) => ({ entry_id: entryId, summary_id: id })),
  );
  await insertRows(trx, 'summary_member', memberInsertTypes, memberRows);
}
