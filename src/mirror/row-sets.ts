import { bool, integer, nullable } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { markKnown } from '../documents/mark.ts';

/**
 * Makes the row sets of invoices count as never fetched: a set in which a row may have changed is whole again only when it is
 * next fetched as a whole (`settleRowSets`).
 */
export async function doubtRowSets(trx: Connection, installation: number, invoices: readonly number[]): Promise<void> {
  if (invoices.length === 0) return;
  await execute(
    trx,
    `update mirror_record set rows_source_time = null where installation = ? and kind = 'invoice' and id = any(?)
       and rows_source_time is not null`,
    [installation, invoices],
  );
}

/**
 * Notes that the row sets of `invoices` were fetched as a whole at `sourceTime`: rows that the answer no longer held are gone,
 * and the invoices are judged again whose sets were stale or have lost rows. Returns the invoice of each row that is gone.
 */
export async function settleRowSets(
  trx: Connection,
  installation: number,
  invoices: readonly number[],
  sourceTime: Date,
): Promise<number[]> {
  if (invoices.length === 0) return [];
  const changed = await rows(
    trx,
    { invoice: integer },
    `update mirror_record set gone_at = ?, source_time = ? where installation = ? and kind = 'row' and parent_id = any(?)
       and gone_at is null and source_time < ? returning parent_id as invoice`,
    [sourceTime, sourceTime, installation, invoices, sourceTime],
  );
  const settled = await rows(
    trx,
    { invoice: integer, wasFresh: nullable(bool) },
    `update mirror_record m set rows_source_time = ?
     from (select id, rows_source_time >= rows_fresh_from as was_fresh from mirror_record
       where installation = ? and kind = 'invoice' and id = any(?) and (rows_source_time is null or rows_source_time < ?)
       order by id for update) before
     where m.installation = ? and m.kind = 'invoice' and m.id = before.id
     returning m.id as invoice, before.was_fresh as "wasFresh"`,
    [sourceTime, installation, invoices, sourceTime, installation],
  );
  const stale = settled.filter(({ wasFresh }) => wasFresh !== true);
  const touched = new Set([...changed, ...stale].map(({ invoice }) => invoice));
  await markKnown(trx, installation, 'invoice', [...touched]);
  return changed.map(({ invoice }) => invoice);
}
