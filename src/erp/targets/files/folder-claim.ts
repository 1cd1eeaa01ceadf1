import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../../domain/errors.ts';
import { visible } from '../../../domain/text.ts';
import type { InstallationId } from '../../../terms.ts';
import { batchErrors } from '../../../texts/errors/batches.ts';
import type { PlainError } from '../../../texts/plain-error.ts';
import { keyPrefix } from '../../entry-key.ts';

/**
 * A file in the folder of batches that records which database hands over which installation. Batches in the folder
 * cannot be looked up, so vetledger needs this file to notice another database. It is created exclusively (`wx`), so
 * only one of two databases that start at once can create it.
 */
export const claimName = 'vetledger-claim.json';

/** For each installation, the first characters of its database's keys. */
interface FolderClaim {
  claim: 1;
  installations: Record<string, string>;
}

export interface ClaimOfFolder {
  installation: InstallationId;
  databaseId: string;
}

/** Another database hands over the installation's batches in this folder. */
export class FolderForeign extends Error {
  override readonly name = 'FolderForeign';
  readonly plain: PlainError;

  constructor(plain: PlainError) {
    super(plain.message);
    this.plain = plain;
  }
}

/**
 * Claims a folder for an installation's batches, or checks the existing claim. Throws FolderForeign, or the file
 * system's error.
 */
export async function claimFolder(folder: string, of: ClaimOfFolder): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o750 });
  const mine: FolderClaim = { claim: 1, installations: { [of.installation]: keyPrefix(of.databaseId) } };
  try {
    const handle = await open(join(folder, claimName), 'wx', 0o640);
    try {
      await handle.writeFile(textOf(mine));
      await handle.sync();
    } finally {
      await handle.close();
    }
    return;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  const foreign = await foreignFolder(folder, of);
  if (foreign !== null) throw new FolderForeign(foreign);
  await writeClaim(folder, of);
}

/**
 * The error if another database uses the folder for the installation, or if the claim is unreadable; null otherwise.
 */
export async function foreignFolder(folder: string, of: ClaimOfFolder): Promise<PlainError | null> {
  const claim = await readClaim(folder);
  if (claim === 'unreadable') {
    const file = visible(join(folder, claimName));
    return batchErrors.claimUnreadable({ file, installation: of.installation });
  }
  const database = claim?.installations[String(of.installation)];
  if (database === undefined || database === keyPrefix(of.databaseId)) return null;
  const file = { folder: visible(folder), claim: claimName, prefix: visible(database) };
  return batchErrors.folderForeign({ installation: of.installation, ...file });
}

/** Replaces the claim of another database. */
export async function takeOverFolder(folder: string, of: ClaimOfFolder): Promise<void> {
  await writeClaim(folder, of);
}

/** Adds the installation to the claim. The claims of other installations stay. */
async function writeClaim(folder: string, { installation, databaseId }: ClaimOfFolder): Promise<void> {
  const claim = await readClaim(folder);
  const installations = claim === null || claim === 'unreadable' ? {} : claim.installations;
  const database = keyPrefix(databaseId);
  if (installations[String(installation)] === database) return;
  const temporary = join(folder, `.${claimName}.tmp`);
  const handle = await open(temporary, 'w', 0o640);
  try {
    await handle.writeFile(textOf({ claim: 1, installations: { ...installations, [installation]: database } }));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, join(folder, claimName));
}

/** Reads the claim of a folder. Null if the folder has none. */
async function readClaim(folder: string): Promise<FolderClaim | 'unreadable' | null> {
  let text: string;
  try {
    text = await readFile(join(folder, claimName), 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return null;
    throw error;
  }
  try {
    const claim = JSON.parse(text) as Partial<FolderClaim> | null;
    const { installations } = claim ?? {};
    return typeof installations === 'object' && installations !== null ? { claim: 1, installations } : 'unreadable';
  } catch {
    return 'unreadable';
  }
}

function textOf(claim: FolderClaim): string {
  return `${JSON.stringify(claim, null, 2)}\n`;
}
