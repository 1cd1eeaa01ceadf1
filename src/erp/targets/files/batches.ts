import { createHash } from 'node:crypto';
import { fileFormats } from '../../../config/erp.ts';
import { instant, integer, nullable, oneOf, type RowOf, text } from '../../../db/columns.ts';
import { type Connection, execute, maybeRow, row } from '../../../db/rows.ts';
import type { InstallationId } from '../../../terms.ts';

/** SQL of the tables `erp_batch` and `erp_batch_piece`: batches, and the content of those that are not written yet. */

const batchShape = {
  installation: integer,
  number: integer,
  format: oneOf(fileFormats),
  file: text,
  sha256: text,
  units: integer,
  manifest: text,
  created_at: instant,
  written_at: nullable(instant),
  withdrawn_at: nullable(instant),
  acknowledged_at: nullable(instant),
};
const columns = Object.keys(batchShape).join(', ');

export type StoredBatch = RowOf<typeof batchShape>;

/**
 * Locks the batches of an installation until the transaction ends, so that only one transaction stores or writes them.
 */
export async function lockBatches(trx: Connection, installation: InstallationId): Promise<void> {
  await execute(trx, `select pg_advisory_xact_lock(hashtextextended('vetledger batches ' || ?::text, 0))`, [
    String(installation),
  ]);
}

/** The number of the next batch, and the database's time. Numbers have no gaps. */
export function nextBatch(trx: Connection, installation: InstallationId): Promise<{ number: number; at: Date }> {
  return row(
    trx,
    { number: integer, at: instant },
    `select coalesce(max(number), 0) + 1 as number, date_trunc('milliseconds', clock_timestamp()) as at
     from erp_batch where installation = ?`,
    [installation],
  );
}

/** Stores a piece of a batch's file. The first piece, with the number 0, is the head. */
export async function storePiece(
  trx: Connection,
  { installation, number }: Pick<StoredBatch, 'installation' | 'number'>,
  piece: number,
  content: Uint8Array,
): Promise<void> {
  await execute(
    trx,
    `insert into erp_batch_piece (installation, number, piece, content) values (?, ?, ?, decode(?, 'base64'))`,
    [installation, number, piece, Buffer.from(content).toString('base64')],
  );
}

/** The pieces of a batch's file in order. Only one of them is in memory at a time. */
export async function* piecesOf(
  db: Connection,
  { installation, number }: Pick<StoredBatch, 'installation' | 'number'>,
): AsyncGenerator<Uint8Array> {
  for (let after = -1; ; ) {
    const found = await maybeRow(
      db,
      { piece: integer, content: text },
      `select piece, encode(content, 'base64') as content from erp_batch_piece
       where installation = ? and number = ? and piece > ? order by piece limit 1`,
      [installation, number, after],
    );
    if (found === null) return;
    yield Buffer.from(found.content, 'base64');
    after = found.piece;
  }
}

/** SHA-256 and length of a batch's file. */
export async function digestOf(
  db: Connection,
  batch: Pick<StoredBatch, 'installation' | 'number'>,
): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of piecesOf(db, batch)) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}

export type NewBatch = Omit<StoredBatch, 'written_at' | 'withdrawn_at' | 'acknowledged_at'>;

export async function storeBatch(trx: Connection, batch: NewBatch): Promise<void> {
  await execute(
    trx,
    `insert into erp_batch (installation, number, format, file, sha256, units, manifest, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[batch.installation, batch.number, batch.format, batch.file, batch.sha256],
      ...[batch.units, batch.manifest, batch.created_at],
    ],
  );
}

/** The first batch whose file is not recorded as written; null if there is none. */
export function unwrittenBatch(db: Connection, installation: InstallationId): Promise<StoredBatch | null> {
  return maybeRow(
    db,
    batchShape,
    `select ${columns} from erp_batch
     where installation = ? and acknowledged_at is null and written_at is null and withdrawn_at is null order by number limit 1`,
    [installation],
  );
}

/** Records that the file and its manifest are on disk, and deletes the stored content. */
export async function markWritten(
  trx: Connection,
  { installation, number }: Pick<StoredBatch, 'installation' | 'number'>,
): Promise<void> {
  await execute(
    trx,
    'update erp_batch set written_at = clock_timestamp() where installation = ? and number = ? and written_at is null',
    [installation, number],
  );
  await execute(trx, 'delete from erp_batch_piece where installation = ? and number = ?', [installation, number]);
}

/** Withdraws a batch that was not written before its units were taken out. It will not be written. */
export async function markWithdrawn(
  trx: Connection,
  { installation, number }: Pick<StoredBatch, 'installation' | 'number'>,
): Promise<void> {
  await execute(trx, 'update erp_batch set withdrawn_at = clock_timestamp() where installation = ? and number = ?', [
    installation,
    number,
  ]);
  await execute(trx, 'delete from erp_batch_piece where installation = ? and number = ?', [installation, number]);
}

/** A batch by its number, with its row locked; null if there is none. */
export function batchForUpdate(
  trx: Connection,
  installation: InstallationId,
  number: number,
): Promise<StoredBatch | null> {
  return maybeRow(
    trx,
    batchShape,
    `select ${columns} from erp_batch where installation = ? and number = ? for update`,
    [installation, number],
  );
}

export async function markBatchAcknowledged(
  trx: Connection,
  { installation, number }: Pick<StoredBatch, 'installation' | 'number'>,
): Promise<void> {
  await execute(trx, 'update erp_batch set acknowledged_at = clock_timestamp() where installation = ? and number = ?', [
    installation,
    number,
  ]);
}
