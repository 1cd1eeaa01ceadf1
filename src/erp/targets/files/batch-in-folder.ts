import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { readJson } from '../../../records/json.ts';
import type { InstallationId } from '../../../terms.ts';
import { entryKey } from '../../entry-key.ts';
import { type BatchFacts, batchCode, parseBatchCode } from './format.ts';
import { manifestName } from './manifest.ts';

/**
 * Batches that are in the folder but not in the database, because the database was restored from an earlier backup.
 * They were handed over, so their entries must not be in another batch.
 */

type BatchKey = Pick<BatchFacts, 'installation' | 'number'>;

/** A manifest has one line per account. */
const largestManifestBytes = 10_000_000;
/** Enough for 5,000 entries. */
const largestFileBytes = 500_000_000;

const manifestShape = z.object({
  file: z.string().refine((name) => name === basename(name)),
  sha256: z.string(),
  bytes: z.int().nonnegative().max(largestFileBytes),
  entries: z.int().positive(),
  created: z.iso.datetime(),
});

/** The content of a batch's manifest in the folder; null if it is missing or unreadable. */
export async function manifestInFolder(
  folder: string,
  batch: BatchKey,
): Promise<(z.output<typeof manifestShape> & { text: string }) | null> {
  try {
    const text = await textOf(join(folder, manifestName(batch)));
    return text === null ? null : { ...manifestShape.parse(readJson(text)), text };
  } catch {
    // If the folder has a fault, writing the batch reports it.
    return null;
  }
}

/**
 * The content of a batch's file in the folder, and the ids of its entries. Null if the file differs from its manifest,
 * or has entries of another database.
 */
export async function entriesInFolder(
  folder: string,
  { installation }: BatchKey,
  { file, sha256, bytes, entries }: z.output<typeof manifestShape>,
  databaseId: string,
): Promise<{ content: Buffer; ids: string[] } | null> {
  const path = join(folder, file);
  if ((await sizeOf(path)) !== bytes) return null;
  const content = await readFile(path);
  if (createHash('sha256').update(content).digest('hex') !== sha256) return null;
  const ids = entryIdsIn(content.toString('latin1'), installation, databaseId);
  return ids.length === entries ? { content, ids } : null;
}

/** Ids of the entries in a file that this database made. Every format writes the key next to the id. */
function entryIdsIn(text: string, installation: InstallationId, databaseId: string): string[] {
  const keys = new Set(text.match(/\b[A-Z2-7]{20}\b/g));
  const named = new Set(text.match(new RegExp(`\\b${installation}/[a-z_]+/[\\w-]+/\\d+(?:/undo/\\d+)?`, 'g')));
  return [...named].filter((id) => keys.has(entryKey(databaseId, id)));
}

/** Whether the folder contains a batch with a higher number. */
export async function hasLaterBatch(folder: string, { installation, number }: BatchKey): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  return names.some((name) => {
    const batch = name.endsWith('.json') ? parseBatchCode(basename(name, '.json')) : null;
    return batch !== null && batch.installation === installation && batch.number > number;
  });
}

/**
 * Whether the folder contains the batch's manifest, unchanged. The manifest is written last, so the file is complete
 * too.
 */
export async function isInFolder(folder: string, batch: BatchKey & { manifest: string }): Promise<boolean> {
  return (await textOf(join(folder, manifestName(batch))).catch(() => null)) === batch.manifest;
}

/** The folder lacks a batch, although it contains later ones that the restored database does not know. */
export class BatchMissing extends Error {
  override readonly name = 'BatchMissing';
  readonly batch: string;
  readonly folder: string;

  constructor(folder: string, batch: BatchKey) {
    const code = batchCode(batch);
    super(`batch ${code} is not in ${folder}, but later batches are`);
    this.batch = code;
    this.folder = folder;
  }
}

async function sizeOf(file: string): Promise<number | null> {
  return (await stat(file).catch(() => null))?.size ?? null;
}

/** The text of a manifest; null if it is missing or too long. */
async function textOf(file: string): Promise<string | null> {
  const size = await sizeOf(file);
  return size === null || size > largestManifestBytes ? null : readFile(file, 'utf8');
}
