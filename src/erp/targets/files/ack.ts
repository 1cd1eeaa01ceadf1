import { type ActedBy, recordAction } from '../../../actions/record.ts';
import type { Db } from '../../../db/pool.ts';
import type { Connection } from '../../../db/rows.ts';
import { UserError } from '../../../domain/errors.ts';
import type { InstallationId } from '../../../terms.ts';
import { markAcknowledged } from '../../outbox/batched.ts';
import { batchForUpdate, markBatchAcknowledged } from './batches.ts';
import { batchCode } from './format.ts';

export interface Acknowledged {
  batch: string;
  file: string;
  /** Units that this acknowledged; 0 where the batch was acknowledged before. */
  units: number;
}

/**
 * Notes that whoever gets the files has read these batches in. Once more says the same. Throws UserError for a batch that does not
 * exist, or whose file is not written yet; then none is acknowledged.
 */
export function ackBatches(
  db: Db,
  batches: readonly { installation: InstallationId; number: number }[],
  by: ActedBy,
): Promise<Acknowledged[]> {
  return db.transaction(async (trx) => {
    const acknowledged: Acknowledged[] = [];
    for (const { installation, number } of batches) acknowledged.push(await ackOne(trx, installation, number, by));
    return acknowledged;
  });
}

async function ackOne(
  trx: Connection,
  installation: InstallationId,
  number: number,
  by: ActedBy,
): Promise<Acknowledged> {
  const batch = await batchForUpdate(trx, installation, number);
  const code = batchCode({ installation, number });
  if (batch === null) {
    throw new UserError(
      'batch_unknown',
      `There is no batch ${code}.`,
      'Batches are named as their files and manifests, such as 4711-000001.',
      1,
    );
  }
  if (batch.written_at === null) {
    throw new UserError(
      'batch_not_written',
      `Batch ${code} is not written yet.`,
      'Wait for the next delivery; `vetledger status` tells what it waits for.',
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
