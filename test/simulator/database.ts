// PostgreSQL as the processes of a simulation see it: its clock is the simulation's, and a process that dies leaves nothing behind
// but what it has committed.

import type pg from 'pg';
import { type Db, openDatabase, schemaName } from '../../src/db/pool.ts';
import type { SimulatedTime } from '../erp/fake/time.ts';

/** What asks the database: its steps are where it may die. */
export interface Asker {
  readonly isDead: boolean;
  /**
   * Before a statement, and before its result; never ends for a dead process. One that stands still within a transaction would
   * have others wait for its locks while time stands still, too (`isLocking`).
   */
  step(what: string, mayStand: boolean, isLocking?: boolean): Promise<void>;
  /** Waits for its turn among other work, before a statement that begins a transaction or is one by itself. */
  turn?(): Promise<void>;
  /** Whether the connection breaks: before the statement arrives, or once it has taken effect and before its answer. */
  breaks?(statement: string, when: 'before' | 'after'): boolean;
}

type Callback = (error: Error | null, result?: unknown) => void;
interface RawConnection {
  client: pg.Client;
  query: pg.Client['query'];
  /** The time that the session knows; '' where that is not known. */
  told: string;
  isInTransaction: boolean;
  isBroken: boolean;
}

/** What of knex's client is replaced; the names are knex's. */
interface KnexClient {
  searchPath: string[];
  acquireConnection(): Promise<unknown>;
  acquireRawConnection(): Promise<pg.Client>;
  destroyRawConnection(connection: pg.Client): Promise<void>;
}

const connectionsOfProcess = 4;
/** Statements that ask for the time, themselves or by a default of a column. */
const asksForTime = /clock_timestamp|now\(|insert into erp_/;

/** Makes clock_timestamp() and now() the simulation's in sessions that look at the schema `sim` first. Once per database. */
export async function simulateClock(owner: Db): Promise<void> {
  await owner.raw(`
    create schema if not exists sim;
    grant usage on schema sim to public;
    create or replace function sim.clock_timestamp() returns timestamptz language sql volatile as
      $$ select coalesce(nullif(pg_catalog.current_setting('sim.now', true), '')::timestamptz, pg_catalog.clock_timestamp()) $$;
    create or replace function sim.now() returns timestamptz language sql volatile as $$ select sim.clock_timestamp() $$`);
  // A default is bound to the function that it named when it was made.
  await owner.raw(`
    do $do$ declare c record; begin
      for c in select table_name, column_name from information_schema.columns
        where table_schema = '${schemaName}' and column_default = 'clock_timestamp()'
      loop
        execute format('alter table ${schemaName}.%I alter column %I set default sim.clock_timestamp()', c.table_name, c.column_name);
      end loop;
    end $do$`);
  // Functions look where they were told to look when they were made.
  await owner.raw(`
    do $do$ declare f record; begin
      for f in select p.oid::regprocedure as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where n.nspname = '${schemaName}' and array_to_string(p.proconfig, ' ') like '%search_path%'
      loop
        execute format('alter function %s set search_path = sim, pg_catalog, ${schemaName}, pg_temp', f.name);
      end loop;
    end $do$`);
}

/** Connections of simulated processes to one database. A connection outlives its process, cleaned, for the next one. */
export class SimulatedDatabase {
  readonly #url: string;
  readonly #reserve: RawConnection[] = [];
  readonly #asksForTime: RegExp;

  constructor(url: string, { asksForTime: statements = asksForTime }: { asksForTime?: RegExp } = {}) {
    this.#url = url;
    this.#asksForTime = statements;
  }

  /** A pool of a process's own. `release` takes its connections back, and rolls back what is under way. */
  open(time: SimulatedTime, asker: Asker): { db: Db; release(): Promise<void> } {
    const db = openDatabase(this.#url, { max: connectionsOfProcess, report: () => undefined });
    const client = db.client as KnexClient;
    client.searchPath = ['sim', 'pg_catalog', schemaName];
    const acquire = client.acquireConnection.bind(client);
    const connect = client.acquireRawConnection.bind(client);
    const mine = new Set<RawConnection>();
    client.acquireConnection = async () => {
      if (asker.isDead) return forever();
      // Whoever has the last connection may wait for time.
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
        // A pool of the dead waits for what nobody gives back: it is left.
        if (!asker.isDead) await db.destroy();
        // At once: a statement of one may wait for a lock of another.
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

/** A connection's query that counts as work under way, tells the session the time, and is a step of its process. */
function asking(raw: RawConnection, time: SimulatedTime, asker: Asker, asksForTime: RegExp) {
  return (config: { text: string } | string, callback: Callback) => {
    const statement = typeof config === 'string' ? config : config.text;
    const send = (text: string | { text: string }) =>
      new Promise<[Error | null, unknown]>((resolve) => {
        raw.query(text as string, ((error: Error | null, result: unknown) => resolve([error, result])) as never);
      });
    /** The connection is gone, and with it the transaction; knex takes another one. */
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
      // It fails in a transaction that has failed, and so does what follows.
      const isTimed = asksForTime.test(statement);
      if (raw.told !== now && isTimed) await send(`set sim.now = '${now}'`);
      // What a transaction sets is undone when it is rolled back.
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
