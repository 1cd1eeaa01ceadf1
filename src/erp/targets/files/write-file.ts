import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../../domain/errors.ts';

/** The group may read the files; other users may not. So the folder's group controls who may collect them. */
const fileMode = 0o640;
const folderMode = 0o750;

/** A file with other content has the name. It is not overwritten, because it may have been imported. */
export class FileTaken extends Error {
  override readonly name = 'FileTaken';
  readonly file: string;

  constructor(file: string) {
    super(`${file} already exists with other content`);
    this.file = file;
  }
}

export interface WholeFile {
  folder: string;
  name: string;
  /** SHA-256 of the content. */
  sha256: string;
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/**
 * Writes a complete file or none: first a temporary file, then the disk is synchronised, then the file is renamed. A
 * file with the same content stays as it is. Only one process may write a name at a time. Throws FileTaken, or the file
 * system's error.
 */
export async function writeWholeFile(
  { folder, name, sha256, content }: WholeFile,
  onTemporary = () => {},
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: folderMode });
  const file = join(folder, name);
  const existing = await sha256Of(file);
  if (existing === sha256) return;
  if (existing !== null) throw new FileTaken(file);
  const temporary = join(folder, `.${name}.tmp`);
  const handle = await open(temporary, 'w', fileMode);
  try {
    for await (const piece of content) await writeAll(handle, piece);
    await handle.sync();
  } finally {
    await handle.close();
  }
  onTemporary();
  await rename(temporary, file);
  await syncFolder(folder);
}

async function writeAll(handle: FileHandle, piece: Uint8Array): Promise<void> {
  for (let written = 0; written < piece.length; ) {
    written += (await handle.write(piece, written, piece.length - written)).bytesWritten;
  }
}

/** A rename is durable when its folder is synchronised. Some file systems cannot do that, which is ignored. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (!['EINVAL', 'EPERM', 'EISDIR', 'ENOTSUP', 'EBADF'].includes(codeOf(error) ?? '')) throw error;
  } finally {
    await handle.close();
  }
}

/** Returns the hash of the file. Null if the file does not exist. */
async function sha256Of(file: string): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
  return hash.digest('hex');
}
