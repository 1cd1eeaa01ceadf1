import knex, { type Knex } from 'knex';
import { codeOf } from '../domain/errors.ts';
import { redact } from '../domain/redact.ts';
import { postgresText } from '../domain/text.ts';
import type { Transact } from './lease.ts';

// SQLSTATE class 08 (connection), 57P (shutdown) and 25P03 (PostgreSQL ended the session of an idle transaction). The
// other codes are network errors.
const lostConnectionCodes = /^(08\w{3}|57P\d\d|25P03|ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT)$/;

const codelessLoss =
  /(?:^| - )(?:Connection terminated\b.*|Connection ended unexpectedly|Client has encountered a connection error\b.*)$/;

/**
 * Whether a statement failed because PostgreSQL could not be reached, or because no connection of the pool became free
 * in time.
 */
export function isLostConnection(error: unknown): error is Error {
  if (error instanceof knex.KnexTimeoutError) return true;
  // The driver sets no code on these errors, and knex puts the statement in front of the message.
  if (error instanceof Error && codelessLoss.test(error.message)) return true;
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && lostConnectionCodes.test(error.code)
  );
}

// Deadlock, serialization failure, lock not available: the same transaction may succeed later.
const retryCodes = /^(40001|40P01|55P03)$/;
// Invalid data, a violated constraint, a limit of the program, an exception raised by a trigger.
const dataCodes = /^(22|23|44|54|P0)\w{3}$/;
const sqlState = /^[0-9A-Z]{5}$/;
// Codes of the operating system (ENOSPC, EPIPE), without codes of Node (ERR_…).
const systemCode = /^E(?!RR_)[A-Z0-9]+$/;

/** Whether a transaction failed only because of a conflict with other transactions. */
export function isRetriable(error: unknown): boolean {
  return retryCodes.test(codeOf(error) ?? '');
}

/**
 * Whether the stored data, or one record of it, may have caused a failure. False if the failure has another
 * explanation: the connection, a time-out, the state of the database (disk, rights, schema), or a domain error (these
 * have a `todo`).
 */
export function isCausedByData(error: unknown): boolean {
  if (!(error instanceof Error) || error.name === 'AbortError' || 'todo' in error) return false;
  if (isLostConnection(error)) return false;
  const code = codeOf(error);
  if (code === undefined) return true;
  return sqlState.test(code) ? dataCodes.test(code) : !systemCode.test(code);
}

/** The kind of an unexpected error without any data: its name, or PostgreSQL's code. */
export function kindOfError(error: unknown): string {
  const code = codeOf(error);
  if (code !== undefined && sqlState.test(code)) return `PostgreSQL error ${code}`;
  if (code !== undefined && /^\w{1,60}$/.test(code)) return code;
  return error instanceof Error ? error.name : 'unknown error';
}

/**
 * Describes an unexpected error for the log: its kind and where it was thrown. Its message is left out, since it may
 * quote a record.
 */
export function describeUnexpected(error: unknown): { error: string; at: string[] } {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  return { error: kindOfError(error), at: lines.map((line) => line.trim()).filter((line) => line.startsWith('at ')) };
}

const attempts = 5;

/** Runs the work in a transaction, and repeats it after conflicts with other transactions. */
export async function retryingTransaction<T>(
  transact: Transact,
  work: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact(work);
    } catch (error) {
      if (!isRetriable(error) || attempt >= attempts) throw error;
    }
  }
}

const longestText = 8 * 1024;

/**
 * The message of an error without secrets and values. PostgreSQL quotes the values that it cannot read (SQLSTATE class
 * 22), and they may be personal data. The error's details, which quote whole rows, are not part of the message.
 */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return postgresText(redact(String(error), longestText));
  if (error instanceof AggregateError && error.errors.length > 0) return errorText(error.errors[0]);
  const code = codeOf(error) ?? '';
  const message = error.message || error.name;
  if (!sqlState.test(code)) return postgresText(redact(message, longestText));
  const withoutValues = code.startsWith('22') ? withoutQuoted(message) : message;
  return postgresText(redact(`${withoutValues} (SQLSTATE ${code})`, longestText));
}

/**
 * Replaces the text from the first to the last quotation mark, in any language of the server: it may be personal data.
 */
function withoutQuoted(message: string): string {
  return message.replace(/["“”„«»‹›「」『』].*["“”„«»‹›「」『』]/s, '"…"');
}
