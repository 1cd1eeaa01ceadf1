import { integer } from '../../db/columns.ts';
import { pages } from '../../db/pages.ts';
import { type Connection, row, rows } from '../../db/rows.ts';
import type { LedgerEntry } from '../../domain/entry.ts';
import { type CalendarDate, type InstallationId, type PostingMode, postingModes } from '../../terms.ts';
import { ledgerErrors } from '../../texts/findings/chain.ts';
import { LedgerError } from '../ledger-error.ts';
import {
  type EntryRow,
  entryColumns,
  entryFromRow,
  entryShape,
  lineColumns,
  lineFromRow,
  namedLineShape,
} from './entry-rows.ts';
import { sharesOf } from './shares.ts';

const pageSize = 500;

/** Days to read, both inclusive. Null means no limit. */
export interface DateRange {
  from: CalendarDate | null;
  to: CalendarDate | null;
  /** Only entries up to this place in the chain. */
  upToSeq?: number | null;
}

/** The entries with these ids, in the given order. Throws LedgerError if one does not exist. */
export async function loadEntries(db: Connection, ids: string[]): Promise<LedgerEntry[]> {
  if (ids.length === 0) return [];
  const found = await rows(db, entryShape, `select ${entryColumns} from entry where id = any(?::text[])`, [ids]);
  const byId = new Map((await withLines(db, found)).map((entry) => [entry.id, entry]));
  return ids.map((id) => {
    const entry = byId.get(id);
    if (entry === undefined) throw new LedgerError('entry_missing', ledgerErrors.entryMissing({ entryId: id }));
    return entry;
  });
}

/** Yields an installation's entries in the order of its chain, with one page in memory; with `range`, those of its days. */
export async function* entriesBySeq(
  db: Connection,
  installation: InstallationId,
  range: Pick<DateRange, 'from' | 'to' | 'upToSeq'> = { from: null, to: null },
): AsyncGenerator<LedgerEntry> {
  const days = range.from === null && range.to === null ? '' : 'and entry_date between ?::date and ?::date';
  const read = (after: EntryRow | null) =>
    rows(
      db,
      entryShape,
      `select ${entryColumns} from entry where installation = ? and seq > ? and seq <= coalesce(?::bigint, seq) ${days}
       order by seq limit ?`,
      [
        ...[installation, after?.seq ?? 0, range.upToSeq ?? null],
        ...(days === '' ? [] : [range.from ?? '-infinity', range.to ?? 'infinity']),
        pageSize,
      ],
    );
  for await (const page of pages(pageSize, read)) yield* await withLines(db, page);
}

/** An installation's entries of these modes in the order of their dates; one page is in memory at a time. */
export async function* entriesByDate(
  db: Connection,
  installation: InstallationId,
  range: DateRange,
  modes: readonly PostingMode[] = postingModes,
): AsyncGenerator<LedgerEntry> {
  const read = (after: EntryRow | null) =>
    rows(
      db,
      entryShape,
      `select ${entryColumns} from entry
       where installation = ? and (entry_date, seq) > (?::date, ?::bigint) and entry_date <= ?::date
         and posting_mode = any(?::text[]) and seq <= coalesce(?::bigint, seq)
       order by entry_date, seq limit ?`,
      [
        installation,
        after?.entry_date ?? range.from ?? '-infinity',
        after?.seq ?? 0,
        range.to ?? 'infinity',
        modes,
        range.upToSeq ?? null,
        pageSize,
      ],
    );
  for await (const page of pages(pageSize, read)) yield* await withLines(db, page);
}

/** The number of an installation's entries of these days. */
export async function countEntries(
  db: Connection,
  installation: InstallationId,
  { from, to, upToSeq = null }: DateRange,
): Promise<number> {
  const { n } = await row(
    db,
    { n: integer },
    `select count(*)::int as n from entry
     where installation = ? and entry_date between ?::date and ?::date and seq <= coalesce(?::bigint, seq)`,
    [installation, from ?? '-infinity', to ?? 'infinity', upToSeq],
  );
  return n;
}

/** Entries with their lines, in the order given. */
export async function withLines(db: Connection, entries: EntryRow[]): Promise<LedgerEntry[]> {
  const ids = entries.map((entry) => entry.id);
  // Both tables are read by the ids, or PostgreSQL may read the names of all entries for each page.
  const found = await rows(
    db,
    namedLineShape,
    `select ${lineColumns}, case when party_named then name_apart end as party_name from entry_line
     left join (
       select entry_id as named_entry, party_code as named_party, name as name_apart from entry_party_name
       where entry_id = any(?::text[])
     ) named on named_entry = entry_id and named_party = party_code
     where entry_id = any(?::text[]) order by entry_id, line`,
    [ids, ids],
  );
  const lines = Map.groupBy(found, (line) => line.entry_id);
  const shares = await sharesOf(
    db,
    entries.flatMap(({ id, kind }) => (kind === 'invoice' ? [] : [id])),
  );
  return entries.map((row) => {
    const entry = entryFromRow(row, (lines.get(row.id) ?? []).map(lineFromRow));
    const own = shares.get(row.id);
    return own === undefined ? entry : { ...entry, shares: own };
  });
}
