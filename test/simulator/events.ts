// The events in the clinic during a life: between windows, and while requests are answered.

import { Rng } from '../../sandbox/src/rng.ts';
import type { World } from './world.ts';

export class Events {
  readonly #world: World;
  readonly #rng: Rng;
  readonly #clocks: Rng;

  constructor(world: World, rng: Rng) {
    this.#world = world;
    this.#rng = rng;
    this.#clocks = new Rng(world.seed, 'clocks');
    const { practice, traits } = world;
    practice.onRequest = (path) => this.#stir(path);
    if (traits.bursts) practice.onAnswer = (path, body) => this.#burst(path, body);
  }

  /** Passes the time between two windows. */
  async between(ms: number): Promise<void> {
    const { restores, deletes, clocksMs } = this.#world.traits;
    const rng = this.#rng;
    const clocks = this.#clocks;
    this.#world.staff.backUp();
    const moments = Array.from({ length: rng.int(0, 8) }, () => rng.int(0, ms)).sort((a, b) => a - b);
    // At most once, because two changes of the clock could hide records from all requests.
    const movesAtMs = clocks.chance(0.6) ? Math.floor(clocks.next() * ms) : null;
    if (movesAtMs !== null)
      this.#world.time.at(this.#world.time.nowMs + movesAtMs, () => {
        const aheadMs = clocks.pick(clocksMs);
        this.#world.practice.clockAheadMs = aheadMs;
        this.#world.tell(`the clinic's clock is ${aheadMs / 1_000} s ahead`);
      });
    let passedMs = 0;
    for (const atMs of moments) {
      await this.#world.time.sleep(atMs - passedMs);
      passedMs = atMs;
      this.happen();
      if (deletes && rng.chance(0.1)) this.#note(this.#world.staff.delete((document) => this.#isKept(document)));
    }
    await this.#world.time.sleep(ms - passedMs);
    if (restores && clocks.chance(0.5)) this.#note(this.#world.staff.restore());
  }

  /** Affected documents, and documents of a closed period, are not deleted. */
  #isKept(document: string): boolean {
    return (
      this.#world.hostility.culprits.has(document) ||
      this.#world.practice.records.has(document) ||
      this.#world.closedThrough !== null
    );
  }

  /** Something happens in the clinic. */
  happen(): void {
    if (this.#world.traits.source === 'unsteady' && this.#rng.chance(0.4)) this.#note(this.#world.staff.work());
    else for (const { text } of this.#world.practice.live(1)) this.#world.tell(`the clinic: ${text}`);
  }

  /** Makes events happen in the clinic while a request is answered. */
  #stir(path: string): void {
    const { unrest, bursts } = this.#world.traits;
    if (this.#world.isCalm) return;
    if (bursts && path.includes('/invoice/') && this.#world.network.chance(0.5)) this.#world.staff.invoiceNow();
    else if (this.#world.network.chance(unrest)) this.happen();
  }

  /** Changes the rows of an invoice in the same second in which they were read. */
  #burst(path: string, body: string): void {
    if (this.#world.isCalm || !path.includes('/invoicerow/')) return;
    const parents = new Set([...body.matchAll(/"invoice":"[^"]*\/invoice\/(\d+)\//g)].map(([, id]) => Number(id)));
    for (const id of parents) if (this.#world.network.chance(0.5)) this.#world.staff.changeInSameSecond(id);
  }

  #note(line: string | null): void {
    if (line !== null) this.#world.tell(`the clinic: ${line}`);
  }
}
