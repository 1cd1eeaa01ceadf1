import knex, { type Knex } from 'knex';
import pg from 'pg';
import { redact } from '../domain/redact.ts';

export type Db = Knex;

/** Everything of ours lives in this schema, so that a database can be shared. */
export const schemaName = 'vetledger';

// int8 and numeric must not become floats: ids are checked safe integers, amounts stay text (in lists, too), dates stay
// `YYYY-MM-DD`, json and jsonb stay the wire's text (read by src/records/json.ts where it is needed).
const types = new pg.TypeOverrides();
types.setTypeParser(20, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`id ${text} is beyond 2^53`);
  return value;
});
types.setTypeParser(1082, (text) => text);
types.setTypeParser(114, (text) => text);
types.setTypeParser(3802, (text) => text);
types.setTypeParser(1016, (text) =>
  text === '{}' ? [] : Array.from(text.slice(1, -1).split(','), (each) => (each === 'NULL' ? null : Number(each))),
);
types.setTypeParser(1231, (text) => (text === '{}' ? [] : text.slice(1, -1).split(',')));

/**
 * Connections of a process for this number of installations: 10 and 2 for each, at most 60. More would only wait inside
 * PostgreSQL; no connection is held while waiting for a rate budget. `work` is for everything that may take long; `prompt` for short
 * statements that may not wait behind it, because nothing would go on without them: renewals of leases, and the rate budget.
 */
export function poolSizes(installations: number): { work: number; prompt: number } {
  const all = Math.min(60, 10 + 2 * installations);
  const prompt = Math.min(10, 2 + Math.floor(installations / 10));
  return { work: all - prompt, prompt };
}

/** Nothing that one statement does takes longer. */
export const statementTimeoutMs = 120_000;

/**
 * PostgreSQL ends a transaction that has sent nothing for so long. A process that is cut off from it (its machine lost power, the network
 * dropped its connections) leaves transactions open, whose locks would keep everyone else waiting until TCP gives up, after two hours.
 */
export const idleTransactionTimeoutMs = 30_000;

export interface DatabaseOptions {
  /** Connections at most. */
  max?: number;
  statementTimeoutMs?: number;
  /** Default: `idleTransactionTimeoutMs`. */
  idleTransactionTimeoutMs?: number;
  /** Longest wait for a connection. */
  acquireTimeoutMs?: number;
  /** A connection is used no longer, however often it is. Default: for as long as it is used every 30 s. */
  connectionLifetimeMs?: number;
  /** Takes what the pool reports, for example that no connection could be made. Default: stderr. */
  report?: (line: string) => void;
}

/**
 * A pool of connections to PostgreSQL. Every statement has a time-out (`statementTimeoutMs`), so have waiting for a connection and a
 * transaction in which nothing happens. A `url` that is a function is asked again for each use: when its answer changes, connections are made to the new
 * one. The caller ends the pool with `db.destroy()`.
 */
export function openDatabase(url: string | (() => string), options: DatabaseOptions = {}): Db {
  const write = options.report ?? ((line: string) => console.error(line));
  const report = (line: string) => write(redact(line));
  const settings = (connectionString: string) => ({
    connectionString,
    types,
    application_name: 'vetledger',
    statement_timeout: options.statementTimeoutMs ?? statementTimeoutMs,
    idle_in_transaction_session_timeout: options.idleTransactionTimeoutMs ?? idleTransactionTimeoutMs,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  const following = (current: () => string) => () => {
    const connected = current();
    return { ...settings(connected), expirationChecker: () => current() !== connected };
  };
  const db = knex({
    client: 'pg',
    // Otherwise knex writes the values of a failed statement, personal data, into its error.
    compileSqlOnError: false,
    connection: (typeof url === 'string' ? settings(url) : following(url)) as Knex.PgConnectionConfig,
    searchPath: [schemaName],
    pool: {
      ...{ min: 0, max: options.max ?? 10, idleTimeoutMillis: options.connectionLifetimeMs ?? 30_000 },
      afterCreate: (connection: PgConnection, done: (error: null, connection: PgConnection) => void) => {
        const dispose = (why: string) => {
          connection.__knex__disposed = why;
        };
        connection.connection.on('errorMessage', ({ code }) => {
          if (code === readOnlyTransaction) dispose('it is read-only');
        });
        if (options.connectionLifetimeMs) setTimeout(dispose, options.connectionLifetimeMs, 'its time is over').unref();
        done(null, connection);
      },
    },
    acquireConnectionTimeout: options.acquireTimeoutMs ?? 30_000,
    // knex writes to stdout unless told otherwise, and stdout is the command's result.
    log: { debug: report, warn: report, error: report, deprecate: (what, instead) => report(`${what}: ${instead}`) },
  });
  // Messages of errors are kept and shown: a statement is no part of what they tell.
  db.on('query-error', (error: unknown, { sql }: { sql: string }) => {
    const prefix = `${sql} - `;
    if (error instanceof Error && error.message.startsWith(prefix)) error.message = error.message.slice(prefix.length);
  });
  return db;
}

/**
 * A session keeps `default_transaction_read_only` as it was when it began: one that met it is closed, or it would stay read-only after the
 * database is writable again.
 */
const readOnlyTransaction = '25006';

/** A connection of the driver, with the mark by which knex closes it before its next use. */
interface PgConnection {
  connection: { on(event: 'errorMessage', listener: (error: { code?: string }) => void): void };
  __knex__disposed?: string;
}

/**
 * Lets a transaction that only reads wait for whoever takes what it reads (a pager, a slow disk): it holds no lock that others wait for.
 */
export async function withoutIdleTimeout(trx: Knex.Transaction): Promise<void> {
  await trx.raw('set local idle_in_transaction_session_timeout = 0');
}

/** The connections of a pool now, and how many are waited for. */
export function poolState(db: Db): { used: number; free: number; waiting: number; limit: number } {
  const { pool } = db.client as { pool: Pool };
  return { used: pool.numUsed(), free: pool.numFree(), waiting: pool.numPendingAcquires(), limit: pool.max };
}

/** knex's pool (tarn), as far as it is read. */
interface Pool {
  max: number;
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
}
