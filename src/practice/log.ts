import { randomUUID } from 'node:crypto';

/** The methods of a pino logger that are used here. */
export interface Log {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** An id for the log that all attempts of a request share. */
export function newRequestId(): string {
  return randomUUID().slice(0, 8);
}
