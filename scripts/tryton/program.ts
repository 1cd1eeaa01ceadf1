import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installerEnvironment } from '../../src/embedded/environment.ts';
import { withLock } from '../../src/embedded/lock.ts';
import { privateFolder } from '../../src/embedded/processes.ts';
import { ServiceError } from '../../src/embedded/service-error.ts';

/** The script that sets up a database, and the list of additional packages. The folder has a separate licence. */
export const setupFolder = fileURLToPath(new URL('setup/', import.meta.url));
const requirements = join(setupFolder, 'requirements.txt');

/** Tryton's web client on npm. */
const webClient = 'tryton-sao@8.0.11';

const lockWaitMs = 600_000;
const stepTimeoutMs = 300_000;
const outputKept = 4_000;

export interface ProgramOptions {
  /** The folder of the virtual environment and its databases. */
  programDir: string;
  progress: (line: string) => void;
  env: NodeJS.ProcessEnv;
}

/** The folder of an installed Tryton: VETLEDGER_TRYTON, or else a folder in the data folder. */
export function trytonProgramDir(dataDir: string, env: NodeJS.ProcessEnv): string {
  return env.VETLEDGER_TRYTON || join(dataDir, 'tryton');
}

/** True if the folder has a Tryton with the current requirements. */
export function isTrytonInstalled(programDir: string): boolean {
  return readMark(join(programDir, 'venv')) === readFileSync(requirements, 'utf8');
}

/** The path of a program in the virtual environment. */
export function trytonProgram(programDir: string, name: string): string {
  return join(programDir, 'venv', 'bin', name);
}

/**
 * Installs Tryton from PyPI in a virtual environment, once. It writes a mark last, so that an interrupted installation
 * starts again. A second installation at the same time waits for the first. Throws ServiceError
 * `tryton_install_failed`.
 */
export async function installTryton(options: ProgramOptions): Promise<void> {
  if (isTrytonInstalled(options.programDir)) return;
  const folder = join(options.programDir, 'venv');
  await installLocked(options, 'venv', async () => {
    if (isTrytonInstalled(options.programDir)) return;
    options.progress('Tryton: creating a virtual environment');
    rmSync(folder, { recursive: true, force: true });
    await run('python3', ['-m', 'venv', folder], options);
    options.progress('Tryton: installing its packages from PyPI (about 100 MB, 10 seconds and more)');
    const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--timeout', '60', '--retries', '3'];
    await run(join(folder, 'bin', 'python'), [...pip, '--quiet', '-r', requirements], options);
    writeMark(folder, readFileSync(requirements, 'utf8'));
  });
}

/**
 * Installs Tryton's web client from npm, once. Returns the folder to serve. If npm fails, it reports why and returns
 * null.
 */
export async function installWebClient(options: ProgramOptions): Promise<string | null> {
  const folder = join(options.programDir, 'sao');
  const root = join(folder, 'node_modules', 'tryton-sao');
  if (readMark(folder) === webClient) return root;
  try {
    await installLocked(options, 'sao', async () => {
      if (readMark(folder) === webClient) return;
      options.progress(`Tryton: installing its web client from npm (${webClient})`);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true, mode: privateFolder });
      writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
      const npm = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--omit=dev', '--loglevel=error'];
      await run('npm', [...npm, webClient], { ...options, cwd: folder });
      // The client's page expects its packages in its folder.
      symlinkSync('..', join(root, 'node_modules'));
      if (!existsSync(join(root, 'dist', 'tryton-sao.js'))) throw new Error(`${webClient} holds no built client`);
      writeMark(folder, webClient);
    });
    return root;
  } catch (error) {
    options.progress(`Tryton: no web client (${error instanceof Error ? error.message : String(error)})`);
    return null;
  }
}

function installLocked(options: ProgramOptions, name: string, work: () => Promise<void>): Promise<void> {
  const onWait = (holder: string) => options.progress(`Tryton: waiting for process ${holder}, which installs it`);
  return withLock(join(options.programDir, `${name}.lock`), { waitMs: lockWaitMs, onWait }, work);
}

function readMark(folder: string): string | null {
  try {
    return readFileSync(join(folder, '.installed'), 'utf8');
  } catch {
    return null;
  }
}

function writeMark(folder: string, content: string): void {
  writeFileSync(join(folder, '.installed.new'), content);
  renameSync(join(folder, '.installed.new'), join(folder, '.installed'));
}

export interface RunOptions {
  env: NodeJS.ProcessEnv;
  cwd?: string;
  input?: string;
  /** Additional environment variables. */
  extra?: NodeJS.ProcessEnv;
}

/** Runs a program to its end. If it fails, throws a ServiceError with the end of its output. */
export async function run(command: string, args: string[], options: RunOptions): Promise<void> {
  const settings = Object.entries(options.env).filter(([name]) => /^(PIP|NPM_CONFIG)_/i.test(name));
  const env: NodeJS.ProcessEnv = {
    ...installerEnvironment(options.env),
    ...Object.fromEntries(settings),
    ...options.extra,
  };
  // The running interpreter may not be on the path; npm is in its folder.
  env.PATH = [env.PATH, dirname(process.execPath)].filter(Boolean).join(delimiter);
  const child = spawn(command, args, {
    cwd: options.cwd ?? '/',
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: stepTimeoutMs,
    killSignal: 'SIGKILL',
  });
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-outputKept);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  // A program that ends early breaks the pipe; its exit code reports the failure.
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  const failure = await new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code === 0 ? null : `ended with ${signal ?? code}`));
  });
  if (failure === null) return;
  const last = output.trim().split('\n').slice(-3).join(' | ');
  throw new ServiceError({
    code: 'tryton_install_failed',
    message: `Tryton could not be set up: ${command} ${failure}${last ? `: ${last}` : ''}.`,
    todo: 'Check that python3 with its venv module is installed (Debian: python3-venv) and that PyPI can be reached, then try again.',
  });
}
