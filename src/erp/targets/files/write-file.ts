import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../../domain/errors.ts';

/** The group may read, so that whoever fetches the files can be given them through the folder's rights; nobody else. */
const fileMode = 0o640;
const folderMode = 0o750;

/** A file of another content has the name already. Nothing is overwritten: somebody may have read it in. */
export class FileTaken extends Error {
  override readonly name = 'FileTaken';
  readonly file: string;

  constructor(file: string) {
    super(`${file} is there already, with another content`);
    this.file = file;
  }
}

export interface WholeFile {
  folder: string;
  name: string;
  /** Of the content. */
  sha256: string;
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/**
 * Writes a file whole or not at all: into a temporary one, onto the disk, then under its name. A file of the same content is left
 * as it is. One at a time may write a name. Throws FileTaken, and what the file system says.
 */
export async function writeWholeFile(
  { folder, name, sha256, content }: WholeFile,
  onTemporary = () => {},
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: folderMode });
  const file = join(folder, name);
  const there = await sha256Of(file);
  if (there === sha256) return;
  if (there !== null) throw new FileTaken(file);
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

/** A rename is on the disk when its folder is. Some systems cannot sync folders, and do without. */
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

/** Null where there is no file. */
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
