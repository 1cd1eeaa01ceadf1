// A server process of a round, which can be killed at any moment and restarted in the same folder.

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const startTimeoutMs = 60_000;
const orderTimeoutMs = 20_000;

interface Message {
  ready?: true;
  serial?: number;
  result?: unknown;
  failed?: string;
}

/** A process that reports `{ready: true}` and answers orders `{serial, argument}` with `{serial, result}`. */
export class Child {
  readonly #file: string;
  readonly #settings: () => object;
  readonly #onFailed: (text: string) => void;
  #process: ChildProcess | null = null;
  #serials = 0;

  /** `settings` is called at each start. */
  constructor(url: URL, settings: () => object, onFailed: (text: string) => void) {
    this.#file = fileURLToPath(url);
    this.#settings = settings;
    this.#onFailed = onFailed;
  }

  get isUp(): boolean {
    return this.#process !== null;
  }

  async start(): Promise<void> {
    if (this.#process) return;
    const child = fork(this.#file, [JSON.stringify(this.#settings())], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    });
    child.on('message', ({ failed }: Message) => {
      if (failed !== undefined) this.#onFailed(failed);
    });
    this.#process = child;
    try {
      await this.#answer(child, ({ ready }) => ready === true, startTimeoutMs);
    } catch (error) {
      // Another disturbance killed the process during its start, and restarts it.
      if (this.#process === child) throw error;
    }
  }

  /** The result of the order; null if the process is down or goes down before it answers. */
  async order(argument: unknown): Promise<unknown> {
    const child = this.#process;
    if (!child?.connected) return null;
    const serial = ++this.#serials;
    const answer = this.#answer(child, (message) => message.serial === serial, orderTimeoutMs);
    child.send({ serial, argument }, () => undefined);
    return answer.catch((error: unknown) => {
      if (this.#process === child && child.exitCode === null && child.signalCode === null) throw error;
      return null;
    });
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  #answer(child: ChildProcess, isIt: (message: Message) => boolean, timeoutMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => end(() => reject(new Error(`${this.#file} does not answer`))), timeoutMs);
      const onMessage = (message: Message) => {
        if (isIt(message)) end(() => resolve(message.result));
      };
      const onExit = () => end(() => reject(new Error(`${this.#file} ended`)));
      const end = (settle: () => void) => {
        clearTimeout(timer);
        child.off('message', onMessage).off('exit', onExit);
        settle();
      };
      child.on('message', onMessage).on('exit', onExit);
    });
  }
}
