// PostgreSQL for simulated processes: it uses the simulated clock, and a process that dies leaves only what it has
// committed.

import type pg from 'pg';
import { type Db, openDatabase, schemaName } from '../../src/db/pool.ts';
import type { SimulatedTime } from '../erp/fake/time.ts';

/** The process that runs statements. It may die at each of its steps. */
export interface Asker {
  readonly isDead: boolean;
  /**
   * Called before a statement and before its result. It never returns in a dead process. `isLocking` is true in a
   * transaction: there the process may not pause, because others would wait for its locks while time stands still.
   */
  step(what: string, mayStand: boolean, isLocking?: boolean): Promise<void>;
  /** Waits for its turn before a statement that begins a transaction or that is a transaction. */
  turn?(): Promise<void>;
  /**
   * Returns whether the connection breaks: before the statement arrives, or after it took effect and before its answer.
   */
  breaks?(statement: string, when: 'before' | 'after'): boolean;
}

type Callback = (error: Error | null, result?: unknown) => void;
interface RawConnection {
  client: pg.Client;
  query: pg.Client['query'];
  /** The time that the session has; empty if it is unknown. */
  told: string;
  isInTransaction: boolean;
  isBroken: boolean;
}

/** The parts of knex's client that are replaced, with knex's names. */
interface KnexClient {
  searchPath: string[];
  acquireConnection(): Promise<unknown>;
  acquireRawConnection(): Promise<pg.Client>;
  destroyRawConnection(connection: pg.Client): Promise<void>;
}

const connectionsOfProcess = 4;
/** Matches statements that use the time, directly or through a default of a column. */
const asksForTime = /clock_timestamp|now\(|insert into erp_/;

/**
 * Replaces clock_timestamp() and now() for sessions that search the schema `sim` first. It must be called once per
 * database.
 */
export async function simulateClock(owner: Db): Promise<void> {
  await owner.raw(`
    create schema if not exists sim;
    grant usage on schema sim to public;
    create or replace function sim.clock_timestamp() returns timestamptz language sql volatile as
      $$ select coalesce(nullif(pg_catalog.current_setting('sim.now', true), '')::timestamptz, pg_catalog.clock_timestamp()) $$;
    create or replace function sim.now() returns timestamptz language sql volatile as $$ select sim.clock_timestamp() $$`);
  // A column's default keeps the function that it named at its creation, so defaults are created again.
  await owner.raw(`
    do $do$ declare c record; begin
      for c in select table_name, column_name from information_schema.columns
        where table_schema = '${schemaName}' and column_default = 'clock_timestamp()'
      loop
        execute format('alter table ${schemaName}.%I alter column %I set default sim.clock_timestamp()', c.table_name, c.column_name);
      end loop;
    end $do$`);
  // Functions keep the search path of their creation, so it is changed.
  await owner.raw(`
    do $do$ declare f record; begin
      for f in select p.oid::regprocedure as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where n.nspname = '${schemaName}' and array_to_string(p.proconfig, ' ') like '%search_path%'
      loop
        execute format('alter function %s set search_path = sim, pg_catalog, ${schemaName}, pg_temp', f.name);
      end loop;
    end $do$`);
}

/**
 * Connections of simulated processes to one database. When a process ends, its connections are cleaned and used by the
 * next one.
 */
export class SimulatedDatabase {
  readonly #url: string;
  readonly #reserve: RawConnection[] = [];
  readonly #asksForTime: RegExp;

  constructor(url: string, { asksForTime: statements = asksForTime }: { asksForTime?: RegExp } = {}) {
    this.#url = url;
    this.#asksForTime = statements;
  }

  /** Opens a pool for one process. `release` takes its connections back and rolls back open transactions. */
  open(time: SimulatedTime, asker: Asker): { db: Db; release(): Promise<void> } {
    const db = openDatabase(this.#url, { max: connectionsOfProcess, report: () => undefined });
    const client = db.client as KnexClient;
    client.searchPath = ['sim', 'pg_catalog', schemaName];
    const acquire = client.acquireConnection.bind(client);
    const connect = client.acquireRawConnection.bind(client);
    const mine = new Set<RawConnection>();
    client.acquireConnection = async () => {
      if (asker.isDead) return forever();
      // The process with the last connection may be waiting for time.
      return acquire();
    };
    const connected = async () => {
      const end = time.begin();
      try {
        return await connect();
      } finally {
        end();
      }
    };
    client.acquireRawConnection = async () => {
      const raw = this.#reserve.pop() ?? wholeConnection(await connected());
      mine.add(raw);
      Object.assign(raw, { told: '', isInTransaction: false, isBroken: false });
      Object.assign(raw.client, { __knex__disposed: undefined });
      raw.client.query = asking(raw, time, asker, this.#asksForTime) as pg.Client['query'];
      return raw.client;
    };
    client.destroyRawConnection = async (connection) => {
      const raw = [...mine].find((one) => one.client === connection);
      if (raw) await this.#takeBack(raw, mine);
    };
    return {
      db,
      release: async () => {
        // The pool of a dead process would wait for connections that never return, so it is abandoned.
        if (!asker.isDead) await db.destroy();
        // They are taken back together, because a statement of one may wait for a lock of another.
        await Promise.all([...mine].map((raw) => this.#takeBack(raw, mine)));
      },
    };
  }

  async #takeBack(raw: RawConnection, mine: Set<RawConnection>): Promise<void> {
    if (!mine.delete(raw)) return;
    await raw.query('rollback');
    this.#reserve.push(raw);
  }

  async close(): Promise<void> {
    for (const { client } of this.#reserve) await client.end();
  }
}

function wholeConnection(client: pg.Client): RawConnection {
  return {
    client,
    query: client.query.bind(client) as pg.Client['query'],
    told: '',
    isInTransaction: false,
    isBroken: false,
  };
}

/** Wraps a connection's query: it counts as work under way, sets the session's time, and is a step of its process. */
function asking(raw: RawConnection, time: SimulatedTime, asker: Asker, asksForTime: RegExp) {
  return (config: { text: string } | string, callback: Callback) => {
    const statement = typeof config === 'string' ? config : config.text;
    const send = (text: string | { text: string }) =>
      new Promise<[Error | null, unknown]>((resolve) => {
        raw.query(text as string, ((error: Error | null, result: unknown) => resolve([error, result])) as never);
      });
    /** The connection and its transaction are lost; knex opens another one. */
    const broken = async () => {
      const error = Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
      if (!raw.isBroken) {
        Object.assign(raw, { isBroken: true, isInTransaction: false });
        Object.assign(raw.client, { __knex__disposed: error });
        const end = time.begin();
        await send('rollback');
        end();
      }
      callback(error);
    };
    const ask = async () => {
      if (!raw.isInTransaction) await asker.turn?.();
      if (raw.isBroken || asker.breaks?.(statement, 'before')) return broken();
      await asker.step(`before ${opening(statement)}`, false, raw.isInTransaction);
      const end = time.begin();
      const now = new Date(time.nowMs).toISOString();
      // In a failed transaction this statement and the following ones fail.
      const isTimed = asksForTime.test(statement);
      if (raw.told !== now && isTimed) await send(`set sim.now = '${now}'`);
      // A rollback undoes the settings of the transaction.
      if (/^rollback/i.test(statement)) raw.told = '';
      else if (isTimed) raw.told = now;
      const [error, result] = await send(config);
      if (/^(begin|commit|rollback)/i.test(statement)) raw.isInTransaction = /^begin/i.test(statement);
      end();
      if (!raw.isInTransaction && error === null && asker.breaks?.(statement, 'after')) return broken();
      await asker.step(`after ${opening(statement)}`, !raw.isInTransaction, raw.isInTransaction);
      callback(error, result);
    };
    void ask();
  };
}

function opening(statement: string): string {
  return statement.trimStart().slice(0, 40).replace(/\s+/g, ' ');
}

function forever(): Promise<never> {
  return new Promise(() => undefined);
}
