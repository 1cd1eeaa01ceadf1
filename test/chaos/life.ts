// One seeded life of a source and of the mirror that follows it: windows, backfills beside them, crashes, late answers.

import { Rng } from '../../sandbox/src/rng.ts';
import { loadDialect } from '../../src/config/dialect.ts';
import type { Db } from '../../src/db/pool.ts';
import { savedReadAt } from '../../src/domain/read-at.ts';
import { priorities } from '../../src/practice/budget.ts';
import type { PracticeClient } from '../../src/practice/client.ts';
import type { Dialect } from '../../src/records/dialect.ts';
import { takeCensus } from '../../src/sync/census.ts';
import type { PullContext, PullOwner } from '../../src/sync/context.ts';
import { readCursors } from '../../src/sync/cursors.ts';
import { pullPayments } from '../../src/sync/payments.ts';
import { pullChanged } from '../../src/sync/pull-changed.ts';
import { pullRows } from '../../src/sync/pull-rows.ts';
import { refetchParts } from '../../src/sync/refetch.ts';
import { completeScan, scanRows } from '../../src/sync/row-scan.ts';
import { forgetWalks, walkOnce } from '../../src/sync/saved-walks.ts';
import { scrubSlice } from '../../src/sync/scrub/scrub.ts';
import { notePutBack, pullStream } from '../../src/sync/streams.ts';
import { ListUnprovable } from '../../src/sync/walk/types.ts';
import { type RecordKind, recordKinds } from '../../src/terms.ts';
import { pullContextOf } from '../support/pull-context.ts';
import { query } from '../support/sql.ts';
import { Beside, Killed } from './beside.ts';
import { differences, falselyFresh, takenForGone } from './oracle.ts';
import { judge } from './posting.ts';
import { Practice } from './practice.ts';
import { Server } from './server.ts';
import { Source, type Stored } from './source.ts';
import { type Traits, timezone, traitsOf } from './traits.ts';

export interface LifeReport {
  seed: number;
  /** What the oracle found; empty when nothing is missing or wrong. */
  wrong: string[];
  windows: number;
  crashes: number;
  /** Windows that ended with an error, since the source never stood still for long enough. */
  gaveUp: number;
  requests: number;
  weight: number;
  records: number;
}

/** Something was found missing or wrong: no mere error. */
export function isNoticed({ wrong }: LifeReport): boolean {
  return wrong.some((one) => !one.includes(' failed: '));
}

/** Live attempts of one step before the window is given up. */
const attempts = 4;
/** Transactions while one window's questions are answered: a long window is no reason for a practice to grow without end. */
const mostStirred = 40;
/** Enough to take up any number of missing records, some hundred at a time. */
const lastCensuses = 60;

/** `traits` replace some of the seed's own. */
export async function live(
  db: Db,
  seed: number,
  installation: number,
  traits: Partial<Traits> = {},
): Promise<LifeReport> {
  const life = new Life(db, seed, installation, traits);
  return life.run();
}

class Life {
  readonly #db: Db;
  readonly #seed: number;
  readonly #installation: number;
  readonly #traits: Traits;
  readonly #rng: Rng;
  /** Of what moves clocks and restores backups. */
  readonly #clocks: Rng;
  readonly #source: Source;
  readonly #server: Server;
  readonly #practice: Practice;
  readonly #wrong: string[] = [];
  readonly #beside: Beside[] = [];
  #isCalm = false;
  #crashes = 0;
  #gaveUp = 0;
  #stirred = 0;
  #windows = 0;
  #dialect: Dialect;

  constructor(db: Db, seed: number, installation: number, given: Partial<Traits>) {
    this.#db = db;
    this.#seed = seed;
    this.#installation = installation;
    const traits = { ...traitsOf(seed), ...given };
    this.#traits = traits;
    this.#rng = new Rng(seed, 'life');
    this.#clocks = new Rng(seed, 'clocks');
    const { clockChange } = traits;
    this.#source = new Source(
      clockChange ? clockChange.at - clockChange.before : Date.parse('2026-05-04T08:00:00Z') + this.#rng.int(0, 999),
    );
    this.#server = new Server(this.#source, traits, new Rng(seed, 'server'));
    this.#practice = new Practice(this.#source, traits, new Rng(seed, 'practice'));
    this.#dialect = loadDialect();
    this.#server.onQuestion = (kind, from, to) => this.#stir(kind, from, to);
    if (traits.bursts) this.#server.onAnswer = (records, kind) => this.#burst(records, kind);
  }

  async run(): Promise<LifeReport> {
    const { windows, large, overlapMs, restores } = this.#traits;
    this.#moveClock();
    this.#past();
    for (let n = 0; n < windows; n++) {
      const failed = await this.#window();
      await this.#check(`window ${n + 1}`);
      // A window that gives up aloud is one more thing that the next has to make up for.
      if (failed instanceof ListUnprovable) this.#gaveUp += 1;
      else if (failed && !(failed instanceof Killed)) this.#wrong.push(`window ${n + 1} failed: ${told(failed)}`);
      if (this.#wrong.length > 0) {
        await this.#endBeside(1);
        return this.#report();
      }
      const gap = overlapMs * 10 ** (this.#rng.next() * 2 - 1);
      this.#happenings(this.#source.now + gap, this.#rng.int(0, large ? 10 : 14));
      const end = this.#source.now + gap;
      if (this.#clocks.chance(0.6))
        this.#source.schedule(this.#source.now + gap * this.#clocks.next(), () => this.#moveClock());
      if (restores && this.#clocks.chance(0.5))
        this.#practice.restoreSome(this.#source.now + gap * this.#clocks.next());
      this.#source.advance(end);
    }
    await this.#last();
    return this.#report();
  }

  /** Once at most between two windows: a clock that was moved twice can have hidden changes from every question. */
  #moveClock(): void {
    this.#source.clockAheadMs = this.#clocks.pick(this.#traits.clocksMs);
  }

  /** What the practice did before it was first asked. */
  #past(): void {
    const { large, overlapMs } = this.#traits;
    const rng = this.#rng;
    const from = this.#source.now;
    this.#happenings(from + 20 * overlapMs, rng.int(0, 60));
    if (rng.chance(0.5)) {
      const kind = rng.pick(recordKinds);
      this.#practice.importMany(from + 10 * overlapMs, kind, rng.int(20, 150), rng.chance(0.7));
    }
    if (large) this.#practice.importMany(from + 15 * overlapMs, large.kind, large.records, large.atOnce);
    this.#source.advance(from + 20 * overlapMs);
  }

  #happenings(until: number, count: number): void {
    const { now } = this.#source;
    for (let n = 0; n < count; n++) this.#practice.transact(now + Math.floor(this.#rng.next() * (until - now)));
    if (this.#rng.chance(0.15)) {
      const at = now + Math.floor(this.#rng.next() * (until - now));
      this.#practice.importMany(at, this.#rng.pick(recordKinds), this.#rng.int(30, 90));
    }
  }

  /** While a question is answered the practice works on, now and then within the very second of the answer. */
  #stir(kind: RecordKind, from: number, to: number): void {
    const { bursts, unrest } = this.#traits;
    const isBurst = bursts && kind === 'invoice' && this.#rng.chance(0.5);
    if (this.#isCalm || this.#stirred >= mostStirred || !(isBurst || this.#rng.chance(unrest))) return;
    this.#stirred += 1;
    if (isBurst) this.#practice.invoiceNow(from);
    else this.#practice.transact(from + Math.floor(this.#rng.next() * (to - from + 600)));
  }

  /** An invoice of this second whose rows were just read has them changed in the same second. */
  #burst(records: Stored[], kind: RecordKind): void {
    const { now, tables } = this.#source;
    if (this.#isCalm || kind !== 'row') return;
    const second = Math.floor(now / 1000) * 1000;
    const parents = new Set(records.map(({ parent }) => parent!));
    for (const id of parents) {
      if (tables.invoice.get(id)?.modifiedMs !== second || !this.#rng.chance(0.5)) continue;
      this.#practice.changeUnseen(id, now + Math.floor(this.#rng.next() * (second + 998 - now)));
    }
  }

  #context(owner: PullOwner, client: Pick<PracticeClient, 'list'>, run: string): PullContext {
    return pullContextOf({
      ...{ installation: this.#installation, timezone, dialect: this.#dialect, db: this.#db, client, owner, run },
      priority: owner === 'window' ? 1 : 5,
      keepRaw: 'all',
      overlapMs: this.#traits.overlapMs,
      // Hours read again would mend whatever a mutant spoils.
      naiveTimesAreLocal: true,
    });
  }

  /** The source as the live process asks it: it can be killed at any question, and others go on beside it. */
  readonly #client: Pick<PracticeClient, 'list'> = {
    list: async (kind, filters, pageSize, options) => {
      for (const one of this.#beside) while (!this.#isCalm && this.#rng.chance(0.4)) await one.step();
      this.#mayDie();
      const answer = await this.#server.list(kind as RecordKind, filters, pageSize, options);
      this.#mayDie();
      return answer;
    },
  };

  #mayDie(): void {
    if (this.#isCalm || !this.#rng.chance(this.#traits.crashes / 2)) return;
    this.#crashes += 1;
    throw new Killed('killed');
  }

  readonly #pause = async (ms: number) => this.#source.advance(this.#source.now + ms);

  /** One window, each step tried a few times; what it failed with, or null. */
  async #window(): Promise<unknown> {
    this.#windows += 1;
    this.#stirred = 0;
    const run = `run ${this.#windows}`;
    const context = this.#context('window', this.#client, run);
    const rng = this.#rng;
    try {
      const opened = await this.#tried(() => this.#client.list('invoice', {}, null));
      await notePutBack(this.#db, this.#installation, opened, await readCursors(this.#db, this.#installation));
      const window = { to: opened.sourceTime.toISOString(), opened: savedReadAt(opened) };
      const stream = (name: RecordKind) => (by: PullContext) =>
        pullStream(by, name, window, { pause: this.#pause, sourceNow: () => null });
      const steps: ((by: PullContext) => Promise<unknown>)[] = ['invoice', 'prepayment', 'payment'].map((name) =>
        stream(name as RecordKind),
      );
      const cursors = await readCursors(this.#db, this.#installation);
      if (cursors.invoice.value === null) steps.push(scanRows);
      // The lists run side by side: in any order.
      while (steps.length > 0) {
        const [step] = steps.splice(rng.int(0, steps.length - 1), 1);
        if (!this.#isCalm && rng.chance(0.06)) await this.#leaveHanging(run, step!);
        await this.#tried(() => step!(context));
        if (!this.#isCalm && rng.chance(0.1)) await this.#startBackfill();
      }
      await this.#tried(() => stream('row')(context));
      await this.#post(context);
      const isCounted = this.#isCalm || rng.chance(0.25);
      if (isCounted && this.#traits.counts) await this.#tried(() => takeCensus(context));
      return null;
    } catch (error) {
      return error;
    }
  }

  async #post(context: PullContext): Promise<void> {
    for (let round = 0; round < 3; round++) {
      const needs = await judge(this.#db, this.#installation, round === 2);
      if (needs.length > 0) await this.#tried(() => refetchParts(context, needs, () => {}));
    }
  }

  async #tried<T>(step: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await step();
      } catch (error) {
        if (!(error instanceof Killed) || attempt >= attempts || this.#rng.chance(0.3)) throw error;
      }
    }
  }

  /** An activity past its time-out: another attempt is under way while this one still holds an answer. */
  async #leaveHanging(run: string, step: (by: PullContext) => Promise<unknown>): Promise<void> {
    const hanging = new Beside(this.#server);
    hanging.start(() => step(this.#context('window', hanging.client, run)));
    await hanging.settled();
    this.#beside.push(hanging);
  }

  async #startBackfill(): Promise<void> {
    if (this.#beside.length > 1) return;
    const backfill = new Beside(this.#server);
    const context = this.#context('backfill', backfill.client, `backfill ${this.#windows}`);
    const ports = { pause: this.#pause, sourceNow: () => null };
    const lists: (() => Promise<unknown>)[] = [
      () => walkOnce(context, 'invoice', '', () => pullChanged(context, 'invoice', null)),
      () => walkOnce(context, 'prepayment', '', () => pullChanged(context, 'prepayment', null)),
      () => walkOnce(context, 'payment', '', () => pullPayments(context, null)),
      () => scanRows(context),
    ];
    backfill.start(async () => {
      while (lists.length > 0) await lists.splice(this.#rng.int(0, lists.length - 1), 1)[0]!();
      await completeScan(context);
      await pullRows(context, null, ports);
      await forgetWalks(this.#db, this.#installation, 'backfill');
    });
    await backfill.settled();
    this.#beside.push(backfill);
  }

  /** Everything has committed and the overlap has passed: one window, and a census where something was deleted. */
  async #last(): Promise<void> {
    await this.#endBeside(0.5);
    this.#isCalm = true;
    while (!this.#source.isQuiet) this.#source.advance(this.#source.quietFrom);
    // A walk that was interrupted is ended first, as of when it began; the window after it covers what came since.
    const interrupted = await query(this.#db, `select from sync_walk where installation = ?`, [this.#installation]);
    for (let n = interrupted.length > 0 ? 2 : 1; n > 0; n--) {
      this.#source.advance(this.#source.now + 2 * this.#traits.overlapMs);
      const failed = await this.#window();
      if (failed) this.#wrong.push(`the last window failed: ${told(failed)}`);
    }
    // Only deletions and restored backups need more than windows: a count or a backfill would hide what windows have missed.
    if (this.#source.deletions === 0 && this.#source.restored === 0) await this.#compare();
    if (this.#source.restored > 0) await this.#backfill();
    const context = this.#context('window', this.#client, 'census');
    // A census takes up so many missing records at once; the next goes on.
    try {
      for (let n = 0; n < lastCensuses && this.#source.deletions > 0; n++) {
        const lines = await takeCensus(context);
        if (lines.every(({ gone }) => gone.length === 0)) break;
      }
    } catch (error) {
      this.#wrong.push(`the last census failed: ${told(error)}`);
    }
    if (this.#traits.unseen) await this.#scrub();
    await this.#check('the end');
    await this.#compare();
  }

  async #compare(): Promise<void> {
    this.#wrong.push(...(await differences(this.#db, this.#installation, this.#source, this.#traits.unusable)));
    this.#wrong.push(...(await takenForGone(this.#db, this.#installation)));
  }

  /** A restored record's `modified` lies in the past: no window asks for it, a backfill does. */
  async #backfill(): Promise<void> {
    const context = this.#context('backfill', this.#client, 'the last backfill');
    try {
      await forgetWalks(this.#db, this.#installation, 'backfill');
      await pullChanged(context, 'invoice', null);
      await pullChanged(context, 'prepayment', null);
      await pullPayments(context, null);
      await scanRows(context);
      await completeScan(context);
      await pullRows(context, null, { pause: this.#pause, sourceNow: () => null });
      await this.#post(context);
    } catch (error) {
      this.#wrong.push(`the last backfill failed: ${told(error)}`);
    }
  }

  /** What no window finds, a pass of the scrub does; the next window completes it. */
  async #scrub(): Promise<void> {
    this.#practice.unseen(this.#source.now);
    this.#source.advance(this.#source.now + 5_000);
    const context = { ...this.#context('scrub', this.#client, 'scrub'), priority: priorities.scrub };
    const now = () => new Date(this.#source.now);
    try {
      for (let isDone = false; !isDone; ) {
        const { state } = await scrubSlice(context, { days: null, minShare: 0, requestsAtMost: 100, now });
        if (state !== 'finished' && state !== 'reading') throw new Error(`the scrub is ${state}`);
        isDone = state === 'finished';
      }
    } catch (error) {
      this.#wrong.push(`the scrub failed: ${told(error)}`);
    }
    const failed = await this.#window();
    if (failed) this.#wrong.push(`the window after the scrub failed: ${told(failed)}`);
  }

  /** Ends what runs beside the windows: some of it killed, the rest goes on to its own end. */
  async #endBeside(killed: number): Promise<void> {
    for (const one of this.#beside) {
      if (this.#rng.chance(killed)) one.kill();
      await one.finish();
      if (one.failure instanceof ListUnprovable) this.#gaveUp += 1;
      else if (one.failure !== null && !(one.failure instanceof Killed)) {
        this.#wrong.push(`what ran beside the windows failed: ${told(one.failure)}`);
      }
    }
  }

  async #check(when: string): Promise<void> {
    for (const one of await falselyFresh(this.#db, this.#installation, this.#source))
      this.#wrong.push(`${when}: ${one}`);
  }

  #report(): LifeReport {
    const { tables } = this.#source;
    return {
      ...{ seed: this.#seed, wrong: this.#wrong, windows: this.#windows, crashes: this.#crashes },
      gaveUp: this.#gaveUp,
      ...{ requests: this.#server.requests, weight: this.#server.weight },
      records: recordKinds.reduce((sum, kind) => sum + tables[kind].size, 0),
    };
  }
}

function told(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
