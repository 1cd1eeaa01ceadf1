import { type Connection, execute } from '../db/rows.ts';
import { markDirty } from '../documents/mark.ts';
import type { ReadSpan } from '../domain/read-at.ts';
import type { DocumentKind } from '../terms.ts';

/**
 * Notes that the source no longer has these records, as the answers `read` show, and marks their documents. Only an answer to a
 * request sent after these had come brings them back.
 */
export async function markGone(
  trx: Connection,
  installation: number,
  kind: DocumentKind,
  ids: readonly number[],
  read: ReadSpan,
): Promise<void> {
  await execute(
    trx,
    `update mirror_record set gone_at = clock_timestamp(), source_time = ?, asked_at = greatest(asked_at, ?),
       answered_at = greatest(answered_at, ?)
     where installation = ? and kind = ? and id = any(?)`,
    [read.sourceTime, read.askedAt, read.answeredAt, installation, kind, ids],
  );
  await markDirty(trx, installation, kind, ids);
}
