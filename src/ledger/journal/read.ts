import { type Db, query } from '../../db/pool.ts';
import type { LedgerEntry, Line } from '../../domain/entry.ts';
import { type CalendarDate, type InstallationId, type PostingMode, postingModes } from '../../terms.ts';
import { LedgerError } from '../errors.ts';
import { type EntryRow, entryColumns, entryFromRow, type LineRow, lineColumns, lineFromRow } from './rows.ts';

const batchSize = 500;

/** Days to read, both inclusive; null is open. */
export interface DateRange {
  from: CalendarDate | null;
  to: CalendarDate | null;
}

/** The entries with these ids, in their order. Throws LedgerError when one is not in the ledger. */
export async function loadEntries(db: Db, ids: string[]): Promise<LedgerEntry[]> {
  if (ids.length === 0) return [];
  const rows = await query<EntryRow>(db, `select ${entryColumns} from entry where id = any(?::text[])`, [ids]);
  const byId = new Map((await withLines(db, rows)).map((entry) => [entry.id, entry]));
  return ids.map((id) => {
    const entry = byId.get(id);
    if (entry === undefined) throw new LedgerError('entry_missing', `there is no entry ${id} in the ledger`);
    return entry;
  });
}

/** An installation's entries in the order of its chain, a batch in memory at a time. */
export async function* entriesBySeq(db: Db, installation: InstallationId): AsyncGenerator<LedgerEntry> {
  for (let last = 0; ; ) {
    const rows = await query<EntryRow>(
      db,
      `select ${entryColumns} from entry where installation = ? and seq > ? order by seq limit ?`,
      [installation, last, batchSize],
    );
    yield* await withLines(db, rows);
    if (rows.length < batchSize) return;
    last = rows.at(-1)!.seq;
  }
}

/** An installation's entries of these modes in the order of their dates, a batch in memory at a time. */
export async function* entriesByDate(
  db: Db,
  installation: InstallationId,
  range: DateRange,
  modes: readonly PostingMode[] = postingModes,
): AsyncGenerator<LedgerEntry> {
  for (let last = { date: range.from ?? '-infinity', seq: 0 }; ; ) {
    const rows = await query<EntryRow>(
      db,
      `select ${entryColumns} from entry
       where installation = ? and (entry_date, seq) > (?::date, ?::bigint) and entry_date <= ?::date
         and posting_mode = any(?::text[])
       order by entry_date, seq limit ?`,
      [installation, last.date, last.seq, range.to ?? 'infinity', [...modes], batchSize],
    );
    yield* await withLines(db, rows);
    if (rows.length < batchSize) return;
    const end = rows.at(-1)!;
    last = { date: end.entry_date, seq: end.seq };
  }
}

/** Entries with their lines, in the order given. */
export async function withLines(db: Db, entries: EntryRow[]): Promise<LedgerEntry[]> {
  const rows = await query<LineRow>(
    db,
    `select ${lineColumns} from entry_line where entry_id = any(?::text[]) order by entry_id, line`,
    [entries.map((entry) => entry.id)],
  );
  const lines = new Map<string, Line[]>();
  for (const row of rows) {
    const known = lines.get(row.entry_id);
    if (known === undefined) lines.set(row.entry_id, [lineFromRow(row)]);
    else known.push(lineFromRow(row));
  }
  return entries.map((entry) => entryFromRow(entry, lines.get(entry.id) ?? []));
}
