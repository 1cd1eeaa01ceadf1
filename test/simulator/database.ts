// PostgreSQL for simulated processes: it uses the simulated clock, and a process that dies leaves only what it has
// committed.

import type { EventEmitter } from 'node:events';
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
/** Matches statements that read the time through a column's default, a trigger or a function. */
const readsSessionTime = /insert into|update erp_unit|update write_back|budget_/;
const directTime = /\b(?:clock_timestamp|now)\(\)/g;
const statementNames = new Map<string, string>();
/** Prepared statements of a connection. Their texts are those of the program, so there are few. */
const mostPrepared = 2_000;

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

  constructor(url: string) {
    this.#url = url;
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
      raw.client.query = asking(raw, time, asker) as pg.Client['query'];
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
        // All connections are taken back together, because a statement of one may wait for a lock of another.
        await Promise.all([...mine].map((raw) => this.#takeBack(raw, mine)));
      },
    };
  }

  async #takeBack(raw: RawConnection, mine: Set<RawConnection>): Promise<void> {
    if (!mine.delete(raw)) return;
    await raw.query('rollback');
    // The pool of each process adds a listener; the first one is the driver's.
    const { connection } = raw.client as unknown as { connection: EventEmitter };
    for (const listener of connection.listeners('errorMessage').slice(1))
      connection.off('errorMessage', listener as () => void);
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

interface Statement {
  text: string;
  values?: unknown[];
}

/** Wraps a connection's query: it counts as work under way, sets the session's time, and is a step of its process. */
function asking(raw: RawConnection, time: SimulatedTime, asker: Asker) {
  return (config: Statement | string, callback: Callback) => {
    const statement = typeof config === 'string' ? config : config.text;
    const send = (text: string | Statement) =>
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
      const setting = `set sim.now = '${now}'`;
      const isBegin = /^begin/i.test(statement);
      // In a failed transaction this statement and the following ones fail.
      const isTimed = raw.told !== now && readsSessionTime.test(statement);
      if (isTimed) await send(setting);
      // A rollback undoes the settings of the transaction.
      if (/^rollback/i.test(statement)) raw.told = '';
      else if (isTimed || isBegin) raw.told = now;
      const [error, result] = await send(
        isBegin ? `${statement.replace(/;$/, '')}; ${setting}` : prepared(config, now),
      );
      if (/^(begin|commit|rollback)/i.test(statement)) raw.isInTransaction = isBegin;
      end();
      if (!raw.isInTransaction && error === null && asker.breaks?.(statement, 'after')) return broken();
      await asker.step(`after ${opening(statement)}`, !raw.isInTransaction, raw.isInTransaction);
      callback(error, result);
    };
    void ask();
  };
}

/** The statement with the time as a parameter. PostgreSQL parses and plans it once per connection. */
function prepared(config: Statement | string, now: string): Statement | string {
  if (typeof config === 'string') return config;
  const { text, values = [] } = config;
  const dated = text.replace(directTime, `$${values.length + 1}::timestamptz`);
  const given = dated === text ? values : [...values, now];
  if (given.length === 0) return config;
  let name = statementNames.get(text);
  if (name === undefined && statementNames.size < mostPrepared) {
    name = `s${statementNames.size}`;
    statementNames.set(text, name);
  }
  return { ...config, text: dated, values: given, ...(name === undefined ? {} : { name }) };
}

function opening(statement: string): string {
  return statement.trimStart().slice(0, 40).replace(/\s+/g, ' ');
}

function forever(): Promise<never> {
  return new Promise(() => undefined);
}
