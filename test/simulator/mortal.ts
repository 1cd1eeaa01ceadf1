// A simulated process: it may die at any step, or pause for a while, without cleaning up.

import type { Rng } from '../../sandbox/src/rng.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { Life } from '../erp/fake/target.ts';
import type { SimulatedTime } from '../erp/fake/time.ts';

/** The probabilities per step of dying and of pausing, and of dying during a request. */
export interface Troubles {
  dies: number;
  diesSending: number;
  stands: number;
}

export interface MortalOptions {
  /** The name under which the process holds leases. */
  holder: string;
  time: SimulatedTime;
  rng: Rng;
  troubles: Troubles;
  /** The process calls this with each event, for the story of a life. */
  tell(line: string): void;
}

export class Mortal implements Life {
  readonly holder: string;
  isDead = false;
  readonly #mortal: MortalOptions;
  readonly #death = Promise.withResolvers<void>();
  #thawsAtMs = 0;

  constructor(options: MortalOptions) {
    this.#mortal = options;
    this.holder = options.holder;
  }

  /** Resolves when the process dies. */
  get died(): Promise<void> {
    return this.#death.promise;
  }

  /** `isLocking` is true if it holds locks, for which others would wait while time stands still. */
  async step(what: string, mayStand: boolean, isLocking = false): Promise<void> {
    const { rng, troubles, time, tell } = this.#mortal;
    if (!isLocking) await this.thaw();
    const dies = what.startsWith('during ') ? troubles.diesSending : troubles.dies;
    if (!this.isDead && rng.chance(dies)) {
      tell(`${this.holder} dies ${what}`);
      this.die();
    } else if (!this.isDead && mayStand && rng.chance(troubles.stands)) {
      const ms = rng.int(1_000, rng.pick([10_000, 100_000, 900_000]));
      tell(`${this.holder} stands still ${what} for ${Math.round(ms / 1000)} s`);
      this.#thawsAtMs = time.nowMs + ms;
      await this.thaw();
    }
    if (this.isDead) await forever();
  }

  die(): void {
    this.isDead = true;
    this.#death.resolve();
  }

  /** Waits while the process is paused. */
  async thaw(): Promise<void> {
    const { time } = this.#mortal;
    while (!this.isDead && this.#thawsAtMs > time.nowMs) await time.sleep(this.#thawsAtMs - time.nowMs);
  }

  clock(): Clock {
    const { time } = this.#mortal;
    return {
      ...time.clock(),
      sleep: async (ms, signal) => {
        await time.sleep(ms, signal);
        await this.thaw();
        if (this.isDead) await forever();
      },
    };
  }
}

export function forever(): Promise<never> {
  return new Promise(() => undefined);
}
