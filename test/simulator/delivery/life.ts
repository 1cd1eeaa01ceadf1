// One seeded life: an ERP with the behaviour of a record, a practice that posts and corrects, processes that die, and connections that fail.

import { Rng } from '../../../sandbox/src/rng.ts';
import type { InstallationConfig } from '../../../src/config/load-config.ts';
import type { Db } from '../../../src/db/pool.ts';
import { companyOf } from '../../../src/erp/company.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import type { Life, UnderWay } from '../../erp/fake/target.ts';
import type { LifeReport } from '../life.ts';
import type { Troubles } from '../mortal.ts';
import { type Databases, Stage } from '../stage.ts';
import { cloudErp } from './cloud.ts';
import { fakeErp, type LifeErp } from './erp.ts';
import { installationOf } from './installation.ts';
import { Network } from './network.ts';
import { odooErp } from './odoo/erp.ts';
import { Oracle, type OutboxState } from './oracle.ts';
import { miscounts, outboxStates } from './outbox.ts';
import { People } from './people.ts';
import { append, type PlannedEntry, plan } from './plan.ts';
import { DeliveringProcess } from './process.ts';
import { reviewBooks } from './review.ts';
import { adoptRival, deliverAsRival, forgetDeliveries } from './rival.ts';
import { type DeliveryTraits, erpsOf } from './traits.ts';

const start = Date.parse('2026-03-06T06:00:00Z');
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The time without disturbances after which everything must be settled. A limit per day may be used up at its start. */
const calmMs = 5 * dayMs;
/** Requests that an entry may take under a low limit per day: each time the limit ends a slice, the next one searches again. */
const requestsPerEntry = 12;
/** How long an operator tries to adopt. A limit per day may be used up more than once. */
const adoptionMs = 3 * dayMs;
/** With more slices than this, a delivery repeats itself without end. */
const mostSlices = 5_000;

/** Plays a life. `n` must be different for each life in a database. */
export async function liveDelivery(
  databases: Databases,
  seed: number,
  n: number,
  traits: DeliveryTraits,
): Promise<LifeReport> {
  return new DeliveryLife(databases, seed, n, traits).play();
}

class DeliveryLife {
  readonly #stage: Stage;
  readonly #traits: DeliveryTraits;
  readonly #rng: Rng;
  readonly #network: Network;
  readonly #people: People;
  readonly #rivalRng: Rng;
  /** Units that another database posted before the life. */
  readonly #rivalled: string[];
  readonly #underWay: UnderWay = new Set();
  readonly #erp: LifeErp;
  readonly #planned: PlannedEntry[];
  readonly #troubles: Troubles;
  readonly #installations: InstallationConfig[];
  readonly #alive = new Set<DeliveringProcess>();
  /** The oracle of the life, which is made when the life begins. */
  #oracle!: Oracle;
  #db!: Db;
  #isOver = false;
  #slices = 0;
  #deaths = 0;

  constructor(databases: Databases, seed: number, n: number, traits: DeliveryTraits) {
    this.#stage = new Stage(databases, seed, start);
    this.#traits = traits;
    this.#troubles = { ...traits.troubles };
    this.#rng = new Rng(seed, 'round');
    const isOf = (world: 'odoo' | 'cloud') => erpsOf[world].includes(traits.erp);
    this.#erp = (isOf('odoo') ? odooErp : isOf('cloud') ? cloudErp : fakeErp)(traits, seed, this.#stage.time);
    const ids = Array.from({ length: traits.installations }, (_, at) => n * 10 + at + 1);
    this.#installations = ids.map((id) => installationOf(id, n, this.#erp.words));
    this.#rivalRng = new Rng(seed, 'adoption');
    const { troubleMs, documents, flawShare } = traits;
    const span = { fromMs: start, throughMs: start + troubleMs };
    this.#planned = plan(new Rng(seed, 'practice'), { installations: ids, documents, flawShare, ...span });
    // The earliest units, because a correction must not be delivered before the entry that it corrects.
    const rivalled = Math.floor(this.#planned.length * traits.rival);
    this.#rivalled = this.#planned.slice(0, rivalled).map(({ unitId }) => unitId);
    this.#network = new Network({
      ...{ stage: this.#stage, traits, erp: this.#erp, rng: this.#rng, entries: this.#planned.length },
      giveUp: (why) => this.#giveUp(why),
    });
    this.#people = new People({
      ...{ stage: this.#stage, erp: this.#erp, rng: this.#rng, installations: this.#installations },
      db: () => this.#db,
      wake: () => {
        for (const process of this.#alive) process.wake();
      },
    });
  }

  async play(): Promise<LifeReport> {
    const began = performance.now();
    const databaseId = await this.#stage.databaseId();
    const oracle = new Oracle(this.#erp.judged, databaseId, this.#planned, {
      isPaceJudged: this.#traits.troubles.stands === 0,
    });
    this.#oracle = oracle;
    this.#stage.tell(JSON.stringify(this.#traits));
    const outside = this.#stage.databases.simulated.open(this.#stage.time, {
      isDead: false,
      step: async () => undefined,
    });
    this.#db = outside.db;
    let lives: Promise<void>[] = [];
    try {
      if (this.#rivalled.length > 0) await this.#stage.time.run(this.#playRival(oracle));
      lives = Array.from({ length: this.#traits.processes }, (_, at) => this.#lives(at, databaseId));
      await this.#stage.time.run(this.#trouble(oracle));
      this.#stage.isCalm = true;
      Object.assign(this.#troubles, { dies: 0, diesSending: 0, stands: 0 });
      this.#stage.tell('it is calm');
      this.#stage.wrong.push(...oracle.judgeNow(await this.#states()), ...(await this.#miscounts()));
      if (this.#stage.wrong.length === 0 && oracle.wrong.length === 0) {
        await this.#stage.time.run(this.#calm());
        this.#stage.wrong.push(...oracle.judgeAtEnd(await this.#states()));
        if (this.#stage.wrong.length === 0 && this.#erp.isReviewed)
          this.#stage.wrong.push(...(await this.#stage.time.run(this.#review(databaseId))));
      }
    } catch (error) {
      this.#stage.wrong.push(`the life failed: ${told(error)}`);
    } finally {
      this.#isOver = true;
      for (const process of this.#alive) process.die();
      await this.#stage.time.run(Promise.all(lives));
    }
    this.#stage.wrong.push(...oracle.wrong);
    const states = await this.#states();
    this.#stage.wrong.push(...(await this.#miscounts()));
    await outside.release();
    const count = (wanted: string) => states.filter(({ state }) => state === wanted).length;
    return {
      ...{ seed: this.#stage.seed, world: `delivery to ${this.#traits.erp}`, wrong: [...new Set(this.#stage.wrong)] },
      ...{ story: this.#stage.story, ends: {}, struck: {}, seconds: (performance.now() - began) / 1000 },
      counts: {
        ...{ entries: this.#planned.length, delivered: count('delivered'), 'refused for a reason': count('refused') },
        ...{ 'requests to the ERP': this.#network.requests, faults: this.#network.faults, deaths: this.#deaths },
        'simulated hours': this.#stage.simulatedHours,
      },
    };
  }

  /** The events beside delivery, until everything is posted and the disturbances have ended. */
  async #trouble(oracle: Oracle): Promise<void> {
    const { troubleMs, locks } = this.#traits;
    const happenings: Promise<void>[] = [this.#post()];
    for (let left = locks; left > 0; left--) happenings.push(this.#people.lock(oracle, this.#rng.int(0, troubleMs)));
    for (let left = this.#traits.mishaps; left > 0; left--)
      happenings.push(this.#people.mishap(this.#rng.int(0, troubleMs)));
    for (let left = this.#rng.int(0, 2); left > 0; left--)
      happenings.push(this.#people.retry(this.#rng.int(0, troubleMs)));
    if (this.#rivalled.length > 0) happenings.push(this.#adopt(oracle, this.#rivalRng.int(0, troubleMs / 2)));
    happenings.push(this.#stage.time.sleep(troubleMs));
    await Promise.all(happenings);
  }

  /** The other database delivers its share without disturbances. Then our database begins without records of deliveries. */
  async #playRival(oracle: Oracle): Promise<void> {
    const share = this.#planned.filter(({ unitId }) => this.#rivalled.includes(unitId));
    await this.#stage.outside(() => append(this.#db, share));
    const was = this.#stage.isCalm;
    this.#stage.isCalm = true;
    const life = { isDead: false, step: async () => undefined };
    const [db, time, installations] = [this.#db, this.#stage.time, this.#installations] as const;
    await deliverAsRival({ db, time, installations, open: () => this.#open(life) });
    this.#stage.isCalm = was;
    await this.#stage.outside(() => forgetDeliveries(db, installations));
    this.#stage.tell('another database has delivered its share; this one begins');
    oracle.noteRival();
  }

  /** An operator adopts the other database's entries, and again if an incomplete search has missed some. */
  async #adopt(oracle: Oracle, afterMs: number): Promise<void> {
    await this.#stage.time.sleep(afterMs);
    const beganMs = this.#stage.time.nowMs;
    const life = { isDead: false, step: async () => undefined };
    // A separate process: its requests do not take turns with those of a delivery.
    const ports = { db: this.#db, time: this.#stage.time, open: () => this.#open(life, new Set()) };
    const databaseId = await this.#stage.outside(() => this.#stage.databaseId());
    while (oracle.rivalled.size > 0 && oracle.wrong.length === 0) {
      const triedMs = this.#stage.time.nowMs - beganMs;
      if (this.#isOver || triedMs > adoptionMs) return;
      for (const installation of this.#installations) {
        const entries = oracle.rivalled.get(installation.id);
        if (entries === undefined || (await adoptRival(ports, databaseId, installation)) < entries) continue;
        this.#stage.tell(`the entries of the other database are adopted for ${installation.id}`);
        oracle.rivalled.delete(installation.id);
        for (const process of this.#alive) process.wake();
      }
      // After an hour, it is no short fault, and the operator comes back every hour.
      await this.#stage.time.sleep(triedMs < hourMs ? 30_000 : hourMs);
    }
  }

  async #post(): Promise<void> {
    for (let at = this.#rivalled.length; at < this.#planned.length; ) {
      const atMs = this.#planned[at]?.atMs ?? 0;
      if (atMs > this.#stage.time.nowMs) await this.#stage.time.sleep(atMs - this.#stage.time.nowMs);
      const due = this.#planned.slice(at).filter((entry) => entry.atMs <= this.#stage.time.nowMs);
      await this.#stage.outside(() => append(this.#db, due));
      for (const process of this.#alive) process.wake();
      at += due.length;
    }
  }

  /** A user changes posted entries by hand. The comparison of the books must name exactly these entries. */
  #review(databaseId: string): Promise<string[]> {
    const [life] = this.#alive;
    const target = this.#open(life ?? { isDead: false, step: async () => undefined });
    const rng = new Rng(this.#stage.seed, 'by hand');
    const ports = { db: this.#db, databaseId, target, time: this.#stage.time, erp: this.#erp, rng };
    return reviewBooks({ ...ports, installations: this.#installations, tell: (line) => this.#stage.tell(line) });
  }

  /** Without disturbances, all work must end, also after one more retry of refused entries. */
  async #calm(): Promise<void> {
    this.#erp.unlock();
    const { dayLimit } = this.#traits;
    const days = dayLimit === null ? 0 : (this.#planned.length * requestsPerEntry) / dayLimit;
    const untilMs = this.#stage.time.nowMs + Math.max(calmMs, days * dayMs);
    const settle = async () => {
      while (this.#stage.time.nowMs < untilMs && !this.#isOver && !(await this.#isSettled()))
        await this.#stage.time.sleep(300_000);
    };
    await settle();
    await this.#people.retry(0);
    await settle();
    // Each process must end after this request.
    for (const process of this.#alive) process.stop();
  }

  async #isSettled(): Promise<boolean> {
    return this.#stage.time.nowMs > this.#network.lateUntilMs && this.#oracle.isSettled(await this.#states());
  }

  /** Runs one worker after the other; each replaces one that died. */
  async #lives(place: number, databaseId: string): Promise<void> {
    const rng = new Rng(this.#stage.seed, `process ${place}`);
    for (let n = 1; !this.#isOver; n++) {
      // In Temporal, the next attempt of an activity has another name, or the same name if the same worker runs it.
      const holder = rng.chance(0.3) ? `process ${place}` : `process ${place}, life ${n}`;
      const process = new DeliveringProcess({
        ...{ holder, place, databaseId, time: this.#stage.time, database: this.#stage.databases.simulated, rng },
        troubles: this.#troubles,
        installations: this.#installations,
        open: (life) => this.#open(life),
        tell: (line) => this.#stage.tell(line),
        onSlice: () => this.#countSlice(),
        onFailed: (error) => this.#failed(error),
      });
      this.#alive.add(process);
      const end = await process.live();
      this.#alive.delete(process);
      if (end === 'stopped' || this.#isOver) return;
      this.#deaths += 1;
      await this.#stage.time.sleep(rng.pick([0, 5_000, 60_000, 600_000]));
    }
  }

  #open(life: Life, underWay = this.#underWay): ErpTarget {
    const [first] = this.#installations;
    if (first?.erp.kind !== 'tryton') throw new Error('this life has no ERP');
    return this.#erp.open({
      ...{ life, timeoutMs: this.#traits.timeoutMs, underWay },
      company: companyOf(first.erp),
      network: (request) => this.#network.circumstances(request),
      onError: ({ kind, keys }, { problem, message }) => {
        this.#stage.tell(`  ${kind} of ${keys.length}: ${message}`);
        if (problem === 'erp_refused_unknown') this.#oracle.noteUnknown(keys);
      },
    });
  }

  #countSlice(): void {
    this.#slices += 1;
    if (this.#slices > mostSlices) this.#giveUp(`${mostSlices} slices, and delivery does not come to rest`);
  }

  #giveUp(why: string): void {
    if (this.#isOver) return;
    this.#stage.wrong.push(why);
    this.#isOver = true;
    for (const process of this.#alive) process.die();
  }

  #failed(error: unknown): void {
    this.#stage.wrong.push(`a slice failed: ${told(error)}`);
    this.#stage.tell(`failed: ${error instanceof Error ? error.stack : String(error)}`);
  }

  #states(): Promise<OutboxState[]> {
    return this.#stage.outside(() => outboxStates(this.#db, this.#ids()));
  }

  #miscounts(): Promise<string[]> {
    return this.#stage.outside(() => miscounts(this.#db, this.#ids()));
  }

  #ids(): number[] {
    return this.#installations.map(({ id }) => id);
  }
}

function told(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
