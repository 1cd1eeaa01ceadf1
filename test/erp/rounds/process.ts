// A process that delivers, as a worker does: it may die at any step, or stand still for a while, without having cleaned up.

import type { Rng } from '../../../sandbox/rng.ts';
import type { InstallationConfig } from '../../../src/config/load.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import { openDelivery } from '../../../src/erp/delivery.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import type { Life } from '../fake/target.ts';
import type { SimulatedTime } from '../fake/time.ts';
import type { SimulatedDatabase } from './database.ts';

/** How often a process dies or stands still, per step; and how often it dies while a request is under way. */
export interface Troubles {
  dies: number;
  diesSending: number;
  stands: number;
}

/** Without a signal, a worker is asked to deliver again after so long at the latest. */
const longestWaitMs = 6 * 3_600_000;
const shortestWaitMs = 1_000;

export interface ProcessOptions {
  /** Told to others as who delivers. */
  holder: string;
  /** Among the processes, from 0. */
  place: number;
  time: SimulatedTime;
  database: SimulatedDatabase;
  databaseId: string;
  installations: readonly InstallationConfig[];
  open(life: Life): ErpTarget;
  rng: Rng;
  troubles: Troubles;
  /** Told what happens, for the story of a round. */
  tell(line: string): void;
  /** Told of what no process may do: throw. */
  onFailed(error: unknown): void;
}

export class DeliveringProcess implements Life {
  readonly holder: string;
  isDead = false;
  readonly #options: ProcessOptions;
  readonly #stop = new AbortController();
  readonly #died = Promise.withResolvers<void>();
  readonly #wakers = new Set<() => void>();
  #thawsAtMs = 0;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.holder = options.holder;
  }

  /** Delivers until it is stopped, or dies. */
  async live(): Promise<'stopped' | 'died'> {
    const { time, database, databaseId, open } = this.#options;
    const { db, release } = database.open(time, this);
    const delivery = openDelivery({
      ...{ db, databaseId, clock: this.#clock() },
      log: silent as never,
      open: () => open(this),
    });
    const { place, installations } = this.#options;
    // Nothing begins at the same instant: what is simulated happens in one order.
    const work = Promise.all(installations.map((one, at) => this.#deliver(delivery, one, 1 + place * 10 + at)));
    work.catch(() => undefined);
    const end = await Promise.race([work, this.#died.promise.then(() => 'died' as const)]);
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
    const { tell, onFailed } = this.#options;
    const clock = this.#clock();
    while (!signal.aborted) {
      let waitMs = longestWaitMs;
      try {
        await delivery.enqueue(installation);
        const report = await delivery.slice({
          installation,
          // As an activity's workflow is, it is the installation's own.
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
      await this.#sleep(Math.max(shortestWaitMs, Math.min(longestWaitMs, waitMs)), offsetMs);
    }
  }

  /** Waits, or until somebody says that there is work. */
  async #sleep(ms: number, offsetMs: number): Promise<void> {
    const woken = new AbortController();
    const { time } = this.#options;
    const wake = () => void time.at(time.nowMs + offsetMs, () => woken.abort());
    this.#wakers.add(wake);
    const either = AbortSignal.any([this.#stop.signal, woken.signal]);
    await this.#clock()
      .sleep(ms, either)
      .catch(() => undefined);
    this.#wakers.delete(wake);
  }

  /** There is work: whoever waits for it looks anew. */
  wake(): void {
    for (const wake of this.#wakers) wake();
  }

  /** Ends in order. */
  stop(): void {
    this.#stop.abort(new Error('the process is stopped'));
  }

  async step(what: string, mayStand: boolean): Promise<void> {
    const { rng, troubles, time, tell } = this.#options;
    await this.#thaw();
    const dies = what.startsWith('during ') ? troubles.diesSending : troubles.dies;
    if (!this.isDead && rng.chance(dies)) {
      tell(`${this.holder} dies ${what}`);
      this.die();
    } else if (!this.isDead && mayStand && rng.chance(troubles.stands)) {
      const ms = rng.int(1_000, rng.pick([10_000, 100_000, 900_000]));
      tell(`${this.holder} stands still ${what} for ${Math.round(ms / 1000)} s`);
      this.#thawsAtMs = time.nowMs + ms;
      await this.#thaw();
    }
    if (this.isDead) await forever();
  }

  die(): void {
    this.isDead = true;
    this.#died.resolve();
  }

  async #thaw(): Promise<void> {
    const { time } = this.#options;
    while (!this.isDead && this.#thawsAtMs > time.nowMs) await time.sleep(this.#thawsAtMs - time.nowMs);
  }

  #clock(): Clock {
    const { time } = this.#options;
    return {
      ...time.clock(),
      sleep: async (ms, signal) => {
        await time.sleep(ms, signal);
        await this.#thaw();
        if (this.isDead) await forever();
      },
    };
  }
}

const nothing = () => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

function forever(): Promise<never> {
  return new Promise(() => undefined);
}
