import { loadDialect } from '../../src/config/dialect.ts';
import type { Connection } from '../../src/db/rows.ts';
import { Budget, type BudgetOptions } from '../../src/practice/budget.ts';
import type { SimulatedDatabase } from './database.ts';
import { machineClock, VirtualTime } from './virtual-time.ts';

const horizonMs = 3_600_000;
let installations = 0;

/** Budgets of one fresh installation, with a clock and a database that know virtual time only. */
export class VirtualBudgets {
  readonly time = new VirtualTime();
  readonly clock = machineClock(this.time, { offsetMs: 0, pace: 1, timerErrorMs: () => 0 });
  readonly installation = ++installations;
  /** From asking the database to its answer. */
  latencyMs = 1;
  /** The database's clock less the test's; later statements run by what it is then. */
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

  /** Budgets with this limit for one action, as two processes would have them. */
  budgets(action: string, limit: number, options: Partial<BudgetOptions> = {}): [Budget, Budget] {
    const dialect = loadDialect({ limits: { actions: { [action]: limit } } });
    const make = () =>
      new Budget({
        ...{ db: this.db, clock: this.clock, installation: this.installation, dialect },
        ...{ windowSeconds: 1, requestTimeoutSeconds: 30, ...options },
      });
    return [make(), make()];
  }

  /** Waits, in virtual time, until the check holds. */
  async until(holds: () => boolean | Promise<boolean>, withinMs = 5_000): Promise<void> {
    const deadline = this.now + withinMs;
    while (!(await holds())) {
      if (this.now > deadline) throw new Error(`it does not hold within ${withinMs} ms`);
      await this.pass(10);
    }
  }

  /** Lets virtual time pass until the work is done. */
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

  /** Halfway through its latency the statement runs, at the virtual time of that moment. */
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
