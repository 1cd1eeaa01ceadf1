import { instant, integer, nullable, text } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';
import type { MappingVersion } from './journal/records.ts';

/** Notes a mapping that entries are posted by (table `mapping_version`), the first time. */
export async function noteMappingVersion(
  trx: Connection,
  installation: InstallationId,
  { hash, version, approvedBy }: MappingVersion,
): Promise<void> {
  await execute(
    trx,
    `insert into mapping_version (installation, mapping_hash, version, approved_by) values (?, ?, ?, ?)
     on conflict do nothing`,
    [installation, hash, version, approvedBy],
  );
}

/** A mapping, and what was posted by it. */
export interface UsedMapping {
  /** Null: entries of before mappings were recorded. */
  hash: string | null;
  version: string | null;
  approved_by: string | null;
  entries: number;
  first_posted_at: Date;
  last_posted_at: Date;
  /** Places in the chain. */
  first_seq: number;
  last_seq: number;
}

/** Which mappings the entries of an installation were posted by, in the order of their first entries; reads the whole journal. */
export function mappingHistory(db: Connection, installation: InstallationId): Promise<UsedMapping[]> {
  return rows(
    db,
    {
      ...{ hash: nullable(text), version: nullable(text), approved_by: nullable(text), entries: integer },
      ...{ first_posted_at: instant, last_posted_at: instant, first_seq: integer, last_seq: integer },
    },
    `select e.mapping_hash as hash, m.version, m.approved_by, e.entries, e.first_posted_at, e.last_posted_at,
       e.first_seq, e.last_seq
     from (
       select mapping_hash, count(*)::int as entries, min(created_at) as first_posted_at,
         max(created_at) as last_posted_at, min(seq) as first_seq, max(seq) as last_seq
       from entry where installation = ? group by mapping_hash) e
     left join mapping_version m on m.installation = ? and m.mapping_hash = e.mapping_hash
     order by e.first_seq`,
    [installation, installation],
  );
}
