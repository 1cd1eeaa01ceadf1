import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sleep } from '../domain/concurrency.ts';
import { serverFailures } from '../texts/errors/servers.ts';
import { privateFile, privateFolder } from './processes.ts';

const sqliteBusy = 5;
const announceAfterMs = 2_000;

export interface LockOptions {
  waitMs: number;
  /** Called once after waiting two seconds, with the holder's process id or `unknown`. */
  onWait?: (holder: string) => void;
}

/** The lock did not become free within `waitMs`. */
export class LockTimeout extends Error {
  readonly holder: string;

  constructor(file: string, holder: string, waitMs: number) {
    super(serverFailures.lockTimeout({ file, holder, seconds: Math.round(waitMs / 1000) }));
    this.name = 'LockTimeout';
    this.holder = holder;
  }
}

/**
 * Runs `work` while holding an exclusive lock on `file`, both between processes and within this one.
 *
 * It is SQLite's lock on an empty database. The operating system releases it when its holder ends in any way, so there
 * are no stale locks.
 */
export async function withLock<T>(file: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(file), { recursive: true, mode: privateFolder });
  // SQLite would create the file readable for all users.
  closeSync(openSync(file, 'a', privateFile));
  const database = new DatabaseSync(file, { timeout: 0 });
  const holderFile = `${file}.holder`;
  try {
    await acquire(database, file, holderFile, options);
    writeFileSync(holderFile, String(process.pid), { mode: privateFile });
    try {
      return await work();
    } finally {
      rmSync(holderFile, { force: true });
    }
  } finally {
    database.close();
  }
}

async function acquire(database: DatabaseSync, file: string, holderFile: string, options: LockOptions): Promise<void> {
  const begun = performance.now();
  let announced = false;
  for (;;) {
    try {
      database.exec('BEGIN EXCLUSIVE');
      return;
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== sqliteBusy) throw error;
    }
    const waitedMs = performance.now() - begun;
    if (waitedMs >= options.waitMs) throw new LockTimeout(file, holderOf(holderFile), options.waitMs);
    if (!announced && waitedMs >= announceAfterMs) {
      announced = true;
      options.onWait?.(holderOf(holderFile));
    }
    await sleep(50);
  }
}

function holderOf(holderFile: string): string {
  try {
    return readFileSync(holderFile, 'utf8').trim() || 'unknown';
  } catch {
    return 'unknown';
  }
}
