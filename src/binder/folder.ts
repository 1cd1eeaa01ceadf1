import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, codeOf } from '../domain/errors.ts';
import { commandErrors } from '../texts/errors/commands.ts';

/** A file of a folder that is being written. */
export interface WrittenFile {
  name: string;
  bytes: number;
  sha256: string;
}

/** Adds a file to the folder. */
export type AddFile = (name: string, pieces: Iterable<string | Buffer> | AsyncIterable<string>) => Promise<WrittenFile>;

/** Only the owner may read a binder, because it contains personal data and the books. */
const [privateFolder, privateFile] = [0o700, 0o600];

/** Whether something has this path. */
export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Writes a folder under another name and renames it at the end, so that the folder is complete or absent. An existing
 * folder is replaced only at the end. An abort or an error leaves nothing behind. Throws ConfigError if the folder
 * cannot be written.
 */
export async function writeFolder<Result>(
  folder: string,
  signal: AbortSignal,
  write: (add: AddFile) => Promise<Result>,
): Promise<Result> {
  const own = randomUUID();
  const [temporary, replaced] = [`${folder}.${own}.tmp`, `${folder}.${own}.old`];
  await mkdir(temporary, { mode: privateFolder }).catch((error: unknown) => {
    throw new ConfigError(commandErrors.folderNotWritable({ folder, reason: String(codeOf(error)) }));
  });
  try {
    const result = await write((name, pieces) => addFile(join(temporary, name), name, signal, pieces));
    signal.throwIfAborted();
    const isReplacing = await exists(folder);
    if (isReplacing) await rename(folder, replaced);
    await rename(temporary, folder).catch(async (error: unknown) => {
      if (isReplacing) await rename(replaced, folder);
      throw error;
    });
    await rm(replaced, { recursive: true, force: true });
    return result;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Pieces are collected up to this length, so that a long file has few writes. */
const writeAt = 65_536;

async function addFile(
  path: string,
  name: string,
  signal: AbortSignal,
  pieces: Iterable<string | Buffer> | AsyncIterable<string>,
): Promise<WrittenFile> {
  const handle = await open(path, 'wx', privateFile);
  try {
    const digest = createHash('sha256');
    let bytes = 0;
    let kept: Buffer[] = [];
    let length = 0;
    const flush = async () => {
      const all = Buffer.concat(kept);
      [kept, length] = [[], 0];
      digest.update(all);
      await handle.writeFile(all);
      bytes += all.length;
    };
    for await (const piece of pieces) {
      signal.throwIfAborted();
      const own = typeof piece === 'string' ? Buffer.from(piece) : piece;
      kept.push(own);
      length += own.length;
      if (length >= writeAt) await flush();
    }
    await flush();
    await handle.sync();
    return { name, bytes, sha256: digest.digest('hex') };
  } finally {
    await handle.close();
  }
}
