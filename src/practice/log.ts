import { randomUUID } from 'node:crypto';

/** The methods of a pino logger that are used. */
export interface Log {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Names a request in the log: all of its attempts. */
export function newRequestId(): string {
  return randomUUID().slice(0, 8);
}
