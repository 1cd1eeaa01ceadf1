import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, isPortFree, privateFile } from './processes.ts';

/**
 * The port of an embedded server: the same one at every start, so that processes which were connected before find the server
 * again. Another one only while the noted one is taken. `folder`: where the server's record is kept.
 */
export async function portOfServer(folder: string, label: string, progress: (line: string) => void): Promise<number> {
  const note = join(folder, 'port');
  const noted = notedPort(note);
  if (noted !== null) {
    if (await isPortFree(noted)) return noted;
    progress(`${label}: port ${noted}, which it had, is taken by another process; taking another one`);
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
