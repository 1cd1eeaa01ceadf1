import pg from 'pg';
import { migrate } from '../../src/db/migrate.ts';
import { openDatabase, schemaName } from '../../src/db/pool.ts';

type Statement = [sql: string, bindings: unknown[]];

/** What is done wrong around one of the budget's functions; the simulation has to notice. */
export interface StatementFault {
  function: 'budget_take' | 'budget_throttled';
  /** What the function is given instead. */
  bindings?(bindings: unknown[]): unknown[];
  /** Run at the same moment, on the same connection. */
  before?(bindings: unknown[]): Statement;
  after?(bindings: unknown[]): Statement;
}

const epoch = Date.parse('2026-01-01T00:00:00Z');

/**
 * The budget's functions as they are migrated, on one connection whose clock_timestamp() is what the test says: they call it
 * unqualified, and the schema `sim` is searched first. The database is the simulation's alone.
 */
export class SimulatedDatabase {
  readonly #client: pg.Client;
  readonly #fault: StatementFault | null;

  private constructor(client: pg.Client, fault: StatementFault | null) {
    this.#client = client;
    this.#fault = fault;
  }

  static async open(url: string, fault: StatementFault | null = null): Promise<SimulatedDatabase> {
    const db = openDatabase(url);
    await migrate(db);
    await db.destroy();
    const types = new pg.TypeOverrides();
    types.setTypeParser(20, Number);
    const client = new pg.Client({ connectionString: url, types, query_timeout: 30_000 });
    await client.connect();
    await client.query(`
      create schema if not exists sim;
      create or replace function sim.clock_timestamp() returns timestamptz language sql volatile as
        $$ select current_setting('sim.now')::timestamptz $$;
      set search_path = sim, pg_catalog, ${schemaName};
      set synchronous_commit = off;
      truncate budget, budget_slot, budget_claim`);
    return new SimulatedDatabase(client, fault);
  }

  /** Runs a statement with `?` parameters, so many milliseconds after the simulation's beginning. */
  async execute(atMs: number, sql: string, bindings: unknown[]): Promise<pg.QueryResult> {
    const instant = `${new Date(epoch + Math.floor(atMs)).toISOString().slice(0, -1)}${String(
      Math.floor((atMs - Math.floor(atMs)) * 1000),
    ).padStart(3, '0')}Z`;
    const fault = this.#fault && sql.includes(`${this.#fault.function}(`) ? this.#fault : null;
    const given = fault?.bindings?.(bindings) ?? bindings;
    const before = fault?.before?.(bindings);
    const after = fault?.after?.(bindings);
    const [, , result] = await Promise.all([
      this.#client.query(`set sim.now = '${instant}'`),
      before ? this.#query(...before) : null,
      this.#query(sql, given),
      after ? this.#query(...after) : null,
    ]);
    return result;
  }

  #query(sql: string, values: unknown[]): Promise<pg.QueryResult> {
    let n = 0;
    return this.#client.query({ text: sql.replace(/\?/g, () => `$${++n}`), values });
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}
