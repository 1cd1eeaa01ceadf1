// Processes that go on beside the live one, step by step.

import type { PracticeClient } from '../../src/practice/client.ts';
import type { RecordKind } from '../../src/terms.ts';
import type { Server } from './server.ts';

/** The process died here, from the sync's point of view. */
export class Killed extends Error {}

/** A process beside the live one. It goes on only when stepped, so that a life is the same every time it is lived. */
export class Beside {
  failure: unknown = null;
  readonly client: Pick<PracticeClient, 'list'>;
  #done = false;
  #killed = false;
  /** Lets it take the answer that it waits with; null while it is under way or done. */
  #go: (() => void) | null = null;
  #halted: (() => void) | null = null;

  constructor(server: Server) {
    this.client = {
      list: async (kind, filters, pageSize, options) => {
        const answer = await server.list(kind as RecordKind, filters, pageSize, options);
        await new Promise<void>((resolve) => {
          this.#go = resolve;
          this.#halted?.();
        });
        if (this.#killed) throw new Killed('killed');
        return answer;
      },
    };
  }

  start(work: () => Promise<unknown>): void {
    work()
      .catch((error: unknown) => {
        this.failure = error;
      })
      .finally(() => {
        this.#done = true;
        this.#halted?.();
      });
  }

  /** Waits until it holds an answer, or is done. */
  async settled(): Promise<void> {
    if (this.#done || this.#go) return;
    await new Promise<void>((resolve) => {
      this.#halted = resolve;
    });
    this.#halted = null;
  }

  /** Takes the answer it holds, to the next one. */
  async step(): Promise<void> {
    const go = this.#go;
    if (this.#done || !go) return;
    this.#go = null;
    go();
    await this.settled();
  }

  async finish(): Promise<void> {
    while (!this.#done) await this.step();
  }

  kill(): void {
    this.#killed = true;
  }
}
