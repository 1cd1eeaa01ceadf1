import { spawnSync } from 'node:child_process';
import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { serverFailures } from '../texts/errors/servers.ts';
import { serverEnvironment } from './environment.ts';
import type { Account } from './processes.ts';

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * The user's cache folder for this program (XDG_CACHE_HOME or ~/.cache). If it is not writable, a folder under
 * `dataDir`.
 */
export function cacheFolder(env: NodeJS.ProcessEnv, dataDir: string): string {
  const xdg = env.XDG_CACHE_HOME;
  const base = xdg && isAbsolute(xdg) ? xdg : join(env.HOME || homedir(), '.cache');
  return firstWritable([join(base, 'vetledger'), join(dataDir, 'cache')]);
}

/** The folder in which root keeps programs that other accounts run. */
export function commonCacheFolder(): string {
  return firstWritable([
    '/var/cache/vetledger',
    join('/var/tmp', 'vetledger-cache'),
    join(tmpdir(), 'vetledger-cache'),
  ]);
}

/** The folder in which root keeps the data of servers whose account cannot enter the data folder. */
export function commonDataFolder(): string {
  return firstWritable(['/var/lib/vetledger', join('/var/tmp', 'vetledger-data')]);
}

function firstWritable(candidates: string[]): string {
  let reason: unknown;
  for (const folder of candidates) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o755 });
      accessSync(folder, constants.W_OK | constants.X_OK);
      // In a folder that all users can write, another user may have created this subfolder.
      const { uid } = lstatSync(folder);
      if (process.getuid && uid !== process.getuid())
        throw new Error(serverFailures.folderOfAnotherUser({ folder, owner: uid }));
      return folder;
    } catch (error) {
      reason = error;
    }
  }
  throw reason;
}

/** Whether an account can enter a folder. Null stands for the account of this process. */
export function canEnter(folder: string, account: Account | null): boolean {
  const result = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], {
    cwd: '/',
    stdio: 'ignore',
    env: serverEnvironment(process.env),
    timeout: 10_000,
    ...(account ?? {}),
  });
  return result.status === 0;
}
