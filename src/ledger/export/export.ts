import { type Db, query } from '../../db/pool.ts';
import type { CalendarDate, InstallationId, LineRole } from '../../terms.ts';
import { type DateRange, entriesByDate } from '../journal/read.ts';
import { countUnsummarised, summariesByDate } from '../summaries/store.ts';
import { beancount } from './beancount.ts';
import { csv } from './csv.ts';
import { daySummary, documentEntry, type JournalEntry } from './facts.ts';
import { hledger } from './hledger.ts';

/** An installation whose books are exported; the currency is its setting, the books themselves name none. */
export interface ExportInstallation {
  id: InstallationId;
  currency: string;
  decimals: number;
}

/** What a journal declares before its first entry. */
export interface Declarations {
  commodities: { currency: string; decimals: number }[];
  accounts: { account: string; role: LineRole; currencies: string[]; firstDate: CalendarDate }[];
}

/** One format: what stands at the top, and one entry. */
export interface ExportFormat {
  head: (declarations: Declarations) => string;
  entry: (entry: JournalEntry, installation: ExportInstallation) => string;
}

export const exportFormats = { hledger, csv, beancount } as const satisfies Record<string, ExportFormat>;
export type ExportFormatName = keyof typeof exportFormats;

export interface ExportOptions {
  format: ExportFormatName;
  installations: ExportInstallation[];
  /** Entry dates, both inclusive; null is open. */
  range: DateRange;
  /** The sub-ledger: every document's entry, whatever its posting mode. */
  documents?: boolean;
  /** Told how many entries of the range are left out, as they wait for their day's summary. */
  onLeftOut?: (installation: InstallationId, entries: number) => void;
}

/**
 * The general ledger as text, in pieces, from one snapshot of the database and with one batch in memory (DESIGN `export`):
 * per installation in the order of entry dates, the documents' entries of mode `document` and the summaries of the others.
 * Ending the iteration early ends the snapshot.
 */
export async function* exportEntries(db: Db, options: ExportOptions): AsyncGenerator<string> {
  const format = exportFormats[options.format];
  const trx = await db.transaction({ isolationLevel: 'repeatable read', readOnly: true });
  try {
    yield format.head(await declarations(trx, options));
    for (const installation of options.installations) {
      for await (const entry of journal(trx, installation, options)) yield format.entry(entry, installation);
      if (options.documents || !options.onLeftOut) continue;
      const leftOut = await countUnsummarised(trx, installation.id, options.range);
      if (leftOut > 0) options.onLeftOut(installation.id, leftOut);
    }
  } finally {
    await trx.rollback();
  }
}

/** An installation's journal by date; a day's documents come before its summaries. */
async function* journal(
  db: Db,
  { id, decimals }: ExportInstallation,
  { range, documents = false }: ExportOptions,
): AsyncGenerator<JournalEntry> {
  if (documents) {
    for await (const entry of entriesByDate(db, id, range)) yield documentEntry(entry, decimals);
    return;
  }
  const summaries = summariesByDate(db, id, range);
  let summary = await summaries.next();
  for await (const entry of entriesByDate(db, id, range, ['document'])) {
    for (; !summary.done && summary.value.date < entry.date; summary = await summaries.next()) {
      yield daySummary(summary.value, decimals);
    }
    yield documentEntry(entry, decimals);
  }
  for (; !summary.done; summary = await summaries.next()) yield daySummary(summary.value, decimals);
}

async function declarations(db: Db, options: ExportOptions): Promise<Declarations> {
  const currencies = new Map(options.installations.map(({ id, currency }) => [id, currency]));
  const rows = await query<{ account: string; role: LineRole; installations: number[]; first_date: CalendarDate }>(
    db,
    `select l.account, l.role, array_agg(distinct e.installation) as installations, min(e.entry_date) as first_date
     from entry e join entry_line l on l.entry_id = e.id
     where e.installation = any(?::bigint[])
       and (? or e.posting_mode = 'document' or exists (select from summary_member m where m.entry_id = e.id))
       and e.entry_date between coalesce(?::date, '-infinity') and coalesce(?::date, 'infinity')
     group by l.account, l.role order by l.account, l.role`,
    [[...currencies.keys()], options.documents ?? false, options.range.from, options.range.to],
  );
  const decimals = new Map(options.installations.map((each) => [each.currency, each.decimals]));
  return {
    commodities: [...decimals].sort().map(([currency, places]) => ({ currency, decimals: places })),
    accounts: rows.map((row) => ({
      account: row.account,
      role: row.role,
      currencies: [...new Set(row.installations.map((id) => currencies.get(id)!))].sort(),
      firstDate: row.first_date,
    })),
  };
}
