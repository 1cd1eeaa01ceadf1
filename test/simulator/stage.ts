// The common parts of the lives of each world: databases, simulated time, and story.

import type { Db } from '../../src/db/pool.ts';
import { SimulatedTime } from '../erp/fake/time.ts';
import { query } from '../support/sql.ts';
import type { SimulatedDatabase } from './database.ts';

export interface Databases {
  /** A pool with the owner of the tables. */
  owner: Db;
  simulated: SimulatedDatabase;
}

const mostStory = 600;

export class Stage {
  readonly databases: Databases;
  readonly seed: number;
  readonly time: SimulatedTime;
  readonly story: string[] = [];
  /** The failed conditions. */
  readonly wrong: string[] = [];
  /** No faults occur any more. */
  isCalm = false;
  readonly #startMs: number;

  constructor(databases: Databases, seed: number, startMs: number) {
    this.databases = databases;
    this.seed = seed;
    this.time = new SimulatedTime(startMs);
    this.#startMs = startMs;
  }

  get simulatedHours(): number {
    return Math.round((this.time.nowMs - this.#startMs) / 3_600_000);
  }

  async databaseId(): Promise<string> {
    const [row] = await this.asked<{ value: string }>(`select value from meta where key = 'database_id'`, []);
    return row?.value ?? '';
  }

  asked<Row>(sql: string, bindings: readonly (string | number)[]): Promise<Row[]> {
    return this.outside(() => query<Row>(this.databases.owner, sql, bindings));
  }

  /** Runs work that takes no simulated time. */
  async outside<Result>(work: () => Promise<Result>): Promise<Result> {
    const end = this.time.begin();
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** Runs the work of a command, which reads the simulated clock. */
  async command<Result>(work: (db: Db) => Promise<Result>): Promise<Result> {
    const { db, release } = this.databases.simulated.open(this.time, { isDead: false, step: async () => undefined });
    try {
      return await work(db);
    } finally {
      await this.outside(release);
    }
  }

  /** Adds a line to the story of the life, with the simulated seconds since the beginning. */
  tell(line: string): void {
    this.story.push(`${((this.time.nowMs - this.#startMs) / 1_000).toFixed(1)} s: ${line}`);
    if (this.story.length > mostStory) this.story.splice(1, 1);
  }
}
