import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { redact } from '../domain/redact.ts';
import { serverErrors, serverFailures } from '../texts/errors/servers.ts';
import { serverProgress } from '../texts/progress.ts';
import { installerEnvironment, serverEnvironment } from './environment.ts';
import { cacheFolder } from './folders.ts';
import { withLock } from './lock.ts';
import { findOptionalPackage, installOptionalPackages, isPacked } from './optional-packages.ts';
import type { ServicesOptions } from './options.ts';
import { reasonOf, ServiceError } from './service-error.ts';

const goPackage = 'github.com/temporalio/cli/cmd/temporal@v1.5.1';
const stalledDownloadMs = 15_000;
const downloadTimeoutMs = 300_000;
const buildTimeoutMs = 900_000;
const progressEveryMs = 10_000;

/** Installs the program `temporal` into an empty folder and returns its path. Throws if that fails. */
export type Installer = (folder: string, options: ServicesOptions) => Promise<string>;

/** The ways to install the program, in the order in which they are tried. */
export const installers: readonly { name: string; install: Installer }[] = [
  { name: "the SDK's download", install: downloadWithSdk },
  { name: `go install ${goPackage}`, install: buildWithGo },
];

/**
 * The path of the Temporal CLI: on the PATH, in the user's cache folder, or installed into it (DESIGN: The service
 * parts and how they start). Throws ServiceError `temporal_start_failed`, which names every way that was tried.
 */
export async function temporalBinary(options: ServicesOptions, ways = installers): Promise<string> {
  const onPath = programOnPath('temporal', options.env);
  if (onPath && (await runs(onPath))) return onPath;

  const cache = cacheFolder(options.env, options.dataDir);
  const cached = join(cache, 'bin', 'temporal');
  if (await runs(cached)) return cached;

  const lock = {
    waitMs: buildTimeoutMs + downloadTimeoutMs + 60_000,
    onWait: (holder: string) => options.progress(serverProgress.waitingForInstallation({ holder })),
  };
  return withLock(join(cache, 'install.lock'), lock, async () => {
    if (await runs(cached)) return cached;
    return install(options, cache, cached, ways);
  });
}

async function install(
  options: ServicesOptions,
  cache: string,
  cached: string,
  ways: typeof installers,
): Promise<string> {
  // These folders belong to killed installations. No other process uses them, because this process holds the lock.
  for (const name of readdirSync(cache)) {
    if (name.startsWith('install-')) rmSync(join(cache, name), { recursive: true, force: true });
  }
  const failures: string[] = [];
  for (const way of ways) {
    const folder = mkdtempSync(join(cache, 'install-'));
    try {
      const built = await way.install(folder, options);
      chmodSync(built, 0o755);
      if (!(await runs(built))) throw new Error(serverFailures.installedDoesNotRun);
      mkdirSync(join(cache, 'bin'), { recursive: true });
      renameSync(built, cached);
      options.progress(serverProgress.installed({ path: cached }));
      return cached;
    } catch (error) {
      const reason = reasonOf(error).trim().split('\n').slice(-3).join(' | ');
      failures.push(`${way.name}: ${reason}`);
      options.progress(serverProgress.wayFailed({ way: way.name }));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  throw new ServiceError(serverErrors.temporalNotInstalled({ cached, failures: failures.join('; ') }));
}

async function downloadWithSdk(folder: string, options: ServicesOptions): Promise<string> {
  if (findOptionalPackage('@temporalio/testing') === null) {
    throw new Error(serverFailures.packageMissing({ install: installOptionalPackages }));
  }
  options.progress(serverProgress.downloading);
  const script = fileURLToPath(new URL(`./temporal-download${isPacked ? '.js' : '.ts'}`, import.meta.url));
  // The script starts the server once as a test. In a separate process group, both can be killed together.
  const child = spawn(process.execPath, [script, folder], {
    detached: true,
    env: installerEnvironment(options.env),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const killGroup = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The group has already ended.
    }
  };
  process.once('exit', killGroup);
  let size = 0;
  let grewAt = performance.now();
  const begun = grewAt;
  try {
    await finished(child, () => {
      const now = performance.now();
      const sizeNow = sizeOf(folder);
      if (sizeNow > size) grewAt = now;
      size = sizeNow;
      if (now - grewAt > stalledDownloadMs || now - begun > downloadTimeoutMs) killGroup();
    });
  } finally {
    killGroup();
    process.removeListener('exit', killGroup);
  }
  const [file] = readdirSync(folder);
  if (!file) throw new Error(serverFailures.nothingDownloaded);
  return join(folder, file);
}

async function buildWithGo(folder: string, options: ServicesOptions): Promise<string> {
  const go = programOnPath('go', options.env) ?? executable('/usr/local/go/bin/go');
  if (!go) throw new Error(serverFailures.goMissing);
  const begun = performance.now();
  options.progress(serverProgress.building);
  const child = spawn(go, ['install', goPackage], {
    env: { ...installerEnvironment(options.env), GOBIN: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let reportedAt = begun;
  await finished(child, () => {
    const now = performance.now();
    if (now - begun > buildTimeoutMs) child.kill(now - begun > buildTimeoutMs + 10_000 ? 'SIGKILL' : 'SIGINT');
    if (now - reportedAt >= progressEveryMs) {
      reportedAt = now;
      options.progress(serverProgress.stillBuilding({ seconds: Math.round((now - begun) / 1000) }));
    }
  });
  return join(folder, 'temporal');
}

/**
 * Waits until a child process ends, and calls `watch` twice a second until then. If the process failed, throws an Error
 * with the end of its error output.
 */
function finished(child: ChildProcess, watch: () => void): Promise<void> {
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    output = (output + chunk).slice(-4_000);
  });
  return new Promise((resolve, reject) => {
    const timer = setInterval(watch, 500);
    child.once('error', (error) => {
      clearInterval(timer);
      reject(error);
    });
    child.once('close', (code, signal) => {
      clearInterval(timer);
      if (code === 0) resolve();
      else if (signal) reject(new Error(serverFailures.tookTooLong));
      else reject(new Error(messageIn(output) || serverFailures.exitCode({ status: code ?? 0 })));
    });
  });
}

/**
 * The most useful line of a program's error output: the error that a Node.js program threw, otherwise the last line.
 */
function messageIn(output: string): string {
  const lines = redact(output).trim().split('\n');
  return (lines.find((line) => /^\w*Error: /.test(line)) ?? lines.at(-1) ?? '').slice(0, 300);
}

function sizeOf(folder: string): number {
  let size = 0;
  for (const name of readdirSync(folder)) size += statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  return size;
}

function programOnPath(name: string, env: NodeJS.ProcessEnv): string | null {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    const path = isAbsolute(folder) ? executable(join(folder, name)) : null;
    if (path) return path;
  }
  return null;
}

function executable(path: string): string | null {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() ? path : null;
  } catch {
    return null;
  }
}

function runs(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(path, ['--version'], { timeout: 10_000, env: serverEnvironment(process.env) }, (error) =>
      resolve(error === null),
    );
  });
}
