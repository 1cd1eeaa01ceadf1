// One seeded life: an ERP with the behaviour of a record, a practice that posts and corrects, processes that die, and connections that fail.

import { Rng } from '../../../sandbox/src/rng.ts';
import type { InstallationConfig } from '../../../src/config/load-config.ts';
import type { Db } from '../../../src/db/pool.ts';
import { companyOf } from '../../../src/erp/company.ts';
import { retryUnits } from '../../../src/erp/outbox/state.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import {
  type Circumstances,
  calm,
  type Fault,
  type Life,
  type RequestInfo,
  type UnderWay,
} from '../../erp/fake/target.ts';
import { SimulatedTime } from '../../erp/fake/time.ts';
import { query } from '../../support/sql.ts';
import type { LifeReport } from '../life.ts';
import type { Troubles } from '../mortal.ts';
import type { Databases } from '../world.ts';
import { fakeErp, type LifeErp } from './erp.ts';
import { installationOf } from './installation.ts';
import { odooErp } from './odoo/erp.ts';
import { Oracle, type OutboxState } from './oracle.ts';
import { append, dates, type PlannedEntry, plan } from './plan.ts';
import { DeliveringProcess } from './process.ts';
import { reviewBooks } from './review.ts';
import { adoptRival, deliverAsRival, forgetDeliveries } from './rival.ts';
import { type DeliveryTraits, erpsOf } from './traits.ts';

const start = Date.parse('2026-03-06T06:00:00Z');
const hourMs = 3_600_000;
/** The longest delay of a late draft, in multiples of the ERP's working time. The last search for drafts comes after 60 of them. */
const latestOfWork = 40;
/** The time without disturbances after which everything must be settled. A limit per day may be used up at its start. */
const calmMs = 5 * 24 * hourMs;
const mostStory = 400;
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
  readonly #databases: Databases;
  readonly #seed: number;
  readonly #traits: DeliveryTraits;
  readonly #rng: Rng;
  readonly #network: Rng;
  readonly #lateness: Rng;
  readonly #rivalRng: Rng;
  /** Units that another database posted before the round. */
  readonly #rivalled: string[];
  readonly #time = new SimulatedTime(start);
  readonly #story: string[] = [];
  readonly #wrong: string[] = [];
  readonly #underWay: UnderWay = new Set();
  readonly #erp: LifeErp;
  readonly #planned: PlannedEntry[];
  readonly #troubles: Troubles;
  readonly #installations: InstallationConfig[];
  readonly #alive = new Set<DeliveringProcess>();
  readonly #outages: { fromMs: number; throughMs: number; fault: Fault }[] = [];
  /** Set when the round begins. */
  #oracle!: Oracle;
  #db!: Db;
  #isCalm = false;
  #isOver = false;
  /** Until this time, the server works on requests whose clients no longer wait. */
  #lateUntilMs = 0;
  #requests = 0;
  #slices = 0;
  #faults = 0;
  #deaths = 0;

  constructor(databases: Databases, seed: number, n: number, traits: DeliveryTraits) {
    this.#databases = databases;
    this.#seed = seed;
    this.#traits = traits;
    this.#troubles = { ...traits.troubles };
    this.#rng = new Rng(seed, 'round');
    this.#network = new Rng(seed, 'network');
    this.#lateness = new Rng(seed, 'lateness');
    const isOdoo = erpsOf.odoo.includes(traits.erp);
    this.#erp = (isOdoo ? odooErp : fakeErp)(traits, seed, this.#time);
    const ids = Array.from({ length: traits.installations }, (_, at) => n * 10 + at + 1);
    this.#installations = ids.map((id) => installationOf(id, n));
    this.#rivalRng = new Rng(seed, 'adoption');
    const { troubleMs, documents, flawShare } = traits;
    const span = { fromMs: start, throughMs: start + troubleMs };
    this.#planned = plan(new Rng(seed, 'practice'), { installations: ids, documents, flawShare, ...span });
    // The earliest units, because a correction must not be delivered before the entry that it corrects.
    const rivalled = Math.floor(this.#planned.length * traits.rival);
    this.#rivalled = this.#planned.slice(0, rivalled).map(({ unitId }) => unitId);
    for (let left = traits.outages; left > 0; left--) {
      const fromMs = this.#rng.int(start, start + troubleMs);
      const fault = this.#rng.pick<Fault>(['unreachable', 'page', 'busy', 'auth', 'request_lost', 'answer_lost']);
      this.#outages.push({ fromMs, throughMs: fromMs + this.#rng.int(60_000, hourMs), fault });
    }
  }

  async play(): Promise<LifeReport> {
    const began = performance.now();
    const databaseId = await this.#databaseId();
    const oracle = new Oracle(this.#erp.judged, databaseId, this.#planned, {
      isPaceJudged: this.#traits.troubles.stands === 0,
    });
    this.#oracle = oracle;
    this.#tell(JSON.stringify(this.#traits));
    const outside = this.#databases.simulated.open(this.#time, { isDead: false, step: async () => undefined });
    this.#db = outside.db;
    let lives: Promise<void>[] = [];
    try {
      if (this.#rivalled.length > 0) await this.#time.run(this.#playRival(oracle));
      lives = Array.from({ length: this.#traits.processes }, (_, at) => this.#lives(at, databaseId));
      await this.#time.run(this.#trouble(oracle));
      this.#isCalm = true;
      Object.assign(this.#troubles, { dies: 0, diesSending: 0, stands: 0 });
      this.#tell('it is calm');
      this.#wrong.push(...oracle.judgeNow(await this.#states()), ...(await this.#miscounts()));
      if (this.#wrong.length === 0 && oracle.wrong.length === 0) {
        await this.#time.run(this.#calm());
        this.#wrong.push(...oracle.judgeAtEnd(await this.#states()));
        if (this.#wrong.length === 0 && this.#erp.isReviewed)
          this.#wrong.push(...(await this.#time.run(this.#review(databaseId))));
      }
    } catch (error) {
      this.#wrong.push(`the life failed: ${told(error)}`);
    } finally {
      this.#isOver = true;
      for (const process of this.#alive) process.die();
      await this.#time.run(Promise.all(lives));
    }
    this.#wrong.push(...oracle.wrong);
    const states = await this.#states();
    this.#wrong.push(...(await this.#miscounts()));
    await outside.release();
    const count = (wanted: string) => states.filter(({ state }) => state === wanted).length;
    return {
      ...{ seed: this.#seed, world: `delivery to ${this.#traits.erp}`, wrong: [...new Set(this.#wrong)] },
      ...{ story: this.#story, ends: {}, struck: {}, seconds: (performance.now() - began) / 1000 },
      counts: {
        ...{ entries: this.#planned.length, delivered: count('delivered'), 'refused for a reason': count('refused') },
        ...{ 'requests to the ERP': this.#requests, faults: this.#faults, deaths: this.#deaths },
        'simulated hours': Math.round((this.#time.nowMs - start) / hourMs),
      },
    };
  }

  /** The events beside delivery, until everything is posted and the disturbances have ended. */
  async #trouble(oracle: Oracle): Promise<void> {
    const { troubleMs, locks } = this.#traits;
    const happenings: Promise<void>[] = [this.#post()];
    for (let left = locks; left > 0; left--) happenings.push(this.#lock(oracle, this.#rng.int(0, troubleMs)));
    for (let left = this.#traits.mishaps; left > 0; left--) happenings.push(this.#mishap(this.#rng.int(0, troubleMs)));
    for (let left = this.#rng.int(0, 2); left > 0; left--) happenings.push(this.#retry(this.#rng.int(0, troubleMs)));
    if (this.#rivalled.length > 0) happenings.push(this.#adopt(oracle, this.#rivalRng.int(0, troubleMs / 2)));
    happenings.push(this.#time.sleep(troubleMs));
    await Promise.all(happenings);
  }

  /** The other database delivers its share without disturbances. Then our database begins without records of deliveries. */
  async #playRival(oracle: Oracle): Promise<void> {
    const share = this.#planned.filter(({ unitId }) => this.#rivalled.includes(unitId));
    await this.#outside(() => append(this.#db, share));
    const was = this.#isCalm;
    this.#isCalm = true;
    const life = { isDead: false, step: async () => undefined };
    const [db, time, installations] = [this.#db, this.#time, this.#installations] as const;
    await deliverAsRival({ db, time, installations, open: () => this.#open(life) });
    this.#isCalm = was;
    await this.#outside(() => forgetDeliveries(db, installations));
    this.#tell('another database has delivered its share; this one begins');
    const theirs = new Set(this.#erp.judged.held().flatMap(({ key }) => key ?? []));
    oracle.noteRival(installations.map(({ id }) => id).filter((id) => oracle.hasRival(id, theirs)));
  }

  /** An operator adopts the other database's entries after delivery has seen them. */
  async #adopt(oracle: Oracle, afterMs: number): Promise<void> {
    await this.#time.sleep(afterMs);
    const life = { isDead: false, step: async () => undefined };
    const ports = { db: this.#db, time: this.#time, open: () => this.#open(life) };
    const databaseId = await this.#outside(() => this.#databaseId());
    for (let left = 2_000; left > 0 && oracle.rivalled.size > 0 && oracle.wrong.length === 0; left--) {
      if (this.#isOver) return;
      for (const installation of this.#installations) {
        if (!oracle.rivalled.has(installation.id)) continue;
        if (!(await adoptRival(ports, databaseId, installation))) continue;
        this.#tell(`the entries of the other database are adopted for ${installation.id}`);
        oracle.rivalled.delete(installation.id);
        for (const process of this.#alive) process.wake();
      }
      await this.#time.sleep(30_000);
    }
  }

  async #post(): Promise<void> {
    for (let at = this.#rivalled.length; at < this.#planned.length; ) {
      const atMs = this.#planned[at]?.atMs ?? 0;
      if (atMs > this.#time.nowMs) await this.#time.sleep(atMs - this.#time.nowMs);
      const due = this.#planned.slice(at).filter((entry) => entry.atMs <= this.#time.nowMs);
      await this.#outside(() => append(this.#db, due));
      for (const process of this.#alive) process.wake();
      at += due.length;
    }
  }

  async #lock(oracle: Oracle, afterMs: number): Promise<void> {
    await this.#time.sleep(afterMs);
    const through = this.#rng.pick(dates);
    oracle.noteLock(through);
    this.#tell(`the ERP is closed through ${through}: ${this.#erp.lock(through)}`);
    await this.#time.sleep(this.#rng.int(60_000, hourMs));
    this.#tell('the ERP is open');
    this.#erp.unlock();
  }

  async #mishap(afterMs: number): Promise<void> {
    await this.#time.sleep(afterMs);
    const mishap = this.#erp.mishap();
    if (mishap === null) return;
    this.#tell(mishap.is);
    await this.#time.sleep(this.#rng.int(60_000, hourMs));
    this.#tell(`over: ${mishap.is}`);
    mishap.end();
  }

  /** Changes posted entries manually. The comparison of the books must report these entries and no others. */
  #review(databaseId: string): Promise<string[]> {
    const [life] = this.#alive;
    const target = this.#open(life ?? { isDead: false, step: async () => undefined });
    const rng = new Rng(this.#seed, 'by hand');
    const ports = { db: this.#db, databaseId, target, time: this.#time, erp: this.#erp, rng };
    return reviewBooks({ ...ports, installations: this.#installations, tell: (line) => this.#tell(line) });
  }

  /** An operator sends refused entries again, whether their cause is corrected or not. */
  async #retry(afterMs: number): Promise<void> {
    await this.#time.sleep(afterMs);
    await this.#outside(async () => {
      for (const { id } of this.#installations) {
        const by = { actedBy: 'somebody', reason: 'corrected' };
        const ids = await this.#db.transaction((trx) => retryUnits(trx, id, null, by));
        this.#tell(`retried: ${ids.join(' ') || 'none'}`);
      }
    });
    for (const process of this.#alive) process.wake();
  }

  /** Without disturbances, all work must end, also after one more retry of refused entries. */
  async #calm(): Promise<void> {
    this.#erp.unlock();
    const untilMs = this.#time.nowMs + calmMs;
    const settle = async () => {
      while (this.#time.nowMs < untilMs && !this.#isOver && !(await this.#isSettled())) await this.#time.sleep(300_000);
    };
    await settle();
    await this.#retry(0);
    await settle();
    // Each process must end after this request.
    for (const process of this.#alive) process.stop();
  }

  async #isSettled(): Promise<boolean> {
    return this.#time.nowMs > this.#lateUntilMs && this.#oracle.isSettled(await this.#states());
  }

  /** Runs one worker after the other; each replaces one that died. */
  async #lives(place: number, databaseId: string): Promise<void> {
    const rng = new Rng(this.#seed, `process ${place}`);
    for (let n = 1; !this.#isOver; n++) {
      // In Temporal, the next attempt of an activity has another name, or the same name if the same worker runs it.
      const holder = rng.chance(0.3) ? `process ${place}` : `process ${place}, life ${n}`;
      const process = new DeliveringProcess({
        ...{ holder, place, databaseId, time: this.#time, database: this.#databases.simulated, rng },
        troubles: this.#troubles,
        installations: this.#installations,
        open: (life) => this.#open(life),
        tell: (line) => this.#tell(line),
        onSlice: () => this.#countSlice(),
        onFailed: (error) => this.#failed(error),
      });
      this.#alive.add(process);
      const end = await process.live();
      this.#alive.delete(process);
      if (end === 'stopped' || this.#isOver) return;
      this.#deaths += 1;
      await this.#time.sleep(rng.pick([0, 5_000, 60_000, 600_000]));
    }
  }

  #open(life: Life): ErpTarget {
    const [first] = this.#installations;
    if (first?.erp.kind !== 'tryton') throw new Error('this life has no ERP');
    return this.#erp.open({
      ...{ life, timeoutMs: this.#traits.timeoutMs, underWay: this.#underWay },
      company: companyOf(first.erp),
      network: (request) => this.#circumstances(request),
      onError: ({ kind, keys }, { problem, message }) => {
        this.#tell(`  ${kind} of ${keys.length}: ${message}`);
        if (problem === 'erp_refused_unknown') this.#oracle.noteUnknown(keys);
      },
    });
  }

  /** The course of a request. */
  #circumstances({ kind, keys }: RequestInfo): Circumstances {
    const rng = this.#network;
    this.#requests += 1;
    const { requestsPerCall } = this.#erp;
    const most = (150 + 40 * this.#planned.length) * requestsPerCall;
    if (this.#requests > most) this.#giveUp(`${most} requests, and delivery does not come to an end`);
    if (this.#isCalm) return calm;
    const { faults, slow, timeoutMs } = this.#traits;
    const mayWorkMs = this.#erp.judged.record.capabilities.doubt.server_may_work_seconds * 1000;
    const usual = { outMs: rng.int(5, 100), workMs: rng.int(20, 3_000), backMs: rng.int(5, 100) };
    const isWriting = kind === 'create' || kind === 'post';
    const way = rng.chance(isWriting ? slow : slow / 4)
      ? { ...usual, workMs: rng.int(timeoutMs / 2, mayWorkMs) }
      : usual;
    const outage = this.#outages.find((one) => one.fromMs <= this.#time.nowMs && this.#time.nowMs < one.throughMs);
    const share = isWriting ? faults : faults / requestsPerCall;
    const fault = outage?.fault ?? (rng.chance(share) ? rng.pick(faultsOf(kind)) : 'none');
    if (fault !== 'none') this.#faults += 1;
    const lateMs = kind === 'create' ? this.#lateMs(mayWorkMs) : 0;
    const late = lateMs === 0 ? '' : `, ${Math.round(lateMs / 1000)} s late`;
    this.#tell(`  ${kind} of ${keys.length}${fault === 'none' ? '' : `: ${fault}`}, ${way.workMs} ms${late}`);
    return { ...way, lateMs, fault };
  }

  /** The time between the end of the record's working time and the effect of a late creation. */
  #lateMs(mayWorkMs: number): number {
    const rng = this.#lateness;
    const most = rng.pick([1, 5, latestOfWork]);
    if (!rng.chance(this.#traits.late) || !this.#erp.canSweepLate) return 0;
    const lateMs = rng.int(1_000, most * mayWorkMs);
    this.#lateUntilMs = Math.max(this.#lateUntilMs, this.#time.nowMs + mayWorkMs + lateMs);
    return lateMs;
  }

  #countSlice(): void {
    this.#slices += 1;
    if (this.#slices > mostSlices) this.#giveUp(`${mostSlices} slices, and delivery does not come to rest`);
  }

  #giveUp(why: string): void {
    if (this.#isOver) return;
    this.#wrong.push(why);
    this.#isOver = true;
    for (const process of this.#alive) process.die();
  }

  #failed(error: unknown): void {
    this.#wrong.push(`a slice failed: ${told(error)}`);
    this.#tell(`failed: ${error instanceof Error ? error.stack : String(error)}`);
  }

  async #states(): Promise<OutboxState[]> {
    const ids = this.#installations.map(({ id }) => id);
    return this.#outside(() =>
      query<OutboxState>(
        this.#db,
        `select unit_id as "unitId", state, problem_code as problem, exists (
           select from erp_sweep s where s.installation = u.installation and s.unit_id = u.unit_id) as "isSweptLater"
         from erp_unit u where installation = any(?::bigint[]) order by installation, seq`,
        [ids],
      ),
    );
  }

  /** Installations whose stored number of delivered units is wrong. */
  async #miscounts(): Promise<string[]> {
    const found = await this.#outside(() =>
      query<{ id: number; n: number; counted: number }>(
        this.#db,
        `select i.id, (select count(*) from erp_unit where installation = i.id and state = 'delivered')::int as n,
           coalesce((select n from erp_delivered where installation = i.id), 0)::int as counted
         from unnest(?::bigint[]) i(id)`,
        [this.#installations.map(({ id }) => id)],
      ),
    );
    return found.flatMap(({ id, n, counted }) =>
      n === counted ? [] : [`installation ${id}: ${n} entries are delivered, and ${counted} are counted`],
    );
  }

  async #databaseId(): Promise<string> {
    const [row] = await query<{ value: string }>(
      this.#databases.owner,
      `select value from meta where key = 'database_id'`,
    );
    return row?.value ?? '';
  }

  /** Runs work that takes no simulated time. */
  async #outside<Result>(work: () => Promise<Result>): Promise<Result> {
    const end = this.#time.begin();
    try {
      return await work();
    } finally {
      end();
    }
  }

  #tell(line: string): void {
    const seconds = ((this.#time.nowMs - start) / 1000).toFixed(1);
    this.#story.push(`${seconds} s: ${line}`);
    if (this.#story.length > mostStory) this.#story.splice(1, 1);
  }
}

/** The possible faults of a request of this kind. */
function faultsOf(kind: RequestInfo['kind']): readonly Fault[] {
  const any: Fault[] = ['unreachable', 'request_lost', 'answer_lost', 'page', 'throttled', 'busy', 'auth', 'strange'];
  if (kind === 'find') return [...any, 'truncated', 'truncated', 'truncated'];
  if (kind === 'create') {
    return [...any, 'answer_lost', 'answer_lost', 'page_though_done', 'strange_though_done', 'half', 'server_dies'];
  }
  if (kind === 'post') return [...any, 'answer_lost', 'page_though_done', 'strange_though_done', 'server_dies'];
  return any;
}

function told(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
