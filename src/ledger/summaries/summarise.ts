import { insertRows } from '../../db/bulk.ts';
import { bool, date, integer, nullable, text } from '../../db/columns.ts';
import type { Transact } from '../../db/lease.ts';
import { type Connection, execute, maybeRow, rows } from '../../db/rows.ts';
import { fiscalYearStart } from '../../domain/dates.ts';
import type { LedgerEntry } from '../../domain/entry.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { chainStart } from '../journal/entry-hash.ts';
import { type EntryRow, entryColumns, entryShape } from '../journal/entry-rows.ts';
import { loadEntries, withLines } from '../journal/read-entries.ts';
import { type ChainedSummary, summarise, summaryId } from './summary.ts';
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
  /** The first month of a fiscal year, from 1, for voucher numbers. Default: January. */
  fiscalYearStart?: number | undefined;
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
 * has its ordinary summary gets a correction summary. Returns the new summaries; empty if nothing is left. A concurrent
 * caller waits for the lock and then finds these days done. The number of SQL statements does not depend on the number of
 * entries.
 */
export async function summariseBatch(
  trx: Connection,
  installation: InstallationId,
  options: SummariseOptions,
): Promise<ChainedSummary[]> {
  await holdSummaries(trx, installation);
  const waiting = await waitingEntries(trx, installation, options);
  if (waiting.length === 0) return [];
  return append(trx, installation, await withLines(trx, waiting), options);
}

/**
 * Makes separate summaries of these entries, which have none yet, even for days that are not over. Returns them in the
 * order of their days.
 */
export async function summariseEntries(
  trx: Connection,
  installation: InstallationId,
  entryIds: string[],
  options: Pick<SummariseOptions, 'fiscalYearStart'> = {},
): Promise<ChainedSummary[]> {
  if (entryIds.length === 0) return [];
  await holdSummaries(trx, installation);
  return append(trx, installation, await loadEntries(trx, entryIds), { ...options, windowId: null });
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
  { windowId, fiscalYearStart: firstMonth = 1 }: Pick<SummariseOptions, 'windowId' | 'fiscalYearStart'>,
): Promise<ChainedSummary[]> {
  const days = await summarisedDays(trx, installation, [...new Set(entries.map(({ date }) => date))]);
  const drafts = summarise(entries, (day, department) => days.get(dayKey(day, department))?.isSummarised ?? false);
  const fiscalYearOf = (day: CalendarDate) => Number(fiscalYearStart(day, firstMonth).slice(0, 4));
  const vouchers = await lastVouchers(trx, installation, [...new Set(drafts.map(({ date }) => fiscalYearOf(date)))]);
  const head = await chainHead(trx, installation);
  const summaries: ChainedSummary[] = [];
  for (const draft of drafts) {
    const previous = summaries.at(-1) ?? head;
    const day = dayKey(draft.date, draft.departmentId);
    const n = (days.get(day)?.n ?? 0) + 1;
    days.set(day, { n, isSummarised: true });
    const fiscalYear = fiscalYearOf(draft.date);
    const voucherNumber = (vouchers.get(fiscalYear) ?? 0) + 1;
    vouchers.set(fiscalYear, voucherNumber);
    const id = summaryId(installation, draft, n);
    const place = { id, installation, n, fiscalYear, voucherNumber, seq: previous.seq + 1 };
    const summary = { ...draft, ...place, previousHash: previous.hash };
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

/** The number of the last summary of each of these days and departments, and whether the day has its ordinary one. */
async function summarisedDays(
  trx: Connection,
  installation: InstallationId,
  days: CalendarDate[],
): Promise<Map<string, { n: number; isSummarised: boolean }>> {
  const found = await rows(
    trx,
    { day: date, department_id: nullable(integer), n: integer, is_summarised: bool },
    `select summary_date as day, department_id, max(n) as n, bool_or(not is_correction) as is_summarised
     from summary_entry where installation = ? and summary_date = any(?::date[]) group by summary_date, department_id`,
    [installation, days],
  );
  return new Map(
    found.map(({ day, department_id, n, is_summarised: isSummarised }) => [
      dayKey(day, department_id),
      { n, isSummarised },
    ]),
  );
}

/** The last voucher number of each of these fiscal years. The caller holds the summaries, so numbers have no gap. */
async function lastVouchers(
  trx: Connection,
  installation: InstallationId,
  fiscalYears: number[],
): Promise<Map<number, number>> {
  const found = await rows(
    trx,
    { year: integer, last: integer },
    `select fiscal_year as year, max(voucher_number) as last from summary_entry
     where installation = ? and fiscal_year = any(?::int[]) group by fiscal_year`,
    [installation, fiscalYears],
  );
  return new Map(found.map(({ year, last }) => [year, last]));
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

async function insert(trx: Connection, summaries: ChainedSummary[], windowId: number | null): Promise<void> {
  const summaryRows = summaries.map((summary) => ({ ...summaryRow(summary), window_id: windowId }));
  await insertRows(trx, 'summary_entry', summaryInsertTypes, summaryRows);
  const lineRows = summaries.flatMap(({ id, lines }) => lines.map((line, index) => summaryLineRow(id, index, line)));
  await insertRows(trx, 'summary_line', summaryLineInsertTypes, lineRows);
  const memberRows = summaries.flatMap(({ id, members }) =>
    members.map(({ entryId }) => ({ entry_id: entryId, summary_id: id })),
  );
  await insertRows(trx, 'summary_member', memberInsertTypes, memberRows);
}
