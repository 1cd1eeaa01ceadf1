import pg from 'pg';
import { migrate } from '../../src/db/migrate.ts';
import { openDatabase, schemaName } from '../../src/db/pool.ts';

type Statement = [sql: string, bindings: unknown[]];

/** A fault around one of the budget's functions, which the simulation must notice. */
export interface StatementFault {
  function: 'budget_take' | 'budget_throttled';
  /** Changes the function's parameters. */
  bindings?(bindings: unknown[]): unknown[];
  /** Statements that run before or after it, at the same moment and on the same connection. */
  before?(bindings: unknown[]): Statement;
  after?(bindings: unknown[]): Statement;
}

const epoch = Date.parse('2026-01-01T00:00:00Z');

/**
 * The migrated budget functions on one connection whose clock_timestamp() the test sets. The functions call it without
 * a schema, and the schema `sim` is searched first. Only the simulation uses this database.
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

  /** Runs a statement with `?` parameters, this many milliseconds after the simulation's start. */
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
