import type { Knex } from 'knex';
import { insertRows } from '../../db/bulk.ts';
import { type Db, query } from '../../db/pool.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { chainStart } from '../journal/chain.ts';
import { type DateRange, withLines } from '../journal/read.ts';
import { type EntryRow, entryColumns } from '../journal/rows.ts';
import {
  type SummaryLineRow,
  type SummaryRow,
  summaryColumns,
  summaryLineColumns,
  summaryLineFromRow,
  summaryLineRow,
  summaryLineTypes,
  summaryRow,
  summaryTypes,
} from './rows.ts';
import { type SummaryEntry, summarise, summaryHash, summaryId } from './summary.ts';

/** Entries summed up in one transaction, unless one day alone has more: days are never split. */
const entriesPerBatch = 2_000;
/** Summaries read at once. */
const summariesPerBatch = 100;

export interface SummariseOptions {
  /** Only days before this one are over. */
  before: CalendarDate;
  /** The window that summarises; null outside a window. */
  windowId: number | null;
  entriesPerBatch?: number;
}

/**
 * Makes the summaries of every day that is over, a batch a transaction. Returns how many; `onBatch` is told how many so far,
 * and may throw to stop.
 */
export async function summariseDays(
  db: Db,
  installation: InstallationId,
  options: SummariseOptions,
  onBatch: (summaries: number) => void = () => undefined,
): Promise<number> {
  for (let summaries = 0; ; ) {
    const made = await db.transaction((trx) => summariseBatch(trx, installation, options));
    if (made.length === 0) return summaries;
    summaries += made.length;
    onBatch(summaries);
  }
}

/**
 * Sums up the oldest days that are over and have entries for a summary which are in none yet, within the caller's
 * transaction; a day that has summaries already gets supplementary ones. Returns what was made, nothing when all is done.
 * Whoever comes second waits and then finds nothing left. A constant number of statements.
 */
export async function summariseBatch(
  trx: Knex.Transaction,
  installation: InstallationId,
  options: SummariseOptions,
): Promise<SummaryEntry[]> {
  await query(trx, `select pg_advisory_xact_lock(hashtextextended('vetledger summaries ' || ?::bigint, 0))`, [
    installation,
  ]);
  const waiting = await waitingEntries(trx, installation, options);
  if (waiting.length === 0) return [];
  const summaries = summarise(await withLines(trx, waiting));
  const numbers = await lastNumbers(trx, installation, [...new Set(summaries.map(({ date }) => date))]);
  const head = await chainHead(trx, installation);
  const made: SummaryEntry[] = [];
  for (const summary of summaries) {
    const previous = made.at(-1) ?? head;
    const n = (numbers.get(`${summary.date}-${summary.departmentId}`) ?? 0) + 1;
    const id = summaryId(installation, summary, n);
    const entry = { ...summary, id, installation, n, seq: previous.seq + 1, previousHash: previous.hash };
    made.push({ ...entry, hash: summaryHash(previous.hash, entry) });
  }
  await insert(trx, made, options.windowId);
  return made;
}

async function waitingEntries(
  trx: Knex.Transaction,
  installation: InstallationId,
  options: SummariseOptions,
): Promise<EntryRow[]> {
  return query<EntryRow>(
    trx,
    `with waiting as (
       select e.entry_date as day, count(*) as n from entry e
       where e.installation = ? and e.posting_mode = 'daily_summary' and e.entry_date < ?::date
         and not exists (select from summary_member m where m.entry_id = e.id)
       group by e.entry_date),
     days as (select day, sum(n) over (order by day) - n as entries_before from waiting)
     select ${entryColumns} from entry e
     where e.installation = ? and e.posting_mode = 'daily_summary'
       and e.entry_date in (select day from days where entries_before < ?)
       and not exists (select from summary_member m where m.entry_id = e.id)
     order by e.seq`,
    [installation, options.before, installation, options.entriesPerBatch ?? entriesPerBatch],
  );
}

async function lastNumbers(
  trx: Knex.Transaction,
  installation: InstallationId,
  dates: CalendarDate[],
): Promise<Map<string, number>> {
  const rows = await query<{ date: CalendarDate; department: number | null; n: number }>(
    trx,
    `select summary_date as date, department_id as department, max(n) as n from summary_entry
     where installation = ? and summary_date = any(?::date[]) group by summary_date, department_id`,
    [installation, dates],
  );
  return new Map(rows.map(({ date, department, n }) => [`${date}-${department}`, n]));
}

async function chainHead(trx: Knex.Transaction, installation: InstallationId): Promise<{ seq: number; hash: string }> {
  const [head] = await query<{ seq: number; hash: string }>(
    trx,
    'select seq, hash from summary_entry where installation = ? order by seq desc limit 1',
    [installation],
  );
  return head ?? { seq: 0, hash: chainStart };
}

async function insert(trx: Knex.Transaction, summaries: SummaryEntry[], windowId: number | null): Promise<void> {
  const rows = summaries.map((summary) => ({ ...summaryRow(summary), window_id: windowId }));
  await insertRows(trx, 'summary_entry', { ...summaryTypes, window_id: 'bigint' }, rows);
  const lines = summaries.flatMap(({ id, lines }) => lines.map((line, index) => summaryLineRow(id, index, line)));
  await insertRows(trx, 'summary_line', summaryLineTypes, lines);
  const members = summaries.flatMap(({ id, members }) => members.map(({ entryId }) => ({ entryId, summaryId: id })));
  await query(trx, 'insert into summary_member (entry_id, summary_id) select * from unnest(?::text[], ?::text[])', [
    members.map(({ entryId }) => entryId),
    members.map(({ summaryId }) => summaryId),
  ]);
}

/** An installation's summaries in the order of their chain, a batch in memory at a time. */
export async function* summariesBySeq(db: Db, installation: InstallationId): AsyncGenerator<SummaryEntry> {
  for (let last = 0; ; ) {
    const rows = await query<SummaryRow>(
      db,
      `select ${summaryColumns} from summary_entry where installation = ? and seq > ? order by seq limit ?`,
      [installation, last, summariesPerBatch],
    );
    yield* await whole(db, rows);
    if (rows.length < summariesPerBatch) return;
    last = rows.at(-1)!.seq;
  }
}

/** An installation's summaries in the order of their dates, a batch in memory at a time. */
export async function* summariesByDate(
  db: Db,
  installation: InstallationId,
  range: DateRange,
): AsyncGenerator<SummaryEntry> {
  for (let last = { date: range.from ?? '-infinity', seq: 0 }; ; ) {
    const rows = await query<SummaryRow>(
      db,
      `select ${summaryColumns} from summary_entry
       where installation = ? and (summary_date, seq) > (?::date, ?::bigint) and summary_date <= ?::date
       order by summary_date, seq limit ?`,
      [installation, last.date, last.seq, range.to ?? 'infinity', summariesPerBatch],
    );
    yield* await whole(db, rows);
    if (rows.length < summariesPerBatch) return;
    const end = rows.at(-1)!;
    last = { date: end.summary_date, seq: end.seq };
  }
}

/** Rows with their lines and members; the members' hashes are those in the ledger now. */
async function whole(db: Db, rows: SummaryRow[]): Promise<SummaryEntry[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const lineRows = await query<SummaryLineRow>(
    db,
    `select ${summaryLineColumns} from summary_line where summary_id = any(?::text[]) order by summary_id, line`,
    [ids],
  );
  const memberRows = await query<{ summary_id: string; entry_id: string; hash: string }>(
    db,
    `select m.summary_id, m.entry_id, e.hash from summary_member m join entry e on e.id = m.entry_id
     where m.summary_id = any(?::text[]) order by e.seq`,
    [ids],
  );
  const lines = Map.groupBy(lineRows, (row) => row.summary_id);
  const members = Map.groupBy(memberRows, (row) => row.summary_id);
  return rows.map((row) => ({
    id: row.id,
    installation: row.installation,
    date: row.summary_date,
    departmentId: row.department_id,
    n: row.n,
    seq: row.seq,
    previousHash: row.previous_hash,
    hash: row.hash,
    lines: (lines.get(row.id) ?? []).map(summaryLineFromRow),
    members: (members.get(row.id) ?? []).map(({ entry_id, hash }) => ({ entryId: entry_id, hash })),
  }));
}

/** Which summary each of these entries went to; those in none are missing. */
export async function summariesOf(db: Db, entryIds: string[]): Promise<Map<string, string>> {
  const rows = await query<{ entry_id: string; summary_id: string }>(
    db,
    'select entry_id, summary_id from summary_member where entry_id = any(?::text[])',
    [entryIds],
  );
  return new Map(rows.map(({ entry_id, summary_id }) => [entry_id, summary_id]));
}

/** How many entries of an installation wait for their day's summary, dated in `range`. */
export async function countUnsummarised(db: Db, installation: InstallationId, range: DateRange): Promise<number> {
  const [found] = await query<{ n: number }>(
    db,
    `select count(*) as n from entry e
     where e.installation = ? and e.posting_mode = 'daily_summary'
       and e.entry_date between coalesce(?::date, '-infinity') and coalesce(?::date, 'infinity')
       and not exists (select from summary_member m where m.entry_id = e.id)`,
    [installation, range.from, range.to],
  );
  return found!.n;
}
