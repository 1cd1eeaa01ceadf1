import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serverProgress } from '../texts/progress.ts';
import { freePort, isPortFree, privateFile } from './processes.ts';

/**
 * The port of an embedded server. It stays the same at every start, so that processes that were connected before find
 * the server again. A new port is chosen only if another process uses the old one. `folder` is the folder of the
 * server's record.
 */
export async function portOfServer(folder: string, label: string, progress: (line: string) => void): Promise<number> {
  const note = join(folder, 'port');
  const noted = notedPort(note);
  if (noted !== null) {
    if (await isPortFree(noted)) return noted;
    progress(serverProgress.portTaken({ server: label, port: noted }));
  }
  const port = await freePort();
  writeFileSync(note, `${port}\n`, { mode: privateFile });
  return port;
}

function notedPort(file: string): number | null {
  try {
    const port = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : null;
  } catch {
    return null;
  }
}
