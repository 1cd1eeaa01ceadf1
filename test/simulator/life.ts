// One seeded life of an installation: a clinic, workers that follow it, PostgreSQL, and an ERP. A fault can occur
// between any two calls: a worker dies, an answer is lost after its effect, or a call is done twice or by an abandoned
// worker.

import { Rng } from '../../sandbox/src/rng.ts';
import { addDays } from '../../sandbox/src/zone.ts';
import { closePeriods } from '../support/closing.ts';
import { Ending } from './ending.ts';
import { Events } from './events.ts';
import { judge } from './judge.ts';
import type { Databases } from './stage.ts';
import { SimulatedTemporal, type WindowOptions } from './temporal.ts';
import type { Traits } from './traits.ts';
import { Workers } from './workers.ts';
import { World } from './world.ts';

export interface LifeReport {
  seed: number;
  world: string;
  /** The failed conditions; empty if there are none. */
  wrong: string[];
  story: string[];
  /** The number of windows by outcome. */
  ends: Record<string, number>;
  /** The number of affected answers by fault of the source. */
  struck: Record<string, number>;
  /** Counters of events, which a run adds up. */
  counts: Record<string, number>;
  seconds: number;
}

/** Plays a life. `n` must be different for each life in a database. */
export function liveInstallation(databases: Databases, seed: number, n: number, traits: Traits): Promise<LifeReport> {
  return new Life(new World(databases, seed, n, traits)).live();
}

class Life {
  readonly #world: World;
  readonly #rng: Rng;
  readonly #events: Events;
  readonly #temporal: SimulatedTemporal;
  readonly #workers: Workers;
  readonly #ends: Record<string, number> = {};
  /** A backfill that did not close may leave its lease until it expires. */
  #isBackfillLeft = false;

  constructor(world: World) {
    this.#world = world;
    const { seed, time, traits } = world;
    this.#rng = new Rng(seed, 'life');
    this.#events = new Events(world, this.#rng);
    this.#temporal = new SimulatedTemporal({
      ...{ time, installation: world.installation.id, rng: new Rng(seed, 'temporal') },
      tell: (line) => world.tell(line),
      workers: () => this.#workers.living(),
      lostCompletions: () => (world.isCalm ? 0 : traits.lostCompletions),
    });
    this.#workers = new Workers(world, () => this.#temporal.requestDelivery());
  }

  async live(): Promise<LifeReport> {
    const began = performance.now();
    const world = this.#world;
    world.tell(JSON.stringify(world.traits));
    this.#workers.start(await world.databaseId());
    try {
      await world.time.run(this.#trouble());
      this.#becomeCalm();
      const window = (options: WindowOptions) => this.#window(options);
      await world.time.run(new Ending({ world, temporal: this.#temporal, rng: this.#rng, window }).run());
      await this.#judge();
    } catch (error) {
      world.wrong.push(`the life failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    } finally {
      await world.time.run(this.#workers.end());
    }
    return this.#report(began);
  }

  /** Runs windows one after the other, with events in the clinic between and during them. */
  async #trouble(): Promise<void> {
    const { windows, source, counts, overlapMs } = this.#world.traits;
    for (let n = 0; n < windows; n++) {
      if (n > 0) {
        const gapMs =
          source === 'unsteady' ? overlapMs * 10 ** (this.#rng.next() * 2 - 1) : this.#rng.int(10_000, 900_000);
        await this.#events.between(gapMs);
      }
      if (source === 'hostile') await this.#world.outside(() => this.#world.hostility.begin(n === 0));
      if (counts && this.#rng.chance(0.4)) await this.#world.countNext();
      const events = this.#rng.int(0, source === 'hostile' ? 0 : 3);
      const living = (async () => {
        for (let left = events; left > 0; left--) {
          await this.#world.time.sleep(this.#rng.int(0, 3_000));
          this.#events.happen();
        }
      })();
      await this.#windowBesideNeighbours();
      await living;
      this.#world.hostility.end();
    }
  }

  /** Runs one window with its concurrent events. */
  async #windowBesideNeighbours(): Promise<void> {
    const rng = this.#rng;
    const neighbour = rng.weighted<string>([
      ['none', 8],
      ['another window', 2],
      ['a backfill', 2],
      ['a window that is given up', 1],
      ['broken connections', 1],
      ['a close', this.#world.traits.source === 'hostile' ? 1 : 0],
    ]);
    if (neighbour !== 'none') this.#world.tell(`beside the window: ${neighbour}`);
    switch (neighbour) {
      case 'another window':
        await Promise.all([this.#window(), this.#window()]);
        return;
      case 'a backfill':
        this.#isBackfillLeft =
          (await Promise.all([this.#window({ kind: 'backfill' }), this.#window()]))[0] !== 'closed';
        return;
      case 'a window that is given up':
        await this.#window({ timeoutMs: rng.int(50, 20_000) });
        return;
      case 'broken connections':
        this.#workers.breaks = 0.01;
        await this.#window();
        this.#workers.breaks = this.#world.traits.breaks;
        return;
      case 'a close':
        await Promise.all([this.#window(), this.#closeBooks(rng.int(10, 3_000))]);
        return;
      default:
        await this.#window();
    }
  }

  async #window(options: WindowOptions = {}): Promise<string> {
    const { outcome, error } = await this.#temporal.window(options);
    this.#ends[outcome] = (this.#ends[outcome] ?? 0) + 1;
    this.#world.tell(`the ${options.kind ?? 'window'}: ${outcome}${error ? `, ${error.code}: ${error.message}` : ''}`);
    // Temporal reports a time-out of an activity in this form.
    const isExplained = error === null || error.message.endsWith(' timed out');
    if (!isExplained && (error.code === 'unexpected' || error.message.trim() === '' || error.todo === ''))
      this.#world.wrong.push(`a window's error does not say what it is: ${error.code}: ${error.message}`);
    return outcome;
  }

  async #closeBooks(afterMs: number): Promise<void> {
    await this.#world.time.sleep(afterMs);
    const today = this.#world.practice.clinic.today();
    const through = addDays(today, -this.#rng.int(5, 15));
    if (this.#world.closedThrough !== null && this.#world.closedThrough >= through) return;
    await this.#world.command((db) => closePeriods(db, [{ id: this.#world.installation.id, today }], through));
    this.#world.closedThrough = through;
    this.#world.tell(`the books are closed through ${through}`);
  }

  #becomeCalm(): void {
    this.#world.isCalm = true;
    this.#workers.becomeCalm();
    this.#world.practice.connectionFaults = 0;
    this.#world.hostility.end();
    this.#world.tell('calm');
  }

  async #judge(): Promise<void> {
    const { confirmed, closedThrough, databases, erp, hostility, installation, practice, traits, wrong } = this.#world;
    const found = await judge({
      ...{ db: databases.owner, installation, practice, held: erp?.server.held() ?? null },
      ...{ hostility, isHostile: traits.source === 'hostile', confirmed, closedThrough },
    });
    const misdeeds = erp?.server.misdeeds.filter(({ about }) => about === 'content') ?? [];
    const isExcused = (one: string) => this.#isBackfillLeft && one.startsWith('the lease of lane backfill');
    wrong.push(...found.filter((one) => !isExcused(one)), ...misdeeds.map(({ text }) => `the ERP saw: ${text}`));
  }

  async #report(began: number): Promise<LifeReport> {
    const { erp, hostility, installation, practice, seed, story, wrong } = this.#world;
    const count = async (sql: string) => (await this.#world.asked<{ n: number }>(sql, [installation.id]))[0]?.n ?? 0;
    const struck = Object.fromEntries(practice.struck);
    const requestsStruck = Object.values(struck).reduce((sum, n) => sum + n, 0);
    return {
      ...{ seed, world: 'an installation', wrong, story, ends: this.#ends, struck },
      counts: {
        entries: await count('select count(*)::int as n from entry where installation = ?'),
        delivered: await count(
          `select count(*)::int as n from erp_unit where installation = ? and state = 'delivered'`,
        ),
        ...{ culprits: hostility.culprits.size, faults: (erp?.faults ?? 0) + requestsStruck },
        ...{ deaths: this.#workers.deaths, 'attempts given up': this.#temporal.repeated },
        'simulated hours': this.#world.simulatedHours,
      },
      seconds: (performance.now() - began) / 1_000,
    };
  }
}
