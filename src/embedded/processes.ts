import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { sleep } from '../domain/concurrency.ts';
import { serverFailures } from '../texts/errors/servers.ts';
import { serverEnvironment } from './environment.ts';

/** Modes of locks, records of servers, logs and data. None of them is readable for other users. */
export const privateFolder = 0o700;
export const privateFile = 0o600;

/** A process by id and start time, because process ids are reused. */
export interface ProcessIdentity {
  pid: number;
  started: string;
}

/** A user of the operating system that runs a server. */
export interface Account {
  uid: number;
  gid: number;
}

/** A server ended before it answered. */
export class ExitedEarly extends Error {
  readonly log: string;

  constructor(label: string, log: string) {
    super(serverFailures.exitedEarly({ server: label, output: log }));
    this.name = 'ExitedEarly';
    this.log = log;
  }
}

/** The identity of a running process. Null if there is none, or only a zombie that its parent has not reaped. */
export function identify(pid: number): ProcessIdentity | null {
  const started = process.platform === 'linux' ? startFromProc(pid) : startFromPs(pid);
  return started === null ? null : { pid, started };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started;
}

function startFromProc(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the program's name in parentheses, may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return fields[0] === 'Z' || fields[0] === 'X' ? null : `${boot}:${fields[19]}`;
  } catch {
    return null;
  }
}

function startFromPs(pid: number): string | null {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { ...serverEnvironment(process.env), LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    return line === '' || line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '');
  } catch {
    return null;
  }
}

/** Sends the signals one after another until the process has ended. Throws if it still runs after the last one. */
export async function stopProcess(
  identity: ProcessIdentity,
  steps: readonly { signal: NodeJS.Signals; waitMs: number }[],
): Promise<void> {
  for (const { signal, waitMs } of steps) {
    if (!isRunning(identity)) return;
    try {
      process.kill(identity.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    const deadline = performance.now() + waitMs;
    while (isRunning(identity) && performance.now() < deadline) await sleep(25);
  }
  if (isRunning(identity)) throw new Error(serverFailures.doesNotEnd(identity));
}

export interface ServerCommand {
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  logFile: string;
  account?: Account | undefined;
}

/**
 * Starts a server in a separate session, so that Ctrl-C in the terminal does not end it before its users have shut
 * down. Its output replaces `logFile`.
 */
export function spawnServer(server: ServerCommand): Promise<ChildProcess & { pid: number }> {
  mkdirSync(dirname(server.logFile), { recursive: true, mode: privateFolder });
  const log = openSync(server.logFile, 'w', privateFile);
  // The server inherits this mask, so only its owner can read its files.
  const before = process.umask(0o077);
  const child = spawn(server.command, server.args, {
    // The server's account may be unable to enter the current folder. Every account can enter `/`.
    cwd: '/',
    detached: true,
    env: server.env,
    stdio: ['ignore', log, log],
    ...(server.account ?? {}),
  });
  process.umask(before);
  closeSync(log);
  child.unref();
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(child as ChildProcess & { pid: number }));
  });
}

/**
 * Waits until `answers` returns true. Throws `ExitedEarly` if the process ends first, and an Error after `timeoutMs`.
 */
export async function waitUntilAnswers(
  label: string,
  identity: ProcessIdentity,
  answers: () => Promise<boolean>,
  timeoutMs: number,
  logFile: string,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await answers())) {
    if (!isRunning(identity)) throw new ExitedEarly(label, lastLines(logFile, 5));
    if (performance.now() > deadline) {
      const output = lastLines(logFile, 5);
      throw new Error(serverFailures.noAnswer({ server: label, seconds: timeoutMs / 1000, output }));
    }
    await sleep(100);
  }
}

/** The last lines of a file, joined into one. Empty if there is no such file. */
export function lastLines(file: string, count: number): string {
  try {
    return readFileSync(file, 'utf8').trim().split('\n').slice(-count).join(' | ');
  } catch {
    return '';
  }
}

/** A port of 127.0.0.1 that is free at present. Another process may still take it. */
export function freePort(): Promise<number> {
  return listenOnce(0);
}

export async function isPortFree(port: number): Promise<boolean> {
  return listenOnce(port).then(
    () => true,
    () => false,
  );
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1' }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port));
    });
  });
}
