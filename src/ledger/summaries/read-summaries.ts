import { integer, nullable, text } from '../../db/columns.ts';
import { pages } from '../../db/pages.ts';
import { type Connection, row, rows } from '../../db/rows.ts';
import type { InstallationId } from '../../terms.ts';
import { ledgerErrors } from '../../texts/findings/chain.ts';
import type { MappingVersion } from '../journal/entry-records.ts';
import type { DateRange } from '../journal/read-entries.ts';
import { voucherText } from '../journal/vouchers.ts';
import { LedgerError } from '../ledger-error.ts';
import type { DailySummary } from './summary.ts';
import {
  memberShape,
  type StoredSummaryRow,
  storedSummaryShape,
  summaryColumns,
  summaryLineColumns,
  summaryLineFromRow,
  summaryLineShape,
} from './summary-rows.ts';

const pageSize = 100;
/** The journal of daily summaries in voucher numbers. */
export const summaryJournal = 'D';

/** The summaries with these ids, in the given order. Throws LedgerError if one does not exist. */
export async function loadSummaries(db: Connection, ids: string[]): Promise<DailySummary[]> {
  if (ids.length === 0) return [];
  const found = await rows(
    db,
    storedSummaryShape,
    `select ${summaryColumns} from summary_entry where id = any(?::text[])`,
    [ids],
  );
  const byId = new Map((await withLinesAndMembers(db, found)).map((summary) => [summary.id, summary]));
  return ids.map((id) => {
    const summary = byId.get(id);
    if (summary === undefined) throw new LedgerError('entry_missing', ledgerErrors.summaryMissing({ summaryId: id }));
    return summary;
  });
}

/** Yields an installation's summaries in the order of their chain, with one page in memory. */
export async function* summariesBySeq(db: Connection, installation: InstallationId): AsyncGenerator<DailySummary> {
  const read = (after: StoredSummaryRow | null) =>
    rows(
      db,
      storedSummaryShape,
      `select ${summaryColumns} from summary_entry where installation = ? and seq > ? order by seq limit ?`,
      [installation, after?.seq ?? 0, pageSize],
    );
  for await (const page of pages(pageSize, read)) yield* await withLinesAndMembers(db, page);
}

/** Whether the installation has any daily summary. */
export async function hasSummaries(db: Connection, installation: InstallationId): Promise<boolean> {
  const sql = 'select id from summary_entry where installation = ? limit 1';
  return (await rows(db, { id: text }, sql, [installation])).length > 0;
}

/** Yields an installation's summaries in the order of their dates, with one page in memory. */
export async function* summariesByDate(
  db: Connection,
  installation: InstallationId,
  range: DateRange,
): AsyncGenerator<DailySummary> {
  const read = (after: StoredSummaryRow | null) =>
    rows(
      db,
      storedSummaryShape,
      `select ${summaryColumns} from summary_entry
       where installation = ? and (summary_date, seq) > (?::date, ?::bigint) and summary_date <= ?::date
       order by summary_date, seq limit ?`,
      [
        installation,
        after?.summary_date ?? range.from ?? '-infinity',
        after?.seq ?? 0,
        range.to ?? 'infinity',
        pageSize,
      ],
    );
  for await (const page of pages(pageSize, read)) yield* await withLinesAndMembers(db, page);
}

/** Rows with their lines, members and mappings. The members' hashes are read from the present entries. */
async function withLinesAndMembers(db: Connection, summaries: StoredSummaryRow[]): Promise<DailySummary[]> {
  const ids = summaries.map(({ id }) => id);
  const lineRows = await rows(
    db,
    summaryLineShape,
    `select ${summaryLineColumns} from summary_line where summary_id = any(?::text[]) order by summary_id, line`,
    [ids],
  );
  const memberRows = await rows(
    db,
    { ...memberShape, hash: text },
    `select m.summary_id, m.entry_id, e.hash from summary_member m join entry e on e.id = m.entry_id
     where m.summary_id = any(?::text[]) order by e.seq`,
    [ids],
  );
  const mappings = await mappingsOf(db, ids);
  const lines = Map.groupBy(lineRows, (line) => line.summary_id);
  const members = Map.groupBy(memberRows, (member) => member.summary_id);
  return summaries.map((summary) => ({
    id: summary.id,
    installation: summary.installation,
    date: summary.summary_date,
    departmentId: summary.department_id,
    n: summary.n,
    seq: summary.seq,
    previousHash: summary.previous_hash,
    hash: summary.hash,
    vatPeriod: summary.vat_period,
    isLate: summary.is_late,
    isCorrection: summary.is_correction,
    fiscalYear: summary.fiscal_year,
    voucherNumber: summary.voucher_number,
    lines: (lines.get(summary.id) ?? []).map(summaryLineFromRow),
    members: (members.get(summary.id) ?? []).map(({ entry_id, hash }) => ({ entryId: entry_id, hash })),
    record: {
      voucher: voucherText(summary.fiscal_year, summaryJournal, summary.voucher_number),
      recordedAt: summary.created_at,
      windowId: summary.window_id,
      mappings: mappings.get(summary.id) ?? [],
    },
  }));
}

/** The mappings with which the entries of each summary were posted, by the summary's id. */
async function mappingsOf(db: Connection, ids: string[]): Promise<Map<string, MappingVersion[]>> {
  const found = await rows(
    db,
    { summaryId: text, hash: text, version: nullable(text), approvedBy: nullable(text) },
    `select posted.summary_id as "summaryId", posted.mapping_hash as hash, c.version, c.approved_by as "approvedBy"
     from (select m.summary_id, e.installation, e.mapping_hash, min(e.seq) as first
           from summary_member m join entry e on e.id = m.entry_id
           where m.summary_id = any(?::text[]) and e.mapping_hash is not null group by 1, 2, 3) posted
     left join mapping_content c on c.installation = posted.installation and c.mapping_hash = posted.mapping_hash
     order by posted.summary_id, posted.first`,
    [ids],
  );
  const bySummary = Map.groupBy(found, ({ summaryId }) => summaryId);
  return new Map([...bySummary].map(([id, versions]) => [id, versions.map(({ summaryId: _, ...version }) => version)]));
}

/** The summary that contains an entry. */
export interface SummaryOfEntry {
  id: string;
  voucher: string;
}

/** The summary of each entry, by entry id. Entries without a summary are left out. */
export async function summariesOf(db: Connection, entryIds: string[]): Promise<Map<string, SummaryOfEntry>> {
  const found = await rows(
    db,
    { entryId: text, id: text, year: integer, n: integer },
    `select m.entry_id as "entryId", s.id, s.fiscal_year as year, s.voucher_number as n
     from summary_member m join summary_entry s on s.id = m.summary_id where m.entry_id = any(?::text[])`,
    [entryIds],
  );
  return new Map(
    found.map(({ entryId, id, year, n }) => [entryId, { id, voucher: voucherText(year, summaryJournal, n) }]),
  );
}

/** The number of an installation's entries dated in `range` that do not have their daily summary yet. */
export async function countUnsummarised(
  db: Connection,
  installation: InstallationId,
  range: DateRange,
): Promise<number> {
  const { n } = await row(
    db,
    { n: integer },
    `select count(*) as n from entry e
     where e.installation = ? and e.posting_mode = 'daily_summary'
       and e.entry_date between coalesce(?::date, '-infinity') and coalesce(?::date, 'infinity')
       and not exists (select from summary_member m where m.entry_id = e.id)`,
    [installation, range.from, range.to],
  );
  return n;
}
