import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { waitFor } from '../workflows/support.ts';

/** This Node.js comes first, as in a container without another one. */
export const pathWithNode = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`;

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end and accepts any exit code. */
export function run(
  file: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; timeout?: number } = {},
): Promise<Ended> {
  const settings = {
    timeout: 240_000,
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, PATH: pathWithNode },
    ...options,
  };
  return new Promise((resolve, reject) => {
    execFile(file, args, settings, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(error);
      else resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

export interface Started {
  child: ChildProcess;
  said(): { stdout: string; stderr: string };
  /** Waits for a text on stdout or stderr. If the program ends before, throws an error with its output. */
  says(text: string | RegExp, timeoutMs?: number): Promise<void>;
  /** Stops the program like a supervisor. Returns its exit code and how long it took. */
  stop(): Promise<{ code: number | null; seconds: number }>;
}

export function start(
  file: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; uid?: number; gid?: number } = {},
): Started {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    said.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said.stderr += chunk;
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const all = () => `${said.stdout}${said.stderr}`;
  return {
    child,
    said: () => said,
    async says(text, timeoutMs = 120_000) {
      await waitFor(
        `“${text}” of ${file} ${args.join(' ')}`,
        () => {
          if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${all()}`);
          return typeof text === 'string' ? all().includes(text) : text.test(all());
        },
        timeoutMs,
      );
    },
    async stop() {
      const begun = performance.now();
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      const giveUp = setTimeout(() => child.kill('SIGKILL'), 60_000);
      const [code] = child.exitCode === null && child.signalCode === null ? await exited : [child.exitCode];
      clearTimeout(giveUp);
      return { code, seconds: (performance.now() - begun) / 1000 };
    },
  };
}
