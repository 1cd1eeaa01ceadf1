import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** A folder that is deleted at the test's end. Other accounts can pass through it, like a home folder of mode 0711. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-services-'));
  chmodSync(folder, 0o711);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts `holder.ts` in a new process group. Returns the process with the first line that it prints. */
export async function startHolder(
  kind: 'lock' | 'postgres',
  path: string,
): Promise<{ child: ChildProcess; line: string }> {
  const script = fileURLToPath(new URL('./holder.ts', import.meta.url));
  const child = spawn(process.execPath, [script, kind, path], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`holder ended with ${code}`)));
  });
  return { child, line };
}

/** Sends a signal to a process group, like Ctrl-C in a terminal, and waits until the process ends. */
export async function signalGroup(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  process.kill(-child.pid!, signal);
  await ended;
}

export function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** A free port. */
export async function unusedPort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/**
 * The addresses that a process listens on, without duplicates. It works on Linux only; elsewhere the tests assume the
 * expected ones.
 */
export function listeningAddresses(pid: number): string[] {
  if (process.platform !== 'linux') return ['127.0.0.1'];
  const own = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]),
  );
  const listening = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === '0A' && own.has(inode))
      .map(([, local = '']) => local.split(':')[0] ?? ''),
  );
  // The bytes of an IPv4 address are in reverse order.
  const text = (hex: string) =>
    hex.length === 8 ? [6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join('.') : hex;
  return [...new Set(listening.map(text))];
}
