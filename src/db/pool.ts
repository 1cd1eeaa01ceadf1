import knex, { type Knex } from 'knex';
import pg from 'pg';
import { redact } from '../domain/redact.ts';

export type Db = Knex;

/** All tables of vetledger are in this schema, so that a database can be shared. */
export const schemaName = 'vetledger';

// int8 and numeric must not become floats: ids become checked safe integers, and amounts stay text, also in lists.
// Dates stay `YYYY-MM-DD`. json and jsonb stay text, which src/records/json.ts parses where needed.
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
 * Connections of a process for this number of installations: 10 plus 2 per installation, at most 60. More connections
 * would only wait inside PostgreSQL; none is held during a wait for a rate budget. `work` is for long statements.
 * `prompt` is for short statements that must not wait behind them: renewals of leases, and the rate budget.
 */
export function poolSizes(installations: number): { work: number; prompt: number } {
  const all = Math.min(60, 10 + 2 * installations);
  const prompt = Math.min(10, 2 + Math.floor(installations / 10));
  return { work: all - prompt, prompt };
}

/** Time limit of every statement. */
export const statementTimeoutMs = 120_000;

/**
 * PostgreSQL ends a transaction that sends nothing for this time. A process that lost its connection (power failure,
 * network) leaves transactions open; otherwise their locks would block others for two hours, until TCP gives up.
 */
export const idleTransactionTimeoutMs = 30_000;

export interface DatabaseOptions {
  /** Limit of open connections. */
  max?: number;
  statementTimeoutMs?: number;
  idleTransactionTimeoutMs?: number;
  /** Limit of the wait for a connection. */
  acquireTimeoutMs?: number;
  /** A connection is closed after this time, however often it is used. Default: it is closed after 30 s without use. */
  connectionLifetimeMs?: number;
  /** Receives messages of the pool, for example a failure to connect. Default: stderr. */
  report?: (line: string) => void;
}

/**
 * A pool of connections to PostgreSQL. Time-outs limit every statement (`statementTimeoutMs`), the wait for a
 * connection, and idle transactions. A `url` that is a function is called before each use; if its result changes, new
 * connections use the new one. The caller ends the pool with `db.destroy()`.
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
    // By default, knex writes the values of a failed statement, which are personal data, into its error.
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
          if (code === readOnlyTransaction) dispose('its session is read-only');
        });
        if (options.connectionLifetimeMs)
          setTimeout(dispose, options.connectionLifetimeMs, 'its lifetime is over').unref();
        done(null, connection);
      },
    },
    acquireConnectionTimeout: options.acquireTimeoutMs ?? 30_000,
    // By default knex writes to stdout, but stdout holds the command's result.
    log: { debug: report, warn: report, error: report, deprecate: (what, instead) => report(`${what}: ${instead}`) },
  });
  // Error messages are stored and shown, so they must not contain the statement.
  db.on('query-error', (error: unknown, { sql }: { sql: string }) => {
    const prefix = `${sql} - `;
    if (error instanceof Error && error.message.startsWith(prefix)) error.message = error.message.slice(prefix.length);
  });
  return db;
}

/**
 * A session keeps the value that `default_transaction_read_only` had at its beginning. A session that got this error is
 * closed, or it would stay read-only after the database is writable again.
 */
const readOnlyTransaction = '25006';

/** A connection of the driver. knex closes it before its next use if the mark is set. */
interface PgConnection {
  connection: { on(event: 'errorMessage', listener: (error: { code?: string }) => void): void };
  __knex__disposed?: string;
}

/**
 * Removes the idle limit for a transaction that only reads. It may wait for a slow reader (a pager, a slow disk), and
 * holds no lock that others wait for.
 */
export async function withoutIdleTimeout(trx: Knex.Transaction): Promise<void> {
  await trx.raw('set local idle_in_transaction_session_timeout = 0');
}

/** The current connections of a pool, and the number of callers that wait for one. */
export function poolState(db: Db): { used: number; free: number; waiting: number; limit: number } {
  const { pool } = db.client as { pool: Pool };
  return { used: pool.numUsed(), free: pool.numFree(), waiting: pool.numPendingAcquires(), limit: pool.max };
}

/** The part of knex's pool (tarn) that is used here. */
interface Pool {
  max: number;
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
}
