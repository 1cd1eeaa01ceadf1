// The daemons of a round with a supervisor, which restarts a daemon that ends.

import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DaemonSettings } from './daemon.ts';

const startAgainMs = 500;
/** After SIGTERM, a daemon must end within 30 s. */
const stopWithinMs = 30_000;
const mostOutput = 20_000;
const file = fileURLToPath(new URL('./daemon.ts', import.meta.url));

export class Daemon {
  readonly #settings: DaemonSettings;
  readonly #env: NodeJS.ProcessEnv;
  readonly #tell: (line: string) => void;
  #process: ChildProcess | null = null;
  #restart: NodeJS.Timeout | undefined;
  #isWanted = false;
  /** The last output of the daemon, for a round that fails. */
  output = '';

  constructor(settings: DaemonSettings, env: NodeJS.ProcessEnv, tell: (line: string) => void) {
    this.#settings = settings;
    this.#env = env;
    this.#tell = tell;
  }

  get isUp(): boolean {
    return this.#process !== null;
  }

  start(): void {
    this.#isWanted = true;
    clearTimeout(this.#restart);
    if (this.#process) return;
    const child = spawn(process.execPath, [file, JSON.stringify(this.#settings)], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    const keep = (text: string) => {
      this.output = (this.output + text).slice(-mostOutput);
    };
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    child.once('exit', (code, signal) => {
      if (this.#process === child) this.#process = null;
      if (!this.#isWanted) return;
      this.#tell(`the daemon ended by itself with ${code ?? signal}, and is started again`);
      this.#restart = setTimeout(() => this.start(), startAgainMs);
    });
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL', 10_000);
  }

  /** Stops the process (SIGSTOP) for a while. */
  async standStill(ms: number): Promise<void> {
    const child = this.#process;
    if (!child) return;
    child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, ms));
    child.kill('SIGCONT');
  }

  /** Stops the daemon cleanly. Returns what was wrong with its end, or null. */
  async stop(): Promise<string | null> {
    const began = performance.now();
    const ended = await this.#end('SIGTERM', stopWithinMs);
    if (ended === null) return null;
    if (ended.code === 0) return null;
    const seconds = Math.round((performance.now() - began) / 1_000);
    return `the daemon was asked to end, and after ${seconds} s ended with ${ended.code ?? ended.signal}`;
  }

  async #end(signal: NodeJS.Signals, withinMs: number): Promise<{ code: number | null; signal: string | null } | null> {
    this.#isWanted = false;
    clearTimeout(this.#restart);
    const child = this.#process;
    if (!child) return null;
    this.#process = null;
    const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
      child.once('exit', (code, by) => resolve({ code, signal: by }));
    });
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), withinMs);
    const how = await ended;
    clearTimeout(timer);
    return how;
  }
}
