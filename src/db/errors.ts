import knex from 'knex';

// SQLSTATE class 08 (connection) and 57P (shutdown); the others are the network's.
const lostConnectionCodes = /^(08\w{3}|57P\d\d|ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT)$/;

/** Whether a statement failed because PostgreSQL could not be reached, or because no connection of the pool became free in time. */
export function isLostConnection(error: unknown): error is Error {
  if (error instanceof knex.KnexTimeoutError) return true;
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && lostConnectionCodes.test(error.code)
  );
}
