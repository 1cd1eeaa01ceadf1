import { integer, oneOf } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { pruneBatch } from '../db/prune.ts';
import { execute, maybeRow } from '../db/rows.ts';
import { type RecordKind, recordKinds } from '../terms.ts';

/** A replaced version is kept for this time, because a document may still be judged with it. */
const judgingHours = 24;

interface VersionKey {
  installation: number;
  kind: RecordKind;
  id: number;
  version: number;
}

/**
 * Removes replaced versions that are older than this number of days and from which no entry was posted (a reversed
 * entry counts as posted). Returns the number of removed versions.
 */
export async function pruneVersions(db: Db, days: number, signal: AbortSignal): Promise<number> {
  let removed = 0;
  let after: VersionKey | null = { installation: -1, kind: 'invoice', id: 0, version: 0 };
  while (after !== null && !signal.aborted) {
    const batch = await pruneVersionsAfter(db, after, days);
    removed += batch.removed;
    after = batch.last;
  }
  return removed;
}

/**
 * Checks the next versions in the order of their key, and removes those from which no entry was posted. An entry was
 * posted from a version if it was created between the replacement of the version before and its own replacement. For
 * the records of an invoice, the entries of the invoice and of its payments count, because payments take their party
 * from the invoice.
 */
async function pruneVersionsAfter(
  db: Db,
  after: VersionKey,
  days: number,
): Promise<{ removed: number; last: VersionKey | null }> {
  const { installation, kind, id, version } = after;
  const keys = [installation, kind, id, version];
  const last = await maybeRow(
    db,
    { installation: integer, kind: oneOf(recordKinds), id: integer, version: integer },
    `select installation, kind, id, version from (
       select v.installation, v.kind, v.id, v.version from mirror_version v
       where (v.installation, v.kind, v.id, v.version) > (?::bigint, ?::text, ?::bigint, ?::int)
       order by v.installation, v.kind, v.id, v.version limit ${pruneBatch}
     ) page order by installation desc, kind desc, id desc, version desc limit 1`,
    keys,
  );
  if (last === null) return { removed: 0, last };
  const removed = await execute(
    db,
    `delete from mirror_version v
     where (v.installation, v.kind, v.id, v.version) > (?::bigint, ?::text, ?::bigint, ?::int)
       and (v.installation, v.kind, v.id, v.version) <= (?::bigint, ?::text, ?::bigint, ?::int)
       and v.replaced_at < clock_timestamp() - make_interval(days => ?)
       and not exists (
         select 1 from (
           select v.kind as kind, v.id as id where v.kind <> 'row'
           union all
           select 'invoice', r.parent_id from mirror_record r
           where v.kind = 'row' and r.installation = v.installation and r.kind = 'row' and r.id = v.id
           union all
           select 'payment', p.id from mirror_record p
           where v.kind = 'invoice' and p.installation = v.installation and p.kind = 'payment' and p.parent_id = v.id
         ) document
         join entry e on e.installation = v.installation and e.kind = document.kind and e.document_id = document.id
         where e.created_at <= v.replaced_at + interval '${judgingHours} hours'
           and e.created_at >= coalesce((
             select p.replaced_at from mirror_version p
             where p.installation = v.installation and p.kind = v.kind and p.id = v.id and p.version < v.version
             order by p.version desc limit 1), '-infinity')
       )`,
    [...keys, last.installation, last.kind, last.id, last.version, days],
  );
  return { removed, last };
}
