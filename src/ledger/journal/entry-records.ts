import { instant, integer, nullable, text } from '../../db/columns.ts';
import { type Connection, rows } from '../../db/rows.ts';
import { voucherText } from './vouchers.ts';

/** How an entry was recorded: when, by which window, with which voucher number and mapping. */
export interface EntryRecord {
  recordedAt: Date;
  /** The window that posted the entry. Null if the entry was posted outside a window. */
  windowId: number | null;
  /** A voucher number such as `2026-S-000123`. */
  voucher: string;
  /** The mapping with which the entry was posted. Null if there was no mapping. */
  mapping: MappingVersion | null;
}

/** The mapping that an entry was posted by. */
export interface MappingVersion {
  hash: string;
  /** `version` and `approved_by` of the mapping file; null if the file has none. */
  version: string | null;
  approvedBy: string | null;
}

/** The name of a mapping version: `version` of the file, or the first characters of its content hash. */
export function mappingVersionText({ hash, version }: Pick<MappingVersion, 'hash' | 'version'>): string {
  return version === null ? hash.slice(0, 12) : `${version} (${hash.slice(0, 12)})`;
}

/** The records of these entries by id, read in one statement. */
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
