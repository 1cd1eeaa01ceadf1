import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../../domain/errors.ts';
import { visible } from '../../../domain/text.ts';
import type { InstallationId } from '../../../terms.ts';
import type { PlainError } from '../../../texts/plain-error.ts';
import { keyPrefix } from '../../entry-key.ts';

/**
 * Whose a folder of batches is: files cannot be looked up, so the folder says which database hands over which installation. The file
 * is made once (`wx`), so of two databases that begin at once one only makes it.
 */
export const claimName = 'vetledger-claim.json';

/** The databases by installation, each as the first letters of its keys. */
interface FolderClaim {
  claim: 1;
  installations: Record<string, string>;
}

export interface ClaimOfFolder {
  installation: InstallationId;
  databaseId: string;
}

/** Another database hands over this installation's batches in this folder. */
export class FolderForeign extends Error {
  override readonly name = 'FolderForeign';
  readonly plain: PlainError;

  constructor(plain: PlainError) {
    super(plain.message);
    this.plain = plain;
  }
}

/** Claims a folder for an installation's batches, or sees that it is claimed. Throws FolderForeign, and what the file system says. */
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

/** Why a folder is not this database's for an installation; null where it is, or where the folder has no claim. */
export async function foreignFolder(folder: string, of: ClaimOfFolder): Promise<PlainError | null> {
  const claim = await readClaim(folder);
  if (claim === 'unreadable') return unreadable(folder, of);
  const database = claim?.installations[String(of.installation)];
  if (database === undefined || database === keyPrefix(of.databaseId)) return null;
  return {
    code: 'erp_company_foreign',
    message: `the folder ${visible(folder)} is another database’s for installation ${of.installation}: ${claimName} names keys that begin with ${visible(database)}`,
    todo: `Find out which vetledger writes into this folder, and stop it or name another folder in \`erp.folder\`. Where this database is to go on: \`vetledger adopt --installation ${of.installation} --reason TEXT\`; docs/OPERATIONS.md, "Two databases, one company", says what that does.`,
  };
}

/** Takes a folder over from another database. */
export async function takeOverFolder(folder: string, of: ClaimOfFolder): Promise<void> {
  await writeClaim(folder, of);
}

/** Writes the claim with this installation in it, where it is not there yet; those of other installations stay. */
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

/** Null where there is none. */
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

function unreadable(folder: string, { installation }: ClaimOfFolder): PlainError {
  return {
    code: 'erp_company_foreign',
    message: `${visible(join(folder, claimName))} cannot be read: it says which database hands over which installation`,
    todo: `Put the file back as it was. Where only this database writes into the folder: \`vetledger adopt --installation ${installation} --reason TEXT\`, which writes it anew.`,
  };
}
