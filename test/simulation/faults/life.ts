// One seeded life of an installation: a clinic, workers that follow it, PostgreSQL, an ERP. Anything between two calls may go wrong:
// a worker dies before or after it, its answer is lost after it took effect, it is done twice, or by a worker that was given up.

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { Rng } from '../../../sandbox/src/rng.ts';
import type { InstallationConfig } from '../../../src/config/load-config.ts';
import type { Db } from '../../../src/db/pool.ts';
import { companyOf } from '../../../src/erp/company.ts';
import { verifyChain } from '../../../src/ledger/verify.ts';
import { parseMapping } from '../../../src/mapping/parse.ts';
import { erpSection } from '../../chaos/processes/erp-wire.ts';
import { leftBehind, wrongInErp, wrongWriteBacks } from '../../chaos/processes/judge.ts';
import { records } from '../../erp/fake/records.ts';
import { FakeServer } from '../../erp/fake/server.ts';
import { type Circumstances, calm, FakeTarget, type Fault, type Life, type UnderWay } from '../../erp/fake/target.ts';
import { SimulatedTime } from '../../erp/fake/time.ts';
import { type SimulatedDatabase, simulateClock } from '../../erp/rounds/database.ts';
import type { Troubles } from '../../erp/rounds/mortal.ts';
import { installationOf } from '../../erp/rounds/round.ts';
import { demoMapping } from '../../support/demo-config.ts';
import { wrongBooks } from '../../support/expected-books.ts';
import { query } from '../../support/sql.ts';
import { baseUrl, SimulatedPractice } from './practice.ts';
import { simulateTimers, WorkerProcess } from './process.ts';
import { SimulatedTemporal } from './temporal.ts';

export interface LifeReport {
  seed: number;
  wrong: string[];
  story: string[];
  windows: number;
  /** By how they ended. */
  ends: Record<string, number>;
  entries: number;
  delivered: number;
  deaths: number;
  repeated: number;
  faults: number;
  simulatedHours: number;
  seconds: number;
}

export interface Traits {
  invoices: number;
  windows: number;
  processes: number;
  /** The ERP's record; null: the books stay in our own database. */
  erp: string | null;
  troubles: Troubles;
  /** Shares of requests to the practice, and to the ERP, that go wrong; of statements at which a connection breaks. */
  practiceFaults: number;
  erpFaults: number;
  breaks: number;
  lostCompletions: number;
}

export interface Databases {
  owner: Db;
  simulated: SimulatedDatabase;
}

const startMs = Date.parse('2026-03-06T06:00:00Z');
const hourMs = 3_600_000;
/** ERPs that differ in what a lost answer leaves behind. */
const erps = ['tryton', 'fortnox', 'overwriting', 'stubborn_drafts'];
const calmWindows = 2;
const calmMs = 24 * hourMs;
const troubleMs = 12 * hourMs;
const mostStory = 600;
const timeoutMs = 20_000;

const mapping = readMapping();

export function traitsOf(seed: number): Traits {
  const rng = new Rng(seed, 'traits');
  return {
    invoices: rng.int(2, 10),
    windows: rng.int(1, 3),
    processes: rng.pick([1, 2, 2]),
    erp: rng.chance(0.6) ? rng.pick(erps) : null,
    troubles: {
      dies: rng.pick([0, 0.0005, 0.002, 0.006]),
      diesSending: rng.pick([0, 0.01, 0.05]),
      stands: rng.pick([0, 0, 0.001, 0.003]),
    },
    practiceFaults: rng.pick([0, 0.02, 0.1]),
    erpFaults: rng.pick([0, 0.05, 0.2]),
    breaks: rng.pick([0, 0, 0.001, 0.004]),
    lostCompletions: rng.pick([0, 0.02, 0.1]),
  };
}

/** Makes a database fit for lives. */
export async function prepareDatabase({ owner }: Pick<Databases, 'owner'>): Promise<void> {
  await simulateClock(owner);
}

/** Lives a seed; `n` tells it from others in the same database. */
export function live(databases: Databases, seed: number, n: number, given: Partial<Traits> = {}): Promise<LifeReport> {
  return new FaultyLife(databases, seed, n, { ...traitsOf(seed), ...given }).live();
}

class FaultyLife {
  readonly #databases: Databases;
  readonly #seed: number;
  readonly #traits: Traits;
  readonly #rng: Rng;
  readonly #network: Rng;
  readonly #time = new SimulatedTime(startMs);
  readonly #practice: SimulatedPractice;
  readonly #installation: InstallationConfig;
  readonly #erp: FakeServer | null;
  readonly #underWay: UnderWay = new Set();
  readonly #troubles: Troubles;
  readonly #temporal: SimulatedTemporal;
  readonly #alive = new Set<WorkerProcess>();
  readonly #story: string[] = [];
  readonly #wrong: string[] = [];
  readonly #ends: Record<string, number> = {};
  #isCalm = false;
  #isOver = false;
  #deaths = 0;
  #faults = 0;

  constructor(databases: Databases, seed: number, n: number, traits: Traits) {
    this.#databases = databases;
    this.#seed = seed;
    this.#traits = traits;
    this.#troubles = { ...traits.troubles };
    this.#rng = new Rng(seed, 'life');
    this.#network = new Rng(seed, 'network');
    simulateTimers();
    const time = this.#time;
    const { erp, ...base } = installationOf(n, n);
    this.#installation = { ...base, erp: traits.erp === null ? { kind: 'ledger' } : erp, mapping, baseUrl };
    this.#practice = new SimulatedPractice({
      ...{ seed, installation: n, invoices: traits.invoices, time, rng: new Rng(seed, 'practice') },
    });
    this.#practice.faults = traits.practiceFaults;
    const random = new Rng(seed, 'erp');
    const record = traits.erp === null ? undefined : records[traits.erp];
    this.#erp = record ? new FakeServer({ record: withoutLimits(record), time, random: () => random.next() }) : null;
    this.#temporal = new SimulatedTemporal({
      ...{ time, installation: n, rng: new Rng(seed, 'temporal'), tell: (line) => this.#tell(line) },
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
      this.#isCalm = true;
      Object.assign(this.#troubles, { dies: 0, diesSending: 0, stands: 0 });
      this.#practice.faults = 0;
      this.#tell('calm');
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

  /** Windows one after the other, while the clinic lives on beside them. */
  async #trouble(): Promise<void> {
    const until = this.#time.nowMs + troubleMs;
    for (let left = this.#traits.windows; left > 0 && this.#time.nowMs < until; left--) {
      const events = this.#rng.int(0, 3);
      const living = (async () => {
        for (let n = 0; n < events; n++) {
          await this.#time.sleep(this.#rng.int(0, 3_000));
          this.#happen();
        }
      })();
      await this.#window();
      await living;
      for (let n = this.#rng.int(0, 2); n > 0; n--) this.#happen();
      await this.#time.sleep(this.#rng.int(10_000, 900_000));
    }
  }

  async #window(): Promise<string> {
    const { outcome, error } = await this.#temporal.window();
    this.#ends[outcome] = (this.#ends[outcome] ?? 0) + 1;
    this.#tell(`the window: ${outcome}${error ? `, ${error.code}: ${error.message}` : ''}`);
    return outcome;
  }

  #happen(): void {
    for (const { text } of this.#practice.live(1)) this.#tell(`the clinic: ${text}`);
  }

  /** Nothing goes wrong any more: windows close, and nothing is left to deliver. */
  async #calm(): Promise<void> {
    const until = this.#time.nowMs + calmMs;
    for (let closed = 0; closed < calmWindows; ) {
      await this.#time.sleep(300_000);
      if (this.#time.nowMs > until) throw new Error('no windows close within three hours of calm');
      if ((await this.#window()) === 'closed') closed += 1;
    }
    if (this.#erp === null) return;
    for (let left = 'all'; left !== ''; ) {
      // As the daemon does every five minutes.
      this.#temporal.requestDelivery();
      for (let waitedMs = 0; waitedMs < 300_000 && left !== ''; waitedMs += 20_000) {
        await this.#time.sleep(20_000);
        left = await this.#leftToDeliver();
      }
      if (this.#time.nowMs > until) throw new Error(`the delivery does not end within a day of calm: ${left}`);
    }
  }

  /** What is left to deliver, in words; '' where nothing is. */
  async #leftToDeliver(): Promise<string> {
    if (this.#temporal.isDelivering) return 'it is under way';
    const { id } = this.#installation;
    const left = await this.#asked<{ what: string }>(
      `select unit_id || ' ' || state || ' ' || coalesce(problem_message, '') as what from erp_unit
         where installation = ? and state not in ('delivered', 'refused', 'excluded', 'cancelled_out')
       union all select 'the number of ' || unit_id from erp_number_due where installation = ?
       union all select 'write-back ' || document_id || ' ' || state || ' ' || coalesce(error, '') from write_back
         where installation = ? and value_is <> 'entry_id' and (state in ('pending', 'failed') or state = 'done' and read_back is null)`,
      [id, id, id],
    );
    return left.map(({ what }) => what).join('; ');
  }

  /** One worker after the other, each in the place of one that died. */
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
        breaks: () => (this.#isCalm ? 0 : this.#traits.breaks),
      });
      this.#alive.add(process);
      // As the daemon does at its start.
      if (this.#erp !== null) this.#temporal.requestDelivery();
      await process.died;
      await process.release();
      this.#alive.delete(process);
      if (this.#isOver) return;
      this.#deaths += 1;
      await this.#time.sleep(rng.pick([100, 5_000, 60_000]));
    }
  }

  #open(life: Life): FakeTarget {
    const { erp } = this.#installation;
    if (this.#erp === null || erp.kind !== 'tryton') throw new Error('this life has no ERP');
    return new FakeTarget({
      ...{ server: this.#erp, life, timeoutMs, underWay: this.#underWay, company: companyOf(erp) },
      network: () => this.#circumstances(),
    });
  }

  #circumstances(): Circumstances {
    const rng = this.#network;
    if (this.#isCalm) return calm;
    const way = { outMs: rng.int(1, 50), workMs: rng.int(1, rng.pick([200, 200, 100_000])), backMs: rng.int(1, 50) };
    const isFaulty = rng.chance(this.#traits.erpFaults);
    const fault: Fault = isFaulty
      ? rng.pick<Fault>([
          ...([
            'unreachable',
            'request_lost',
            'answer_lost',
            'page',
            'page_though_done',
            'busy',
            'server_dies',
          ] as const),
          'answer_lost',
        ])
      : 'none';
    if (isFaulty) this.#faults += 1;
    return { ...way, fault };
  }

  async #judge(): Promise<void> {
    const { owner } = this.#databases;
    const { id, timezone, decimals, startDate } = this.#installation;
    const setting = { installation: id, timezone, decimals, startDate, mapping: demoMapping };
    this.#wrong.push(...(await wrongBooks(owner, this.#practice.clinic, setting)).map((one) => `the books: ${one}`));
    const held = this.#erp?.held() ?? null;
    this.#wrong.push(...(await wrongWriteBacks(owner, id, held, this.#practice.clinic.prepayments.all())));
    if (this.#erp && held) {
      this.#wrong.push(...(await wrongInErp(owner, id, held)));
      const misdeeds = this.#erp.misdeeds.filter(({ about }) => about === 'content');
      this.#wrong.push(...misdeeds.map(({ text }) => `the ERP saw: ${text}`));
    }
    const broken = await verifyChain(owner, id);
    if (broken !== null) this.#wrong.push(`ledger verify: ${JSON.stringify(broken)}`);
    this.#wrong.push(...(await leftBehind(owner, id)));
  }

  async #report(began: number): Promise<LifeReport> {
    const { id } = this.#installation;
    const count = async (sql: string) => (await this.#asked<{ n: number }>(sql, [id]))[0]?.n ?? 0;
    return {
      ...{ seed: this.#seed, wrong: this.#wrong, story: this.#story, ends: this.#ends, deaths: this.#deaths },
      ...{ repeated: this.#temporal.repeated, faults: this.#faults + this.#practice.struck },
      windows: Object.values(this.#ends).reduce((sum, n) => sum + n, 0),
      entries: await count('select count(*)::int as n from entry where installation = ?'),
      delivered: await count(`select count(*)::int as n from erp_unit where installation = ? and state = 'delivered'`),
      simulatedHours: (this.#time.nowMs - startMs) / hourMs,
      seconds: (performance.now() - began) / 1_000,
    };
  }

  async #databaseId(): Promise<string> {
    const [row] = await this.#asked<{ value: string }>(`select value from meta where key = 'database_id'`, []);
    return row?.value ?? '';
  }

  /** Asks the database; it takes no simulated time. */
  async #asked<Row>(sql: string, bindings: readonly (string | number)[]): Promise<Row[]> {
    const end = this.#time.begin();
    try {
      return await query<Row>(this.#databases.owner, sql, bindings);
    } finally {
      end();
    }
  }

  #tell(line: string): void {
    this.#story.push(`${((this.#time.nowMs - startMs) / 1_000).toFixed(1)} s: ${line}`);
    if (this.#story.length > mostStory) this.#story.splice(1, 1);
  }
}

/** Limits per minute or day are what the rounds of delivery are for. */
function withoutLimits(record: (typeof records)[string] & object) {
  const { pace } = record.capabilities;
  return { ...record, capabilities: { ...record.capabilities, pace: { ...pace, limits: [], errors_allowed: null } } };
}

function readMapping(): InstallationConfig['mapping'] {
  const parsed = parseMapping(parse(readFileSync(demoMapping, 'utf8') + erpSection));
  if ('errors' in parsed) throw new Error(parsed.errors.join('; '));
  return parsed.mapping;
}
