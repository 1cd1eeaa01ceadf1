import { type Connection, execute } from '../db/rows.ts';
import { markDirty } from '../documents/mark.ts';
import type { DocumentKind } from '../terms.ts';

/**
 * Notes that the source no longer has these records, as its answers since `confirmedAt` (source time) show, and marks their
 * documents. An answer from before that, arriving late, does not bring them back.
 */
export async function markGone(
  trx: Connection,
  installation: number,
  kind: DocumentKind,
  ids: readonly number[],
  confirmedAt: Date,
): Promise<void> {
  await execute(
    trx,
    `update mirror_record set gone_at = clock_timestamp(), source_time = greatest(source_time, ?)
     where installation = ? and kind = ? and id = any(?)`,
    [confirmedAt, installation, kind, ids],
  );
  await markDirty(trx, installation, kind, ids);
}
