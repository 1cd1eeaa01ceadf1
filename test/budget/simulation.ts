import { loadDialect } from '../../src/config/dialect.ts';
import type { Db } from '../../src/db/pool.ts';
import { Budget, type Slot } from '../../src/practice/budget.ts';
import type { SimulatedDatabase } from './database.ts';
import { Judge } from './judge.ts';
import { type Fate, type Job, type Scenario, seeded } from './scenario.ts';
import { RollingWindow } from './server-model.ts';
import { machineClock, VirtualTime } from './virtual-time.ts';

/** A fault in how a process uses its budget, which the simulation must notice. */
export interface ProcessMutant {
  windowFactor?: number;
  forgetsTimeout?: boolean;
  /** The process returns the slot when it sends the request. */
  finishesAtSending?: boolean;
}

const action = 'invoice.list';
const restartMs = 700;
/** The end of the simulation, long after everything must have been served. */
const horizonMs = 4 * 3600_000;
let installations = 0;

interface Stream {
  jobs: Job[];
  next: number;
  /** The fate of the next job; each fate occurs once. */
  fate: Fate;
}

/** Runs the scenario in virtual time with the real Budget and the real SQL. Returns the judge and the duration. */
export async function simulate(
  scenario: Scenario,
  database: SimulatedDatabase,
  mutant: ProcessMutant = {},
): Promise<{ judge: Judge; endedMs: number }> {
  const simulation = new Simulation(scenario, database, mutant);
  await simulation.run();
  return { judge: simulation.judge, endedMs: simulation.time.now };
}

class Simulation {
  readonly time = new VirtualTime();
  readonly judge: Judge;
  readonly random: () => number;
  readonly server: RollingWindow;
  readonly scenario: Scenario;
  readonly database: SimulatedDatabase;
  readonly mutant: ProcessMutant;
  readonly installation = ++installations;
  windowSeconds: number;
  processes: Process[] = [];

  constructor(scenario: Scenario, database: SimulatedDatabase, mutant: ProcessMutant) {
    const { limit, windowSeconds, seed, serverCountsRefused: countsRefused } = scenario;
    this.scenario = scenario;
    this.database = database;
    this.mutant = mutant;
    this.windowSeconds = windowSeconds;
    this.random = seeded(seed);
    this.judge = new Judge(scenario, this.serverWindowMs());
    this.server = new RollingWindow({ limit, windowMs: this.serverWindowMs(), countsRefused });
  }

  async run(): Promise<void> {
    const { processes, foreign, windowChange, windowSeconds } = this.scenario;
    const all = processes.map((streams) =>
      streams.map((jobs): Stream => ({ jobs, next: 0, fate: jobs[0]?.fate ?? 'answered' })),
    );
    for (const { at, weight } of foreign) {
      this.time.at(at * windowSeconds * 10_000, () => void this.server.arrive(this.time.now, weight));
    }
    if (windowChange) this.time.at(windowChange.atMs, () => this.changeWindow(windowChange.windowSeconds));
    this.processes = all.map((streams, index) => new Process(this, index, streams));
    const isDone = () => all.flat().every(({ jobs, next }) => next >= jobs.length);
    const isLost = () => this.judge.violations.length > 0;
    await this.time.run(() => isDone() || isLost(), horizonMs);
    if (!isDone() && !isLost()) this.judge.object(this.time.now, 'somebody was never served');
  }

  /** The length of the server's window by the test's clock. */
  serverWindowMs(): number {
    return (this.windowSeconds * 1000) / this.scenario.clocks.serverPace;
  }

  /** Fractions of milliseconds are included, because events can fall between two of them. */
  between(least: number, most: number): number {
    return least + this.random() * (most - least);
  }

  restart(dead: Process, afterMs: number): void {
    this.time.at(this.time.now + afterMs, () => {
      this.processes[dead.index] = new Process(this, dead.index, dead.streams);
    });
  }

  changeWindow(windowSeconds: number): void {
    for (const process of this.processes) process.crash(1);
    this.windowSeconds = windowSeconds;
    this.server.windowMs = this.serverWindowMs();
    this.judge.changeWindow(this.time.now, this.serverWindowMs());
  }
}

/** One process from its start to its end: its streams of work, and its budget. */
class Process {
  readonly index: number;
  readonly streams: Stream[];
  readonly #simulation: Simulation;
  readonly #budget: Budget;
  readonly #waiting = new Set<{ weight: number; priority: number; cameMs: number }>();
  #isAlive = true;
  #nextAskingMs = Number.POSITIVE_INFINITY;

  constructor(simulation: Simulation, index: number, streams: Stream[]) {
    this.#simulation = simulation;
    this.index = index;
    this.streams = streams;
    const { scenario, mutant, windowSeconds, installation, time } = simulation;
    const clock = machineClock(time, {
      offsetMs: simulation.between(0, 1e7),
      pace: 1,
      timerErrorMs: () => simulation.between(-0.9, 2),
    });
    this.#budget = new Budget({
      db: { raw: (sql: string, bindings: unknown[]) => this.#query(sql, bindings) } as unknown as Db,
      installation,
      dialect: loadDialect({ limits: { actions: { [action]: scenario.limit } } }),
      windowSeconds: windowSeconds * (mutant.windowFactor ?? 1),
      requestTimeoutSeconds: mutant.forgetsTimeout ? 0 : scenario.requestTimeoutSeconds,
      maxWaitSeconds: 1e6,
      clock: {
        elapsed: clock.elapsed,
        sleep: (ms, signal) => this.#lives(clock.sleep(ms, signal)),
      },
    });
    for (const stream of streams) void this.#work(stream);
  }

  /** Stops the process. Sent requests stay under way, and another process takes over its work. */
  crash(restartAfterMs = restartMs): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#simulation.restart(this, restartAfterMs);
  }

  /** In a dead process, promises never settle. */
  #lives<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => this.#isAlive && resolve(value),
        (error) => this.#isAlive && reject(error),
      );
    });
  }

  async #work(stream: Stream): Promise<void> {
    const { time, judge } = this.#simulation;
    try {
      while (stream.next < stream.jobs.length) {
        const job = stream.jobs[stream.next]!;
        await this.#lives(time.pass(job.thinkMs));
        await this.#do(job, stream);
        stream.next += 1;
        stream.fate = stream.jobs[stream.next]?.fate ?? 'answered';
      }
    } catch (error) {
      judge.object(time.now, `a request failed: ${error}`);
    }
  }

  async #do(job: Job, stream: Stream): Promise<void> {
    const { time, judge, random, scenario, mutant } = this.#simulation;
    const { latencyMs, requestTimeoutSeconds } = scenario;
    const never = new Promise<never>(() => undefined);
    for (;;) {
      const slot = await this.#take(job);
      const { fate } = stream;
      stream.fate = 'answered';
      if (mutant.finishesAtSending) slot.finish();
      if (fate === 'crashBeforeSending') {
        this.crash();
        await never;
      }
      if (fate === 'notSent') {
        judge.answered(time.now, slot.id, true);
        slot.finish('notSent');
        continue;
      }
      const answersMs =
        fate === 'unanswered'
          ? requestTimeoutSeconds * 1000
          : this.#simulation.between(latencyMs.shortest, latencyMs.longest);
      // The crash happens at once, with the answer, or at any time between.
      const share = [0, 1, random()][Math.floor(random() * 3)]!;
      const served = this.#arrive(job.weight, share * answersMs);
      if (fate === 'crashBeforeFinishing') {
        time.at(time.now + answersMs * random(), () => this.crash());
        await never;
      }
      await this.#lives(time.pass(answersMs));
      if (fate === 'unanswered') continue;
      const answer = await served;
      judge.answered(time.now, slot.id, false);
      slot.finish();
      if (answer.served) return;
      await slot.throttled(answer.retryAfterMs);
    }
  }

  async #take({ weight, priority }: Job): Promise<Slot> {
    const { time } = this.#simulation;
    const waiter = { weight, priority, cameMs: time.now };
    this.#waiting.add(waiter);
    const slot = await this.#budget.take(action, weight, priority);
    this.#waiting.delete(waiter);
    return slot;
  }

  /** The request reaches the server in any case. Retry-After has whole seconds; without the header it is 1 s. */
  #arrive(weight: number, afterMs: number): Promise<{ served: boolean; retryAfterMs: number }> {
    const { time, server, judge } = this.#simulation;
    const sentMs = time.now;
    return new Promise((resolve) => {
      time.at(sentMs + afterMs, () => {
        const { now } = time;
        const served = server.arrive(now, weight);
        judge.arrived(now, weight, sentMs);
        const isSilent = this.#simulation.random() < 0.3;
        const seconds = isSilent ? 1 : Math.max(1, Math.ceil(server.roomAfterMs(now, weight) / 1000));
        resolve({ served, retryAfterMs: seconds * 1000 });
      });
    });
  }

  /** A statement needs time to reach the database and to return. It runs in between, at the database's time. */
  #query(sql: string, bindings: unknown[]): Promise<unknown> {
    const { time, scenario, database } = this.#simulation;
    const { databaseOffsetMs, databasePace } = scenario.clocks;
    const calledMs = time.now;
    if (sql.includes('budget_take')) this.#checkChoice(bindings);
    const wayMs = () => this.#simulation.between(0, scenario.longestQueryMs / 2);
    return this.#lives(
      new Promise((resolve, reject) => {
        time.at(time.now + wayMs(), async () => {
          // The last statement of a dying process may still arrive.
          if (!this.#isAlive && this.#simulation.random() < 0.5) return;
          try {
            const atMs = 2e9 + databaseOffsetMs + time.now * databasePace;
            const result = await database.execute(atMs, sql, bindings);
            this.#observe(sql, bindings, result.rows, calledMs);
            time.at(time.now + wayMs(), () => {
              this.#noteAnswer(result.rows);
              resolve(result);
            });
          } catch (error) {
            reject(error);
          }
        });
      }),
    );
  }

  /**
   * Checks that the most urgent requests of the process ask in order of arrival, and soon enough after the last time.
   */
  #checkChoice(bindings: unknown[]): void {
    const { time, judge } = this.#simulation;
    const [, , weight, priority, agesSeconds] = bindings as [unknown, unknown, number, number, number[]];
    const { now } = time;
    if (now > this.#nextAskingMs) judge.object(now, 'asked too late');
    this.#nextAskingMs = Number.POSITIVE_INFINITY;
    // The check runs after the granted requests have left. A request that arrives at this moment may have come later.
    time.at(now, () => {
      const before = [...this.#waiting].filter(({ cameMs }) => cameMs < now);
      for (const [at, ageSeconds] of agesSeconds.entries()) {
        const ahead = before.filter(
          (waiter) =>
            waiter.priority < priority ||
            (waiter.priority === priority && waiter.cameMs < now - ageSeconds * 1000 - 0.01),
        );
        const isInTurn = ahead.length <= at && ahead.every((waiter) => waiter.weight === weight);
        if (!isInTurn) judge.object(now, `priority ${priority} asks at age ${ageSeconds} s before one that goes first`);
      }
    });
  }

  /** Checks that a waiting process asks again after at most a second, or a tenth of a short window. */
  #noteAnswer(rows: unknown[]): void {
    const waitMs = (rows[0] as { wait_ms?: number | null } | undefined)?.wait_ms;
    if (waitMs === null || waitMs === undefined) return;
    const stepMs = Math.min(1000, this.#simulation.windowSeconds * 100);
    this.#nextAskingMs = this.#simulation.time.now + Math.min(waitMs, stepMs) + 3;
  }

  #observe(sql: string, bindings: unknown[], rows: unknown[], calledMs: number): void {
    const { time, judge } = this.#simulation;
    const { now } = time;
    if (sql.includes('budget_take')) {
      const [, , weight, priority] = bindings as number[];
      judge.told(now, bindings[10] as number[]);
      judge.asked(
        now,
        {
          claimant: bindings[8] as string,
          weight: weight!,
          priority: priority!,
          cameMs: (bindings[4] as number[]).map((ageSeconds) => calledMs - ageSeconds * 1000),
          claimMs: (bindings[9] as number) * 1000,
        },
        (rows as { slot_id: number | null }[]).flatMap(({ slot_id: slotId }) => slotId ?? []),
      );
    } else if (sql.includes('budget_finish')) {
      judge.told(now, bindings[2] as number[]);
    } else if (sql.includes('budget_throttled')) {
      judge.throttled(now, bindings[2] as number, (bindings[3] as number) * 1000);
    } else if (sql.includes('budget_withdraw')) {
      judge.withdrew(bindings[2] as string);
    }
  }
}
