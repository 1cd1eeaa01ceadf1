import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Connection } from '../../../db/rows.ts';
import { deliveryFindings } from '../../../texts/findings/delivery.ts';
import type { DeliverPorts } from '../../deliver/slice.ts';
import { type BatchCandidate, markBatched, markRefused, unitsOfBatch } from '../../outbox/batched.ts';
import { entriesInFolder, manifestInFolder } from './batch-in-folder.ts';
import { type StoredBatch, storeBatch } from './batches.ts';
import { FolderForeign, foreignFolder } from './folder-claim.ts';
import { batchCode } from './format.ts';
import { FileTaken } from './write-file.ts';

/** Maximum number of entries in one log line. */
const mostNamed = 20;

export interface TakeOverPorts extends Pick<DeliverPorts, 'databaseId' | 'log'> {
  folder: string;
  format: StoredBatch['format'];
  /** The content that units would have in a file now; `bytes` is null if the format cannot hold the unit. */
  bytesOf: (candidates: readonly BatchCandidate[]) => Promise<{ id: string; bytes: Uint8Array | null }[]>;
}

/**
 * Stores a batch that is in the folder but unknown to the database, which was restored. The units with the same content
 * are put into the batch, in any order. Units with other content are refused, and entries that the books lack are
 * logged. Returns null if the folder has no batch of this number. Throws FolderForeign or FileTaken if another database
 * made it.
 */
export async function takeOverBatch(
  trx: Connection,
  key: Pick<StoredBatch, 'installation' | 'number'>,
  { folder, format, databaseId, log, bytesOf }: TakeOverPorts,
): Promise<{ batch: StoredBatch; refused: number } | null> {
  const inFolder = await manifestInFolder(folder, key);
  if (inFolder === null) return null;
  const found = await entriesInFolder(folder, key, inFolder, databaseId);
  const { installation, number } = key;
  if (found === null) {
    // Another database may use the folder. That explains the file better, so it is checked first.
    const foreign = await foreignFolder(folder, { installation, databaseId });
    throw foreign === null ? new FileTaken(join(folder, inFolder.file)) : new FolderForeign(foreign);
  }
  const code = batchCode(key);
  const units = await unitsOfBatch(trx, installation, found.ids);
  const [ids, refused]: [string[], { unit_id: string; code: string; message: string }[]] = [[], []];
  const message = deliveryFindings.batchDiffers({ batch: code });
  for (const { id, bytes } of await bytesOf(units.flatMap(({ candidate }) => candidate ?? []))) {
    if (bytes !== null && found.content.includes(Buffer.from(bytes))) ids.push(id);
    else refused.push({ unit_id: id, code: 'erp_batch_differs', message });
  }
  await markRefused(trx, installation, refused);
  const known = new Set(units.map(({ id }) => id));
  const unknown = found.ids.filter((id) => !known.has(id));
  if (unknown.length > 0) {
    log.warn(
      { installation, batch: code, unknown: unknown.slice(0, mostNamed), unknown_count: unknown.length },
      'a batch from before the restore has entries that the books lack',
    );
  }
  const { file, sha256, text: manifest } = inFolder;
  const batch = { ...key, format, file, sha256, units: ids.length, manifest, created_at: new Date(inFolder.created) };
  await storeBatch(trx, batch);
  await markBatched(trx, installation, { ids, batch: number, attemptId: randomUUID() });
  return { batch: { ...batch, written_at: null, withdrawn_at: null, acknowledged_at: null }, refused: refused.length };
}
