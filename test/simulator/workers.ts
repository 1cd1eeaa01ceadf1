// The worker processes of a life. Another one starts in the place of each that dies.

import { Rng } from '../../sandbox/src/rng.ts';
import type { Troubles } from './mortal.ts';
import { WorkerProcess } from './process.ts';
import type { World } from './world.ts';

export class Workers {
  deaths = 0;
  /** The share of statements at which a connection breaks. */
  breaks: number;
  readonly #world: World;
  readonly #requestDelivery: () => void;
  readonly #troubles: Troubles;
  readonly #alive = new Set<WorkerProcess>();
  #places: Promise<void>[] = [];
  #isOver = false;

  constructor(world: World, requestDelivery: () => void) {
    this.#world = world;
    this.#requestDelivery = requestDelivery;
    this.#troubles = { ...world.traits.troubles };
    this.breaks = world.traits.breaks;
  }

  /** The workers that live. */
  living(): WorkerProcess[] {
    return [...this.#alive].filter(({ isDead }) => !isDead);
  }

  start(databaseId: string): void {
    const { processes } = this.#world.traits;
    this.#places = Array.from({ length: processes }, (_, place) => this.#lives(place, databaseId));
  }

  /** From now on, no worker dies or pauses. */
  becomeCalm(): void {
    Object.assign(this.#troubles, { dies: 0, diesSending: 0, stands: 0 });
  }

  /** Ends all processes. */
  async end(): Promise<void> {
    this.#isOver = true;
    for (const process of this.#alive) process.die();
    await Promise.all(this.#places);
  }

  /** Starts a worker, and a new one whenever it dies. */
  async #lives(place: number, databaseId: string): Promise<void> {
    const { databases, erp, installation, practice, seed, time, traits } = this.#world;
    const rng = new Rng(seed, `process ${place}`);
    await time.sleep(1 + place * 100);
    for (let n = 1; !this.#isOver; n++) {
      const process = new WorkerProcess({
        ...{ holder: `worker ${place + 1}, life ${n}`, time, rng, troubles: this.#troubles },
        ...{ database: databases.simulated, databaseId, installation, practice },
        open: erp === null ? null : (life) => erp.open(life),
        tell: (line) => this.#world.tell(line),
        requestDelivery: this.#requestDelivery,
        breaks: () => (this.#world.isCalm ? 0 : this.breaks),
        ...(traits.bursts ? { longestTurnMs: 0 } : {}),
      });
      this.#alive.add(process);
      // The daemon does this at its start.
      if (erp !== null) this.#requestDelivery();
      await process.died;
      await process.release();
      this.#alive.delete(process);
      if (this.#isOver) return;
      this.deaths += 1;
      await time.sleep(rng.pick([100, 5_000, 60_000]));
    }
  }
}
