import { instant, integer, nullable, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';

/** A version of an installation's mapping. It is in force until the next version. */
export interface MappingVersionInForce {
  number: number;
  hash: string;
  /** The version that the file states. */
  version: string | null;
  approved_by: string | null;
  since: Date;
  /** Who applied the version, and why. Null if a daemon loaded the version from the file when it started. */
  applied_by: string | null;
  /** Who proposed the version in the console. Null if it was not proposed there. */
  proposed_by: string | null;
  reason: string | null;
}

/** All versions of an installation's mapping, oldest first. */
export function mappingVersions(db: Connection, installation: InstallationId): Promise<MappingVersionInForce[]> {
  return rows(
    db,
    {
      ...{ number: integer, hash: text, version: nullable(text), approved_by: nullable(text), since: instant },
      ...{ applied_by: nullable(text), proposed_by: nullable(text), reason: nullable(text) },
    },
    `select v.number, v.mapping_hash as hash, v.version, v.approved_by, v.began_at as since, a.acted_by as applied_by, a.reason,
       p.subject as proposed_by
     from mapping_version v left join action_done a on a.id = v.action_id left join action d on d.id = v.action_id
     left join action p on p.installation = v.installation and p.id = (d.input ->> 'preview')::bigint where v.installation = ? order by v.number`,
    [installation],
  );
}

/** A mapping, and the entries that were posted with it. */
export interface UsedMapping {
  /** The hash of the mapping. Null for entries that were posted without a mapping. */
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

/**
 * The mappings that an installation's entries were posted with, in the order of their first entries. Reads the whole
 * journal.
 */
export function usedMappings(db: Connection, installation: InstallationId): Promise<UsedMapping[]> {
  return rows(
    db,
    {
      ...{ hash: nullable(text), version: nullable(text), approved_by: nullable(text), entries: integer },
      ...{ first_posted_at: instant, last_posted_at: instant, first_seq: integer, last_seq: integer },
    },
    `select nullif(u.mapping_hash, '') as hash, m.version, m.approved_by, u.entries, first.created_at as first_posted_at,
       last.created_at as last_posted_at, u.first_seq, u.last_seq
     from entry_mapping u
     join entry first on first.installation = u.installation and first.seq = u.first_seq
     join entry last on last.installation = u.installation and last.seq = u.last_seq
     left join mapping_content m on m.installation = u.installation and m.mapping_hash = u.mapping_hash
     where u.installation = ? order by u.first_seq`,
    [installation],
  );
}
