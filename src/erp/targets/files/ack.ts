import { type ActedBy, recordAction } from '../../../actions/record.ts';
import type { Db } from '../../../db/pool.ts';
import type { Connection } from '../../../db/rows.ts';
import { UserError } from '../../../domain/errors.ts';
import type { InstallationId } from '../../../terms.ts';
import { countBatched, markAcknowledged, markHandedOver } from '../../outbox/batched.ts';
import { batchForUpdate, lockBatches, markBatchAcknowledged, markWritten, type StoredBatch } from './batches.ts';
import { batchCode } from './format.ts';
import { liesThere, lyingManifest } from './lying-batch.ts';

export interface Acknowledged {
  batch: string;
  file: string;
  /** Units that this acknowledged; 0 where the batch was acknowledged before. */
  units: number;
}

/** A batch that is named, and the configured folder of its installation; null where that is not delivered as files. */
export interface NamedBatch {
  installation: InstallationId;
  number: number;
  folder: string | null;
}

/**
 * Notes that the accountants have read these batches in. Once more says the same. Throws UserError for a batch that does not exist, or
 * whose file is not written yet; then none is acknowledged. A batch whose file lies in the folder counts as written, though the database
 * has not noted it.
 */
export function ackBatches(db: Db, batches: readonly NamedBatch[], by: ActedBy): Promise<Acknowledged[]> {
  return db.transaction(async (trx) => {
    const acknowledged: Acknowledged[] = [];
    for (const batch of batches) acknowledged.push(await ackOne(trx, batch, by));
    return acknowledged;
  });
}

async function ackOne(
  trx: Connection,
  { installation, number, folder }: NamedBatch,
  by: ActedBy,
): Promise<Acknowledged> {
  // What is being written is waited for.
  await lockBatches(trx, installation);
  const batch = await batchForUpdate(trx, installation, number);
  const code = batchCode({ installation, number });
  if (batch === null && folder !== null && (await lyingManifest(folder, { installation, number })) !== null) {
    throw new UserError(
      {
        code: 'batch_unknown',
        message: `The file of batch ${code} lies in the folder, and this database does not know it: it was restored from a backup of before.`,
        todo: 'Run `vetledger deliver resume` if the delivery is paused: the delivery notes the batches that lie there, and makes no other file of them. Then acknowledge it.',
      },
      1,
    );
  }
  if (batch === null) {
    throw new UserError(
      {
        code: 'batch_unknown',
        message: `There is no batch ${code}.`,
        todo: 'Batches are named as their files and manifests, such as 4711-000001.',
      },
      1,
    );
  }
  if (batch.written_at === null && !(await noteLying(trx, batch, folder))) {
    throw new UserError(
      {
        code: 'batch_not_written',
        message: `Batch ${code} is not written yet.`,
        todo: 'Wait for the next delivery; `vetledger status` tells what it waits for.',
      },
      1,
    );
  }
  if (batch.acknowledged_at !== null) return { batch: code, file: batch.file, units: 0 };
  await markBatchAcknowledged(trx, batch);
  const units = await markAcknowledged(trx, installation, number);
  const result = { file: batch.file, units };
  await recordAction(trx, { installation, kind: 'acknowledge_batch', by, input: { batch: code }, result });
  return { batch: code, file: batch.file, units };
}

/** Notes that a batch is written whose file lies in the folder: the process ended, or the database was put back, before that was noted. */
async function noteLying(trx: Connection, batch: StoredBatch, folder: string | null): Promise<boolean> {
  if (folder === null || batch.withdrawn_at !== null || !(await liesThere(folder, batch))) return false;
  if ((await countBatched(trx, batch.installation, batch.number)) !== batch.units) return false;
  await markWritten(trx, batch);
  await markHandedOver(trx, batch.installation, batch.number);
  return true;
}
