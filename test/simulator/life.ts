// One seeded life of an installation: a clinic, workers that follow it, PostgreSQL, and an ERP. A fault can occur
// between any two calls: a worker dies, an answer is lost after its effect, or a call is done twice or by an abandoned
// worker.

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { Rng } from '../../sandbox/src/rng.ts';
import { addDays } from '../../sandbox/src/zone.ts';
import { decideAll } from '../../src/bookkeeping/decide-many.ts';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import { type Db, openDatabase } from '../../src/db/pool.ts';
import { companyOf } from '../../src/erp/company.ts';
import { closePeriods } from '../../src/ledger/close.ts';
import { parseMapping } from '../../src/mapping/parse.ts';
import { Budget } from '../../src/practice/budget.ts';
import type { DocumentRef } from '../../src/terms.ts';
import { erpSection } from '../chaos/processes/erp-wire.ts';
import { records } from '../erp/fake/records.ts';
import { FakeServer } from '../erp/fake/server.ts';
import {
  type Circumstances,
  calm,
  FakeTarget,
  type Fault,
  type Life as ProcessLife,
  type UnderWay,
} from '../erp/fake/target.ts';
import { SimulatedTime } from '../erp/fake/time.ts';
import { installationOf } from '../erp/rounds/round.ts';
import { demoMapping } from '../support/demo-config.ts';
import { query } from '../support/sql.ts';
import { SimulatedDatabase, simulateClock } from './database.ts';
import { Hostility, prepareRefusals } from './hostility.ts';
import { judge } from './judge.ts';
import type { Troubles } from './mortal.ts';
import { baseUrl, SimulatedPractice } from './practice.ts';
import { simulateTimers, WorkerProcess } from './process.ts';
import { Staff } from './staff.ts';
import { SimulatedTemporal, type WindowOptions } from './temporal.ts';
import { type Traits, traitsOf } from './traits.ts';

export interface LifeReport {
  seed: number;
  /** The failed conditions; empty if there are none. */
  wrong: string[];
  story: string[];
  /** The number of windows by outcome. */
  ends: Record<string, number>;
  /** The number of affected answers by fault of the source. */
  struck: Record<string, number>;
  entries: number;
  delivered: number;
  culprits: number;
  deaths: number;
  repeated: number;
  faults: number;
  simulatedHours: number;
  seconds: number;
}

export interface Databases {
  /** A pool with the owner of the tables. */
  owner: Db;
  simulated: SimulatedDatabase;
}

const hourMs = 3_600_000;
const minuteMs = 60_000;
const calmMs = 24 * hourMs;
const mostStory = 600;
const erpTimeoutMs = 20_000;
const scrubDays = 0.05;

const mapping = readMapping();

/** Prepares a database for lives. */
export async function prepareDatabase({ owner }: Pick<Databases, 'owner'>): Promise<void> {
  await simulateClock(owner);
  await prepareRefusals(owner);
}

/** Opens the databases of lives. */
export function openDatabases({ url, ownerUrl }: { url: string; ownerUrl: string }) {
  return { owner: openDatabase(ownerUrl), simulated: new SimulatedDatabase(url) };
}

/** Plays a seed. `n` must be different for each life in a database. `given` replaces some of the seed's traits. */
export function live(databases: Databases, seed: number, n: number, given: Partial<Traits> = {}): Promise<LifeReport> {
  return new Life(databases, seed, n, traitsOf(seed, given)).live();
}

class Life {
  readonly #databases: Databases;
  readonly #seed: number;
  readonly #traits: Traits;
  readonly #rng: Rng;
  readonly #clocks: Rng;
  readonly #network: Rng;
  readonly #time: SimulatedTime;
  readonly #practice: SimulatedPractice;
  readonly #staff: Staff;
  readonly #hostility: Hostility;
  readonly #installation: InstallationConfig;
  readonly #erp: FakeServer | null;
  readonly #underWay: UnderWay = new Set();
  readonly #troubles: Troubles;
  readonly #temporal: SimulatedTemporal;
  readonly #alive = new Set<WorkerProcess>();
  readonly #story: string[] = [];
  readonly #wrong: string[] = [];
  readonly #ends: Record<string, number> = {};
  readonly #confirmed = new Set<string>();
  #closedThrough: string | null = null;
  /** A backfill that did not close may leave its lease until it expires. */
  #isBackfillLeft = false;
  #isCalm = false;
  #isOver = false;
  #breaks: number;
  #deaths = 0;
  #faults = 0;

  constructor(databases: Databases, seed: number, n: number, traits: Traits) {
    this.#databases = databases;
    this.#seed = seed;
    this.#traits = traits;
    this.#troubles = { ...traits.troubles };
    this.#breaks = traits.breaks;
    this.#rng = new Rng(seed, 'life');
    this.#clocks = new Rng(seed, 'clocks');
    this.#network = new Rng(seed, 'network');
    this.#time = new SimulatedTime(traits.startMs);
    simulateTimers();
    const time = this.#time;
    const tell = (line: string) => this.#tell(line);
    const { erp, ...base } = installationOf(n, n);
    this.#installation = {
      ...{ ...base, erp: traits.erp === null ? { kind: 'ledger' } : erp, mapping, baseUrl },
      dialect: { ...base.dialect, installation: n },
      ...{ overlapSeconds: traits.overlapMs / 1_000, keepRaw: 'all', scrubDays, scrubMinShare: 0.1 },
    };
    this.#practice = new SimulatedPractice({
      ...{ seed, installation: n, invoices: traits.invoices, time, rng: new Rng(seed, 'practice') },
      ...{ quirks: traits.quirks, inSeconds: traits.inSeconds, dateSkewMs: traits.dateSkewMs },
      latencyMs: traits.latencyMs,
    });
    this.#practice.connectionFaults = traits.practiceFaults;
    const { clinic } = this.#practice;
    this.#staff = new Staff(clinic, new Rng(seed, 'staff'), time);
    this.#hostility = new Hostility({
      ...{ practice: this.#practice, owner: databases.owner, installation: n, rng: new Rng(seed, 'hostility'), tell },
    });
    this.#practice.onRequest = (path) => this.#stir(path);
    if (traits.bursts) this.#practice.onAnswer = (path, body) => this.#burst(path, body);
    const random = new Rng(seed, 'erp');
    const record = traits.erp === null ? undefined : records[traits.erp];
    this.#erp = record ? new FakeServer({ record: withoutLimits(record), time, random: () => random.next() }) : null;
    this.#temporal = new SimulatedTemporal({
      ...{ time, installation: n, rng: new Rng(seed, 'temporal'), tell },
      workers: () => [...this.#alive].filter(({ isDead }) => !isDead),
      lostCompletions: () => (this.#isCalm ? 0 : traits.lostCompletions),
    });
  }

  async live(): Promise<LifeReport> {
    const began = performance.now();
    this.#tell(JSON.stringify(this.#traits));
    const databaseId = await this.#databaseId();
    const places = Array.from({ length: this.#traits.processes }, (_, place) => this.#lives(place, databaseId));
    try {
      await this.#time.run(this.#trouble());
      this.#becomeCalm();
      await this.#time.run(this.#calm());
      await this.#judge();
    } catch (error) {
      this.#wrong.push(`the life failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    } finally {
      this.#isOver = true;
      for (const process of this.#alive) process.die();
      await this.#time.run(Promise.all(places));
    }
    return this.#report(began);
  }

  /** Runs windows one after the other, with events in the clinic between and during them. */
  async #trouble(): Promise<void> {
    const { windows, source, counts, overlapMs } = this.#traits;
    for (let n = 0; n < windows; n++) {
      if (n > 0) {
        const gapMs =
          source === 'unsteady' ? overlapMs * 10 ** (this.#rng.next() * 2 - 1) : this.#rng.int(10_000, 900_000);
        await this.#between(gapMs);
      }
      if (source === 'hostile') await this.#outside(() => this.#hostility.begin(n === 0));
      if (counts && this.#rng.chance(0.4)) await this.#countNext();
      const events = this.#rng.int(0, source === 'hostile' ? 0 : 3);
      const living = (async () => {
        for (let left = events; left > 0; left--) {
          await this.#time.sleep(this.#rng.int(0, 3_000));
          this.#happen();
        }
      })();
      await this.#windowBesideNeighbours();
      await living;
      this.#hostility.end();
    }
  }

  /** Passes the time between two windows. */
  async #between(ms: number): Promise<void> {
    const { restores, deletes, clocksMs } = this.#traits;
    const rng = this.#rng;
    const clocks = this.#clocks;
    this.#staff.backUp();
    const moments = Array.from({ length: rng.int(0, 8) }, () => rng.int(0, ms)).sort((a, b) => a - b);
    // At most once, because two changes of the clock could hide records from all requests.
    const movesAtMs = clocks.chance(0.6) ? Math.floor(clocks.next() * ms) : null;
    if (movesAtMs !== null)
      this.#time.at(this.#time.nowMs + movesAtMs, () => {
        const aheadMs = clocks.pick(clocksMs);
        this.#practice.clockAheadMs = aheadMs;
        this.#tell(`the clinic's clock is ${aheadMs / 1_000} s ahead`);
      });
    let passedMs = 0;
    for (const atMs of moments) {
      await this.#time.sleep(atMs - passedMs);
      passedMs = atMs;
      this.#happen();
      if (deletes && rng.chance(0.1)) this.#note(this.#staff.delete((document) => this.#isKept(document)));
    }
    await this.#time.sleep(ms - passedMs);
    if (restores && clocks.chance(0.5)) this.#note(this.#staff.restore());
  }

  /** Affected documents, and documents of a closed period, are not deleted. */
  #isKept(document: string): boolean {
    return (
      this.#hostility.culprits.has(document) || this.#practice.records.has(document) || this.#closedThrough !== null
    );
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
      ['a close', this.#traits.source === 'hostile' ? 1 : 0],
    ]);
    if (neighbour !== 'none') this.#tell(`beside the window: ${neighbour}`);
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
        this.#breaks = 0.01;
        await this.#window();
        this.#breaks = this.#traits.breaks;
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
    this.#tell(`the ${options.kind ?? 'window'}: ${outcome}${error ? `, ${error.code}: ${error.message}` : ''}`);
    // Temporal reports a time-out of an activity in this form.
    const isExplained = error === null || error.message.endsWith(' timed out');
    if (!isExplained && (error.code === 'unexpected' || error.message.trim() === '' || error.todo === ''))
      this.#wrong.push(`a window's error does not say what it is: ${error.code}: ${error.message}`);
    return outcome;
  }

  #happen(): void {
    if (this.#traits.source === 'unsteady' && this.#rng.chance(0.4)) this.#note(this.#staff.work());
    else for (const { text } of this.#practice.live(1)) this.#tell(`the clinic: ${text}`);
  }

  /** Makes events happen in the clinic while a request is answered. */
  #stir(path: string): void {
    const { unrest, bursts } = this.#traits;
    if (this.#isCalm) return;
    if (bursts && path.includes('/invoice/') && this.#network.chance(0.5)) this.#staff.invoiceNow();
    else if (this.#network.chance(unrest)) this.#happen();
  }

  /** Changes the rows of an invoice in the same second in which they were read. */
  #burst(path: string, body: string): void {
    if (this.#isCalm || !path.includes('/invoicerow/')) return;
    const parents = new Set([...body.matchAll(/"invoice":"[^"]*\/invoice\/(\d+)\//g)].map(([, id]) => Number(id)));
    for (const id of parents) if (this.#network.chance(0.5)) this.#staff.changeInSameSecond(id);
  }

  async #closeBooks(afterMs: number): Promise<void> {
    await this.#time.sleep(afterMs);
    const today = this.#practice.clinic.today();
    const through = addDays(today, -this.#rng.int(5, 15));
    if (this.#closedThrough !== null && this.#closedThrough >= through) return;
    await this.#outsidePool((db) => closePeriods(db, [{ id: this.#installation.id, today }], through));
    this.#closedThrough = through;
    this.#tell(`the books are closed through ${through}`);
  }

  /** Makes the next window count the lists. */
  async #countNext(): Promise<void> {
    const sql = 'update installation_state set census_taken_at = null where installation = ?';
    await this.#outside(() => query(this.#databases.owner, sql, [this.#installation.id]));
  }

  #becomeCalm(): void {
    this.#isCalm = true;
    Object.assign(this.#troubles, { dies: 0, diesSending: 0, stands: 0 });
    this.#practice.connectionFaults = 0;
    this.#hostility.end();
    this.#tell('calm');
  }

  /** Ends all faults, and waits until windows close and nothing is left to deliver. */
  async #calm(): Promise<void> {
    const { source, deletes, overlapMs, unseen, hides, quirks } = this.#traits;
    await this.#resetBudgets();
    // A count covers the records up to the highest id that a window has read.
    if (source === 'hostile') this.#staff.recordEach();
    await this.#time.sleep((quirks.lateCommitMs ?? 0) + 2 * overlapMs);
    const needsCounts = source === 'hostile' || this.#staff.deleted.size > 0;
    for (let closed = 0; closed < (needsCounts ? 3 : 2); closed++) {
      if (needsCounts && closed < 2) await this.#countNext();
      await this.#closedWindow();
    }
    if (this.#staff.restored > 0) await this.#closedWindow({ kind: 'backfill' });
    // If one record is hidden and another one put aside, the counts agree.
    if (unseen || source === 'hostile') {
      if (unseen) this.#staff.changeUnseen();
      await this.#time.sleep(overlapMs);
      await this.#temporal.scrub();
      await this.#closedWindow();
    }
    if (deletes && (await this.#confirmDeletions())) await this.#closedWindow();
    if (hides) await this.#hideForAWhile();
    await this.#deliverAll();
  }

  /**
   * The source hides records: each affected posted document must be named as missing, and the journal must not change.
   */
  async #hideForAWhile(): Promise<void> {
    const { clinic } = this.#practice;
    const share = this.#rng.pick([0.1, 0.5, 1]);
    const hidden = new Map<string, boolean>();
    const isHidden = (kind: string, id: number) => {
      const key = `${kind}/${id}`;
      if (!hidden.has(key)) hidden.set(key, new Rng(this.#seed, key).chance(share));
      return hidden.get(key) === true;
    };
    const { id } = this.#installation;
    const count = 'select count(*)::int as n from entry where installation = ?';
    const [before] = await this.#asked<{ n: number }>(count, [id]);
    this.#practice.hide(isHidden);
    await this.#readAllAgain();
    const posted = await this.#asked<DocumentRef & { isNamed: boolean }>(
      `select kind, id::int, coalesce(problem_code in ('missing_in_source', 'source_shrank'), false) as "isNamed"
       from document where installation = ? and state = 'posted'`,
      [id],
    );
    for (const { kind, id, isNamed } of posted) {
      const lacksRows = kind === 'invoice' && clinic.invoiceRows.of(id).some((row) => isHidden('row', row.id));
      if (isNamed !== (isHidden(kind, id) || lacksRows))
        this.#wrong.push(`${kind} ${id} is ${isNamed ? '' : 'not '}named as missing while records are hidden`);
    }
    const [after] = await this.#asked<{ n: number }>(count, [id]);
    if (after?.n !== before?.n) this.#wrong.push('entries were posted while records were hidden');
    this.#practice.hide(() => false);
    await this.#readAllAgain();
  }

  /** Runs windows that count the lists and read every row set again, like a pass of the scrub. */
  async #readAllAgain(): Promise<void> {
    for (let left = 2; left > 0; left--) {
      await this.#countNext();
      const sql = `update mirror_record set rows_source_time = null where installation = ? and kind = 'invoice'`;
      await this.#asked(sql, [this.#installation.id]);
      await this.#closedWindow();
    }
  }

  async #closedWindow(options: WindowOptions = {}): Promise<void> {
    const until = this.#time.nowMs + calmMs;
    do {
      if (this.#time.nowMs > until) throw new Error('no window closes within a day of calm');
      await this.#time.sleep(5 * minuteMs);
    } while ((await this.#window(options)) !== 'closed');
  }

  async #deliverAll(): Promise<void> {
    if (this.#erp === null) return;
    const until = this.#time.nowMs + calmMs;
    for (let left = 'all'; left !== ''; ) {
      // The daemon does this every five minutes.
      this.#temporal.requestDelivery();
      for (let waitedMs = 0; waitedMs < 5 * minuteMs && left !== ''; waitedMs += 20_000) {
        await this.#time.sleep(20_000);
        left = await this.#leftToDeliver();
      }
      if (this.#time.nowMs > until) throw new Error(`the delivery does not end within a day of calm: ${left}`);
    }
  }

  /** Describes what is left to deliver; empty if nothing is. Nothing is written to an affected record. */
  async #leftToDeliver(): Promise<string> {
    if (this.#temporal.isDelivering) return 'it is under way';
    const { id } = this.#installation;
    const affected = [...this.#hostility.culprits].join(' ');
    const left = await this.#asked<{ what: string }>(
      `select unit_id || ' ' || state || ' ' || coalesce(problem_message, '') as what from erp_unit
         where installation = ? and state not in ('delivered', 'refused', 'excluded', 'cancelled_out')
       union all select 'the number of ' || unit_id from erp_number_due where installation = ?
       union all select 'write-back ' || document_id || ' ' || state || ' ' || coalesce(error, '') from write_back
         where installation = ? and not (kind || '/' || document_id) = any(string_to_array(?, ' '))
           and value_is <> 'entry_id' and (state in ('pending', 'failed') or state = 'done' and read_back is null)`,
      [id, id, id, affected],
    );
    return left.map(({ what }) => what).join('; ');
  }

  /** The operator resets the rate budgets after 429s. */
  async #resetBudgets(): Promise<void> {
    const { id, dialect } = this.#installation;
    await this.#outsidePool(async (db) => {
      const clock = this.#time.clock();
      const budget = new Budget({ db, installation: id, dialect, windowSeconds: 60, requestTimeoutSeconds: 90, clock });
      for (const { action } of await budget.usage()) await budget.forget(action);
    });
  }

  /** The accountant confirms that deleted documents are gone. Returns whether there were any. */
  async #confirmDeletions(): Promise<boolean> {
    const { id } = this.#installation;
    const missing = await this.#asked<DocumentRef>(
      `select kind, id::int from document
       where installation = ? and problem_code in ('missing_in_source', 'source_shrank') order by kind, id`,
      [id],
    );
    const deleted = missing.filter(({ kind, id }) => this.#staff.deleted.has(`${kind}/${id}`));
    if (deleted.length === 0) return false;
    const by = { reason: 'deleted in the practice software', actedBy: 'M. Virtanen' };
    await this.#outsidePool((db) =>
      db.transaction((trx) => decideAll(trx, id, deleted, { decision: 'confirm_gone', ...by }, { chosen: true })),
    );
    for (const { kind, id } of deleted) this.#confirmed.add(`${kind}/${id}`);
    this.#tell(`confirmed to be gone: ${[...this.#confirmed].join(', ')}`);
    return true;
  }

  /** Starts a worker, and a new one whenever it dies. */
  async #lives(place: number, databaseId: string): Promise<void> {
    const rng = new Rng(this.#seed, `process ${place}`);
    const { simulated: database } = this.#databases;
    await this.#time.sleep(1 + place * 100);
    for (let n = 1; !this.#isOver; n++) {
      const process = new WorkerProcess({
        ...{ holder: `worker ${place + 1}, life ${n}`, time: this.#time, rng, troubles: this.#troubles, database },
        ...{ databaseId, installation: this.#installation, practice: this.#practice },
        open: this.#erp === null ? null : (life) => this.#open(life),
        tell: (line) => this.#tell(line),
        requestDelivery: () => this.#temporal.requestDelivery(),
        breaks: () => (this.#isCalm ? 0 : this.#breaks),
        ...(this.#traits.bursts ? { longestTurnMs: 0 } : {}),
      });
      this.#alive.add(process);
      // The daemon does this at its start.
      if (this.#erp !== null) this.#temporal.requestDelivery();
      await process.died;
      await process.release();
      this.#alive.delete(process);
      if (this.#isOver) return;
      this.#deaths += 1;
      await this.#time.sleep(rng.pick([100, 5_000, 60_000]));
    }
  }

  #open(life: ProcessLife): FakeTarget {
    const { erp } = this.#installation;
    if (this.#erp === null || erp.kind !== 'tryton') throw new Error('this life has no ERP');
    return new FakeTarget({
      ...{ server: this.#erp, life, timeoutMs: erpTimeoutMs, underWay: this.#underWay, company: companyOf(erp) },
      network: () => this.#circumstances(),
    });
  }

  #circumstances(): Circumstances {
    const rng = this.#network;
    if (this.#isCalm) return calm;
    const way = { outMs: rng.int(1, 50), workMs: rng.int(1, rng.pick([200, 200, 100_000])), backMs: rng.int(1, 50) };
    const isFaulty = rng.chance(this.#traits.erpFaults);
    const faults = [
      'unreachable',
      'request_lost',
      'answer_lost',
      'page',
      'page_though_done',
      'busy',
      'server_dies',
    ] as const;
    const fault: Fault = isFaulty ? rng.pick<Fault>([...faults, 'answer_lost']) : 'none';
    if (isFaulty) this.#faults += 1;
    return { ...way, fault };
  }

  async #judge(): Promise<void> {
    const held = this.#erp?.held() ?? null;
    const found = await judge({
      ...{ db: this.#databases.owner, installation: this.#installation, practice: this.#practice, held },
      ...{ hostility: this.#hostility, isHostile: this.#traits.source === 'hostile' },
      ...{
        confirmed: this.#confirmed,
        closedThrough: this.#closedThrough,
      },
    });
    const misdeeds = this.#erp?.misdeeds.filter(({ about }) => about === 'content') ?? [];
    const isExcused = (one: string) => this.#isBackfillLeft && one.startsWith('the lease of lane backfill');
    this.#wrong.push(...found.filter((one) => !isExcused(one)), ...misdeeds.map(({ text }) => `the ERP saw: ${text}`));
  }

  async #report(began: number): Promise<LifeReport> {
    const { id } = this.#installation;
    const count = async (sql: string) => (await this.#asked<{ n: number }>(sql, [id]))[0]?.n ?? 0;
    const struck = Object.fromEntries(this.#practice.struck);
    return {
      ...{ seed: this.#seed, wrong: this.#wrong, story: this.#story, ends: this.#ends, struck, deaths: this.#deaths },
      ...{ repeated: this.#temporal.repeated, culprits: this.#hostility.culprits.size },
      faults: this.#faults + Object.values(struck).reduce((sum, n) => sum + n, 0),
      entries: await count('select count(*)::int as n from entry where installation = ?'),
      delivered: await count(`select count(*)::int as n from erp_unit where installation = ? and state = 'delivered'`),
      simulatedHours: (this.#time.nowMs - this.#traits.startMs) / hourMs,
      seconds: (performance.now() - began) / 1_000,
    };
  }

  async #databaseId(): Promise<string> {
    const [row] = await this.#asked<{ value: string }>(`select value from meta where key = 'database_id'`, []);
    return row?.value ?? '';
  }

  #asked<Row>(sql: string, bindings: readonly (string | number)[]): Promise<Row[]> {
    return this.#outside(() => query<Row>(this.#databases.owner, sql, bindings));
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

  /** Runs the work of a command, which reads the simulated clock. */
  async #outsidePool<Result>(work: (db: Db) => Promise<Result>): Promise<Result> {
    const { db, release } = this.#databases.simulated.open(this.#time, { isDead: false, step: async () => undefined });
    try {
      return await work(db);
    } finally {
      await this.#outside(release);
    }
  }

  #note(line: string | null): void {
    if (line !== null) this.#tell(`the clinic: ${line}`);
  }

  #tell(line: string): void {
    this.#story.push(`${((this.#time.nowMs - this.#traits.startMs) / 1_000).toFixed(1)} s: ${line}`);
    if (this.#story.length > mostStory) this.#story.splice(1, 1);
  }
}

/** Removes limits per minute or day, except in lives of delivery. */
function withoutLimits(record: (typeof records)[string] & object) {
  const { pace } = record.capabilities;
  return { ...record, capabilities: { ...record.capabilities, pace: { ...pace, limits: [], errors_allowed: null } } };
}

function readMapping(): InstallationConfig['mapping'] {
  const parsed = parseMapping(parse(readFileSync(demoMapping, 'utf8') + erpSection));
  if ('errors' in parsed) throw new Error(parsed.errors.join('; '));
  return parsed.mapping;
}
