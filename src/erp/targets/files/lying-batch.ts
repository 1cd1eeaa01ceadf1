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
 * Batches that lie in the folder and that the database does not know: it was restored from a backup of before them. They were handed
 * over, so that none of their entries may be in another batch.
 */

type BatchKey = Pick<BatchFacts, 'installation' | 'number'>;

/** A manifest has a line for each account. */
const largestManifestBytes = 10_000_000;
/** Of 5,000 entries. */
const largestFileBytes = 500_000_000;

const manifestShape = z.object({
  file: z.string().refine((name) => name === basename(name)),
  sha256: z.string(),
  bytes: z.int().nonnegative().max(largestFileBytes),
  entries: z.int().positive(),
  created: z.iso.datetime(),
});

/** What the manifest tells of a batch that lies there; null where none does, or none that can be read. */
export async function lyingManifest(
  folder: string,
  batch: BatchKey,
): Promise<(z.output<typeof manifestShape> & { text: string }) | null> {
  try {
    const text = await textOf(join(folder, manifestName(batch)));
    return text === null ? null : { ...manifestShape.parse(readJson(text)), text };
  } catch {
    // Writing the batch reports what is wrong with the folder.
    return null;
  }
}

/**
 * The bytes of a batch that lies there, and the ids of its entries. Null where the file is not as its manifest says, or holds other
 * entries than this database's.
 */
export async function lyingEntries(
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

/** Entries of this database that a file holds: beside each id, however the format writes it, stands its key. */
function entryIdsIn(text: string, installation: InstallationId, databaseId: string): string[] {
  const keys = new Set(text.match(/\b[A-Z2-7]{20}\b/g));
  const named = new Set(text.match(new RegExp(`\\b${installation}/[a-z_]+/[\\w-]+/\\d+(?:/undo/\\d+)?`, 'g')));
  return [...named].filter((id) => keys.has(entryKey(databaseId, id)));
}

/** Whether a batch of a higher number lies there. */
export async function liesLater(folder: string, { installation, number }: BatchKey): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  return names.some((name) => {
    const batch = name.endsWith('.json') ? parseBatchCode(basename(name, '.json')) : null;
    return batch !== null && batch.installation === installation && batch.number > number;
  });
}

/** Whether a batch's manifest lies in the folder as it was made: its file is then whole, since the manifest comes last. */
export async function liesThere(folder: string, batch: BatchKey & { manifest: string }): Promise<boolean> {
  return (await textOf(join(folder, manifestName(batch))).catch(() => null)) === batch.manifest;
}

/** Batches were taken out of the folder of which this database does not know that it handed them over. */
export class BatchMissing extends Error {
  override readonly name = 'BatchMissing';
  readonly batch: string;
  readonly folder: string;

  constructor(folder: string, batch: BatchKey) {
    const code = batchCode(batch);
    super(`batch ${code} does not lie in ${folder}, and later ones do`);
    this.batch = code;
    this.folder = folder;
  }
}

async function sizeOf(file: string): Promise<number | null> {
  return (await stat(file).catch(() => null))?.size ?? null;
}

/** The text of a manifest; null where there is none, or one that is too long. */
async function textOf(file: string): Promise<string | null> {
  const size = await sizeOf(file);
  return size === null || size > largestManifestBytes ? null : readFile(file, 'utf8');
}
