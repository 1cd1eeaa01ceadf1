import { loadDialect } from '../../src/config/dialect.ts';
import type { Connection } from '../../src/db/rows.ts';
import { Budget, type BudgetOptions } from '../../src/practice/budget.ts';
import type { SimulatedDatabase } from './database.ts';
import { machineClock, VirtualTime } from './virtual-time.ts';

const horizonMs = 3_600_000;
let installations = 0;

/** Budgets of a new installation, with a clock and a database in virtual time. */
export class VirtualBudgets {
  readonly time = new VirtualTime();
  readonly clock = machineClock(this.time, { offsetMs: 0, pace: 1, timerErrorMs: () => 0 });
  readonly installation = ++installations;
  /** The duration of a database statement. */
  latencyMs = 1;
  /** The database's clock minus the test's. Later statements use the current value. */
  databaseAheadMs = 0;
  readonly db: Connection;
  readonly #database: SimulatedDatabase;

  constructor(database: SimulatedDatabase) {
    this.#database = database;
    const raw = (sql: string, bindings: unknown[] = []) => this.#query(sql, bindings);
    this.db = { raw } as unknown as Connection;
  }

  get now(): number {
    return this.time.now;
  }

  pass(ms: number): Promise<void> {
    return this.time.pass(ms);
  }

  /** Two budgets with this limit for one action, like those of two processes. */
  budgets(action: string, limit: number, options: Partial<BudgetOptions> = {}): [Budget, Budget] {
    const dialect = loadDialect({ limits: { actions: { [action]: limit } } });
    const make = () =>
      new Budget({
        ...{ db: this.db, clock: this.clock, installation: this.installation, dialect },
        ...{ windowSeconds: 1, requestTimeoutSeconds: 30, ...options },
      });
    return [make(), make()];
  }

  /** Waits in virtual time until the check is true. */
  async until(holds: () => boolean | Promise<boolean>, withinMs = 5_000): Promise<void> {
    const deadline = this.now + withinMs;
    while (!(await holds())) {
      if (this.now > deadline) throw new Error(`it does not hold within ${withinMs} ms`);
      await this.pass(10);
    }
  }

  /** Advances virtual time until the work is done. */
  async run(work: () => Promise<void>): Promise<void> {
    let isDone = false;
    const result = work().finally(() => {
      isDone = true;
    });
    result.catch(() => undefined);
    await this.time.run(() => isDone, horizonMs);
    if (!isDone) throw new Error('the test waits for something that never happens');
    await result;
  }

  /** The statement runs after half of its latency, at the virtual time of that moment. */
  #query(sql: string, bindings: unknown[]): Promise<unknown> {
    const { time, latencyMs } = this;
    return new Promise((resolve, reject) => {
      time.at(time.now + latencyMs / 2, async () => {
        try {
          const result = await this.#database.execute(time.now + this.databaseAheadMs, sql, bindings);
          time.at(time.now + latencyMs / 2, () => resolve(result));
        } catch (error) {
          reject(error);
        }
      });
    });
  }
}
