import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { serverErrors, serverFailures } from '../texts/errors/servers.ts';
import { serverProgress } from '../texts/progress.ts';
import { serverEnvironment } from './environment.ts';
import { canEnter, commonDataFolder } from './folders.ts';
import { type PostgresBinaries, unprivilegedAccount } from './postgres-binaries.ts';
import { type Account, privateFile } from './processes.ts';
import { ServiceError } from './service-error.ts';

export const superuser = 'vetledger';
const initdbTimeoutMs = 120_000;

export interface ClusterPlace {
  folder: string;
  /** The account that runs the cluster. Null stands for the account of this process. */
  account: Account | null;
}

/**
 * The folder of a data folder's cluster, which may not exist yet, and the account that runs it. The account is the
 * owner of an existing cluster, otherwise an account that is not root. If that account cannot enter the data folder,
 * the cluster is placed under /var/lib. The file `postgres.location` then stores its path.
 */
export function placeOfCluster(dataDir: string, progress: (line: string) => void): ClusterPlace {
  mkdirSync(dataDir, { recursive: true });
  const own = process.getuid?.();
  const folder = clusterFolder(dataDir);

  if (existsSync(folder)) {
    const { uid, gid } = statSync(folder);
    if (own !== undefined && own !== 0 && uid !== own) {
      throw new ServiceError(serverErrors.postgresOfAnotherUser({ folder, owner: uid, user: own }));
    }
    return { folder, account: own === 0 && uid !== 0 ? { uid, gid } : unprivilegedAccount() };
  }

  const account = unprivilegedAccount();
  if (account === null || canEnter(dataDir, account)) return { folder: join(dataDir, 'postgres'), account };

  const elsewhere = join(commonDataFolder(), `${basename(dataDir)}-${randomBytes(6).toString('hex')}`);
  progress(serverProgress.dataElsewhere({ folder: elsewhere, user: account.uid, dataDir }));
  writeFileSync(noteOf(dataDir), `${elsewhere}\n`, { mode: privateFile });
  return { folder: elsewhere, account };
}

const noteOf = (dataDir: string) => join(dataDir, 'postgres.location');

/**
 * The folder of a data folder's cluster. It is the path in `postgres.location` if that exists, otherwise `postgres` in
 * the data folder.
 */
export function clusterFolder(dataDir: string): string {
  const note = noteOf(dataDir);
  const noted = existsSync(note) ? readFileSync(note, 'utf8').trim() : '';
  return existsSync(noted) ? noted : join(dataDir, 'postgres');
}

export function clusterExists(folder: string): boolean {
  return existsSync(join(folder, 'PG_VERSION'));
}

/** The superuser's password. It is kept in the cluster's folder, so that a moved cluster keeps it. */
export function clusterPassword(folder: string): string {
  return readFileSync(join(folder, 'vetledger.password'), 'utf8').trim();
}

/** Creates a cluster beside its folder and renames it, so that a killed start leaves no incomplete cluster. */
export async function createCluster(place: ClusterPlace, binaries: PostgresBinaries, durable: boolean): Promise<void> {
  const staging = `${place.folder}.new`;
  const passwordFile = `${place.folder}.password`;
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true, mode: 0o700 });
  rmSync(passwordFile, { force: true });
  writeFileSync(passwordFile, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  if (place.account) {
    chownSync(staging, place.account.uid, place.account.gid);
    chownSync(passwordFile, place.account.uid, place.account.gid);
  }
  try {
    await runInitdb(place, binaries.initdb, [
      `--pgdata=${staging}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // PostgreSQL's built-in C.UTF-8 sorts in the same way on every machine, whatever locales are installed.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      ...(durable ? [] : ['--no-sync']),
    ]);
    renameSync(passwordFile, join(staging, 'vetledger.password'));
    renameSync(staging, place.folder);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(staging, { recursive: true, force: true });
  }
}

function runInitdb(place: ClusterPlace, initdb: string, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(initdb, args, {
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: initdbTimeoutMs,
      env: { ...serverEnvironment(process.env), LC_ALL: 'C', TZ: 'UTC' },
      ...(place.account ?? {}),
    });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else {
        const end = output.trim().split('\n').slice(-5).join(' | ');
        reject(new Error(serverFailures.initdbFailed({ status: String(signal ?? code), output: end })));
      }
    });
  });
}
