import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { type BinderWanted, binderFiles } from './binder.ts';
import type { AddFile } from './folder.ts';

/** The binder of a closed month as one ZIP file, made in memory. `name` is the name of its folder. */
export async function zippedBinder(
  trx: Connection,
  installation: InstallationConfig,
  name: string,
  wanted: BinderWanted,
): Promise<Buffer> {
  const zip = new ZipFile();
  const add: AddFile = async (file, pieces) => {
    const kept: Buffer[] = [];
    for await (const piece of pieces) {
      wanted.signal.throwIfAborted();
      kept.push(typeof piece === 'string' ? Buffer.from(piece) : piece);
    }
    const content = Buffer.concat(kept);
    zip.addBuffer(content, `${name}/${file}`, { mtime: wanted.closed.close.at });
    return { name: file, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
  };
  await binderFiles(trx, installation, wanted, add);
  zip.end();
  return buffer(zip.outputStream);
}
