// What posting does to the mirror's documents as far as the sync hangs on it: an invoice's rows are held against its total, and
// what fails has its parts fetched again, once, before it is held (ACCOUNTING "Proofs"). What is posted has an entry in force.

import type { Db } from '../../src/db/pool.ts';
import { type RefetchNeed, refetchBatch } from '../../src/sync/refetch.ts';
import { query } from '../support/sql.ts';

/** Judges what is marked: gives documents whose parts are to be fetched again; `last` holds them instead. */
export async function judge(db: Db, installation: number, last: boolean): Promise<RefetchNeed[]> {
  const wanted = await query<{ kind: RefetchNeed['kind']; id: number; invoiceId: number | null }>(
    db,
    `with judged as materialized (
       select d.kind, d.id, m.parent_id, d.refetch, m.gone_at is not null as gone, m.missing_at is not null as missing, case d.kind
         when 'invoice' then m.needs_rows and m.gone_at is null and (
           m.rows_source_time is null or m.rows_source_time < m.rows_fresh_from
           or (m.raw::json->>'total_with_vat')::numeric is distinct from (
             select sum((r.raw::json->>'sum_total')::numeric) from mirror_record r where r.installation = m.installation
               and r.kind = 'row' and r.parent_id = m.id and r.gone_at is null))
         when 'payment' then m.gone_at is null and not exists (
           select from mirror_record i where i.installation = m.installation and i.kind = 'invoice' and i.id = m.parent_id
             and i.gone_at is null)
         else false end as failing
       from document d join mirror_record m using (installation, kind, id)
       where d.installation = ? and d.dirty),
     noted as (
       update document d set
         refetch = case when j.failing and j.refetch <> 'done' and not ? then 'wanted' else 'no' end,
         dirty = j.failing and j.refetch <> 'done' and not ?,
         state = case when j.failing then 'held' else 'posted' end,
         problem_code = case when j.missing then 'missing_in_source' when j.failing then 'totals_disagree' end,
         -- What is posted stays so until a person confirms that it is gone.
         entry_id = case when d.entry_id is not null or not (j.failing or j.gone) then 'posted' end
       from judged j where d.installation = ? and d.kind = j.kind and d.id = j.id
       returning d.kind, d.id, d.refetch, j.parent_id)
     select kind, id, parent_id as "invoiceId" from noted where refetch = 'wanted' order by kind, id`,
    [installation, last, last, installation],
  );
  return wanted.slice(0, refetchBatch);
}
