// A worker process of the simulation, with its database pool, its clients of practice and ERP, and its activities. Its timers use
// simulated time. They stop while the process pauses, and never fire after its death.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { ActivityDeps } from '../../activities/deps.ts';
import { type Activities, createActivities } from '../../activities/index.ts';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import type { Db } from '../../src/db/pool.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { openDelivery } from '../../src/erp/delivery.ts';
import type { ErpTarget } from '../../src/erp/port.ts';
import { type Auth, staticToken } from '../../src/practice/auth.ts';
import { Budget } from '../../src/practice/budget.ts';
import { createPracticeClient } from '../../src/practice/client.ts';
import type { Life } from '../erp/fake/target.ts';
import type { Asker, SimulatedDatabase } from './database.ts';
import { forever, Mortal, type MortalOptions } from './mortal.ts';
import { type SimulatedPractice, token } from './practice.ts';

export interface WorkerOptions extends MortalOptions {
  database: SimulatedDatabase;
  databaseId: string;
  installation: InstallationConfig;
  practice: SimulatedPractice;
  open: ((life: Life) => ErpTarget) | null;
  requestDelivery(): void;
  /** Returns the probability that the database connection breaks at the next statement. */
  breaks(): number;
  /** How it signs in to the practice. The default is a token that is always accepted. */
  auth?: (ports: { db: Db; clock: Clock }) => Auth;
  onEvent?: ActivityDeps['onEvent'];
  /** The longest wait of a statement for its turn. */
  longestTurnMs?: number;
}

const usualTurnMs = 12;
/** This simulation does not limit the requests to ERP and source. The lives of delivery test such limits. */
const ampleLimit = 100_000;
const requestTimeoutSeconds = 90;

const running = new AsyncLocalStorage<WorkerProcess>();

export class WorkerProcess extends Mortal implements Asker {
  readonly activities: Activities;
  readonly #options: WorkerOptions;
  readonly #release: () => Promise<void>;

  constructor(options: WorkerOptions) {
    super(options);
    this.#options = options;
    const { database, time, installation, databaseId, practice, open, rng } = options;
    const { db, release } = database.open(time, this);
    this.#release = release;
    const clock = this.clock();
    const { id, dialect } = installation;
    const ample = { list: ampleLimit, retrieve: ampleLimit, write: ampleLimit };
    const budget = new Budget({
      ...{ db, installation: id, windowSeconds: 60, requestTimeoutSeconds, clock },
      dialect: { ...dialect, limits: { ...dialect.limits, unknown: ample, actions: {} } },
    });
    const client = createPracticeClient({
      auth: options.auth?.({ db, clock }) ?? staticToken(token),
      ...{ installation: id, baseUrl: installation.baseUrl, dialect, budget, clock },
      ...{ log: silent as never, transport: practice.transportOf(this), random: () => rng.next() },
    });
    const delivery = openDelivery({
      ...{ db, databaseId, clock, log: silent as never },
      ...(open ? { open: () => open(this) } : {}),
    });
    const deps: ActivityDeps = {
      ...{ db, installations: new Map([[id, installation]]), practice: () => client, sealKey: null },
      workflows: { getHandle: () => ({ signal: async () => undefined }) } as unknown as ActivityDeps['workflows'],
      clock: () => new Date(time.nowMs),
      log: silent as never,
      scrubs: true,
      ...(options.onEvent ? { onEvent: options.onEvent } : {}),
      ...(open ? { delivery, requestDelivery: async () => options.requestDelivery() } : {}),
    };
    this.activities = createActivities(deps);
  }

  /** Runs work with the timers of this process. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return running.run(this, work);
  }

  async turn(): Promise<void> {
    const { time, rng, longestTurnMs = usualTurnMs } = this.#options;
    await time.sleep(rng.int(0, longestTurnMs));
    await this.thaw();
    if (this.isDead) await forever();
  }

  breaks(statement: string): boolean {
    const { rng, breaks, tell } = this.#options;
    if (/^rollback/i.test(statement) || !rng.chance(breaks())) return false;
    tell(
      `${this.holder}: the database's connection breaks at ${statement.trimStart().slice(0, 40).replace(/\s+/g, ' ')}`,
    );
    return true;
  }

  /** Gives the process's database connections back. */
  async release(): Promise<void> {
    const end = this.#options.time.begin();
    try {
      await this.#release();
    } finally {
      end();
    }
  }

  /** Calls `happen` after this simulated time, unless the process is dead then. The returned function cancels it. */
  after(ms: number, happen: () => void): () => void {
    const { time } = this.#options;
    return time.at(time.nowMs + ms, () => void this.thaw().then(() => this.isDead || running.run(this, happen)));
  }
}

/** A timer of a process, with the methods of Node.js timers that callers use. */
class SimulatedTimer {
  readonly cancel: () => void;
  constructor(cancel: () => void) {
    this.cancel = cancel;
  }
  unref(): this {
    return this;
  }
  ref(): this {
    return this;
  }
}

/** Timers up to this length belong to work under way and use real time (test/erp/fake/time.ts). */
const shortMs = 20;
/** The interval at which the connection pool looks for idle connections. */
const poolIntervalMs = 1_000;
let areTimersSimulated = false;

/** Makes timers that are set in a process use simulated time. Call it once per real process, after the first SimulatedTime. */
export function simulateTimers(): void {
  if (areTimersSimulated) return;
  areTimersSimulated = true;
  const real = { ...{ setTimeout, clearTimeout, setInterval, clearInterval } };
  const after = (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    const process = running.getStore();
    if (process === undefined || ms <= shortMs) return real.setTimeout(work, ms, ...args);
    return new SimulatedTimer(process.after(ms, () => work(...args)));
  };
  const every = (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    const process = running.getStore();
    if (process === undefined || ms <= poolIntervalMs) return real.setInterval(work, ms, ...args);
    let cancel: () => void = () => undefined;
    let isOver = false;
    const next = () => {
      cancel = process.after(ms, () => {
        if (isOver) return;
        work(...args);
        next();
      });
    };
    next();
    return new SimulatedTimer(() => {
      isOver = true;
      cancel();
    });
  };
  const cleared = (clear: (timer: never) => void) => (timer: unknown) =>
    timer instanceof SimulatedTimer ? timer.cancel() : clear(timer as never);
  globalThis.setTimeout = Object.assign(after, { ...real.setTimeout }) as unknown as typeof setTimeout;
  globalThis.setInterval = every as unknown as typeof setInterval;
  globalThis.clearTimeout = cleared(real.clearTimeout) as typeof clearTimeout;
  globalThis.clearInterval = cleared(real.clearInterval) as typeof clearInterval;
}

const nothing = () => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };
