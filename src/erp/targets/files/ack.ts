import { type ActedBy, recordAction } from '../../../actions/record.ts';
import type { Db } from '../../../db/pool.ts';
import type { Connection } from '../../../db/rows.ts';
import { UserError } from '../../../domain/errors.ts';
import type { InstallationId } from '../../../terms.ts';
import { batchErrors } from '../../../texts/errors/batches.ts';
import { countBatched, markAcknowledged, markHandedOver } from '../../outbox/batched.ts';
import { isInFolder, manifestInFolder } from './batch-in-folder.ts';
import { batchForUpdate, lockBatches, markBatchAcknowledged, markWritten, type StoredBatch } from './batches.ts';
import { batchCode } from './format.ts';

export interface Acknowledged {
  batch: string;
  file: string;
  /** Number of units that this call acknowledged; 0 if the batch was acknowledged before. */
  units: number;
}

/**
 * A batch that the user named. `folder`: the installation's configured folder; null if it is not delivered as files.
 */
export interface NamedBatch {
  installation: InstallationId;
  number: number;
  folder: string | null;
}

/**
 * Records that the accountants have imported these batches. A repeated call changes nothing. Throws UserError if a
 * batch does not exist or is not written yet; then no batch is acknowledged. A batch whose file is in the folder counts
 * as written, even if the database has not recorded that.
 */
export function ackBatches(db: Db, batches: readonly NamedBatch[], by: ActedBy): Promise<Acknowledged[]> {
  return db.transaction(async (trx) => {
    const acknowledged: Acknowledged[] = [];
    for (const batch of batches) acknowledged.push(await ackBatch(trx, batch, by));
    return acknowledged;
  });
}

/** Like `ackBatches`, for one batch and in the transaction of the caller. */
export async function ackBatch(
  trx: Connection,
  { installation, number, folder }: NamedBatch,
  by: ActedBy,
): Promise<Acknowledged> {
  // Waits for a batch that is being written.
  await lockBatches(trx, installation);
  const batch = await batchForUpdate(trx, installation, number);
  const code = batchCode({ installation, number });
  if (batch === null && folder !== null && (await manifestInFolder(folder, { installation, number })) !== null) {
    throw new UserError(batchErrors.unknownButInFolder({ batch: code }), 1);
  }
  if (batch === null) throw new UserError(batchErrors.unknown({ batch: code }), 1);
  if (batch.written_at === null && !(await recordIfInFolder(trx, batch, folder))) {
    throw new UserError(batchErrors.notWrittenYet({ batch: code }), 1);
  }
  if (batch.acknowledged_at !== null) return { batch: code, file: batch.file, units: 0 };
  await markBatchAcknowledged(trx, batch);
  const units = await markAcknowledged(trx, installation, number);
  const result = { file: batch.file, units };
  await recordAction(trx, { installation, kind: 'acknowledge_batch', by, input: { batch: code }, result });
  return { batch: code, file: batch.file, units };
}

/**
 * Records that a batch is written if its file is in the folder. The record is missing if the process ended, or the
 * database was restored, before the delivery stored it.
 */
async function recordIfInFolder(trx: Connection, batch: StoredBatch, folder: string | null): Promise<boolean> {
  if (folder === null || batch.withdrawn_at !== null || !(await isInFolder(folder, batch))) return false;
  if ((await countBatched(trx, batch.installation, batch.number)) !== batch.units) return false;
  await markWritten(trx, batch);
  await markHandedOver(trx, batch.installation, batch.number);
  return true;
}
