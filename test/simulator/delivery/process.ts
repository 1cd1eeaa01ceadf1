// A simulated process that delivers like a worker.

import type { InstallationConfig } from '../../../src/config/load-config.ts';
import { openDelivery } from '../../../src/erp/delivery.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import type { Life } from '../../erp/fake/target.ts';
import type { SimulatedDatabase } from '../database.ts';
import { Mortal, type MortalOptions } from '../mortal.ts';

/** The longest time until a worker delivers again without a signal. */
const longestWaitMs = 6 * 3_600_000;
const shortestWaitMs = 1_000;

export interface ProcessOptions extends MortalOptions {
  /** The number of the process, from 0. */
  place: number;
  database: SimulatedDatabase;
  databaseId: string;
  installations: readonly InstallationConfig[];
  open(life: Life): ErpTarget;
  /** The process calls this after each slice. */
  onSlice(): void;
  /** The process calls this if a slice throws, which must not happen. */
  onFailed(error: unknown): void;
}

export class DeliveringProcess extends Mortal {
  readonly #options: ProcessOptions;
  readonly #stop = new AbortController();
  readonly #wakers = new Set<() => void>();

  constructor(options: ProcessOptions) {
    super(options);
    this.#options = options;
  }

  /** Delivers until it is stopped or dies. */
  async live(): Promise<'stopped' | 'died'> {
    const { time, database, databaseId, open } = this.#options;
    const { db, release } = database.open(time, this);
    const delivery = openDelivery({
      ...{ db, databaseId, clock: this.clock() },
      log: silent as never,
      open: () => open(this),
    });
    const { place, installations } = this.#options;
    // Each installation starts at another instant, so that the simulated events have one order.
    const work = Promise.all(installations.map((one, at) => this.#deliver(delivery, one, 1 + place * 10 + at)));
    work.catch(() => undefined);
    const end = await Promise.race([work, this.died.then(() => 'died' as const)]);
    const atEnd = time.begin();
    await release();
    atEnd();
    return end === 'died' ? 'died' : 'stopped';
  }

  async #deliver(
    delivery: ReturnType<typeof openDelivery>,
    installation: InstallationConfig,
    offsetMs: number,
  ): Promise<void> {
    const { signal } = this.#stop;
    await this.#options.time.sleep(offsetMs);
    const { tell, onFailed, onSlice } = this.#options;
    const clock = this.clock();
    while (!signal.aborted) {
      let waitMs = longestWaitMs;
      try {
        await delivery.enqueue(installation);
        const report = await delivery.slice({
          installation,
          // The name of the lease holder depends on the installation, like the workflow of a delivery.
          holder: `${this.holder}, installation ${installation.id}`,
          signal,
          pause: (ms) => clock.sleep(ms, signal),
          onProgress: () => undefined,
        });
        tell(`${this.holder}: ${JSON.stringify(report)}`);
        waitMs = report.nextDueMs ?? longestWaitMs;
      } catch (error) {
        if (signal.aborted) return;
        onFailed(error);
      }
      onSlice();
      await this.#sleep(Math.max(shortestWaitMs, Math.min(longestWaitMs, waitMs)), offsetMs);
    }
  }

  /** Waits for this time, or until `wake` is called. */
  async #sleep(ms: number, offsetMs: number): Promise<void> {
    const woken = new AbortController();
    const { time } = this.#options;
    const wake = () => void time.at(time.nowMs + offsetMs, () => woken.abort());
    this.#wakers.add(wake);
    const either = AbortSignal.any([this.#stop.signal, woken.signal]);
    await this.clock()
      .sleep(ms, either)
      .catch(() => undefined);
    this.#wakers.delete(wake);
  }

  /** Ends all waits, because there is new work. */
  wake(): void {
    for (const wake of this.#wakers) wake();
  }

  /** Stops the process cleanly. */
  stop(): void {
    this.#stop.abort(new Error('the process is stopped'));
  }
}

const nothing = () => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };
