import pg from 'pg';
import { migrate } from '../../src/db/migrate.ts';
import { openDatabase, schemaName } from '../../src/db/pool.ts';

/** A change to one of the budget's functions that the simulation has to notice. */
export interface SqlMutant {
  function: string;
  from: string;
  to: string;
}

const epoch = Date.parse('2026-01-01T00:00:00Z');

/**
 * The budget's functions as they are migrated, on one connection whose clock_timestamp() is what the test says: they call it
 * unqualified, and the schema `sim` is searched first. A mutant's functions are searched before all. The database is the
 * simulation's alone.
 */
export class SimulatedDatabase {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async open(url: string, mutant: SqlMutant | null = null): Promise<SimulatedDatabase> {
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
      drop schema if exists mutant cascade;
      create schema mutant;
      set search_path = mutant, sim, pg_catalog, ${schemaName};
      set synchronous_commit = off;
      truncate budget, budget_slot, budget_claim`);
    if (mutant) {
      const { rows } = await client.query<{ source: string }>(
        `select pg_get_functiondef(p.oid) as source from pg_proc p
         where p.proname = $1 and p.pronamespace = $2::regnamespace`,
        [mutant.function, schemaName],
      );
      const source = rows[0]?.source ?? '';
      if (!source.includes(mutant.from)) throw new Error(`${mutant.function} has no ${mutant.from}`);
      await client.query(source.replace(`${schemaName}.`, 'mutant.').replaceAll(mutant.from, mutant.to));
    }
    return new SimulatedDatabase(client);
  }

  /** Runs a statement with `?` parameters, so many milliseconds after the simulation's beginning. */
  async execute(atMs: number, sql: string, bindings: unknown[]): Promise<unknown[]> {
    const instant = `${new Date(epoch + Math.floor(atMs)).toISOString().slice(0, -1)}${String(
      Math.floor((atMs - Math.floor(atMs)) * 1000),
    ).padStart(3, '0')}Z`;
    let n = 0;
    const [, result] = await Promise.all([
      this.#client.query(`set sim.now = '${instant}'`),
      this.#client.query({ text: sql.replace(/\?/g, () => `$${++n}`), values: bindings }),
    ]);
    return result.rows;
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}
