import { instant, integer, nullable, text } from '../../db/columns.ts';
import { type Connection, rows } from '../../db/rows.ts';
import { voucherText } from './vouchers.ts';

/** What is recorded of an entry beside what it says: when, by which window, with which number, by which mapping. */
export interface EntryRecord {
  recordedAt: Date;
  /** Null outside a window. */
  windowId: number | null;
  /** `2026-S-000123`. */
  voucher: string;
  /** Null where it was posted without one. */
  mapping: MappingVersion | null;
}

/** The mapping that an entry was posted by. */
export interface MappingVersion {
  hash: string;
  /** What the file said of itself, if it did. */
  version: string | null;
  approvedBy: string | null;
}

/** A mapping's version as one word: what the file calls it, or the beginning of its content's hash. */
export function mappingVersionText({ hash, version }: Pick<MappingVersion, 'hash' | 'version'>): string {
  return version === null ? hash.slice(0, 12) : `${version} (${hash.slice(0, 12)})`;
}

/** The records of these entries by id; one statement for any number. */
export async function entryRecords(db: Connection, ids: readonly string[]): Promise<Map<string, EntryRecord>> {
  if (ids.length === 0) return new Map();
  const found = await rows(
    db,
    {
      ...{ id: text, recordedAt: instant, windowId: nullable(integer), hash: nullable(text) },
      ...{ journal: text, year: integer, n: integer },
      ...{ version: nullable(text), approvedBy: nullable(text) },
    },
    `select e.id, e.created_at as "recordedAt", e.window_id as "windowId", e.mapping_hash as hash,
       v.journal, v.fiscal_year as year, v.number as n, m.version, m.approved_by as "approvedBy"
     from entry e join voucher v on v.entry_id = e.id
     left join mapping_content m on m.installation = e.installation and m.mapping_hash = e.mapping_hash
     where e.id = any(?::text[])`,
    [ids],
  );
  return new Map(
    found.map(({ id, recordedAt, windowId, hash, journal, year, n, version, approvedBy }) => [
      id,
      {
        ...{ recordedAt, windowId },
        voucher: voucherText(year, journal, n),
        mapping: hash === null ? null : { hash, version, approvedBy },
      },
    ]),
  );
}
