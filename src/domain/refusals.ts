import type { PlainError } from '../texts/plain-error.ts';
import { codeOf } from './errors.ts';

const goesOn = 'Then run the command again; a daemon goes on by itself. Nothing is lost or posted twice.';

const fullDisk = (where: string): PlainError => ({
  code: 'disk_full',
  message: `${where} is full`,
  todo: `Make room there. ${goesOn}`,
});
const machineFull = fullDisk('A disk of this machine');

/** The keys are SQLSTATEs or error codes of the operating system. */
const refusals: ReadonlyMap<string, PlainError> = new Map([
  ['53100', fullDisk('The disk of PostgreSQL')],
  ['ENOSPC', machineFull],
  ['EDQUOT', machineFull],
  [
    '25006',
    {
      code: 'postgres_read_only',
      message: 'PostgreSQL is read-only: nothing can be written',
      todo: `A standby takes writes once it is promoted. On a primary, set default_transaction_read_only to off where it is on: for the server, the database or the role. ${goesOn}`,
    },
  ],
  [
    '53300',
    {
      code: 'postgres_connections_used_up',
      message: 'PostgreSQL accepts no more connections: a limit of the server, the database or the role is reached',
      todo: `See in pg_stat_activity which programs hold them. End those that are not needed, or raise that limit. ${goesOn}`,
    },
  ],
]);

/**
 * The user's error for a refusal of PostgreSQL or a disk that stops all work until the operator fixes it. Null for all
 * other errors.
 */
export function causeOfRefusal(error: unknown): PlainError | null {
  const code = codeOf(error) ?? '';
  const found = refusals.get(code);
  if (found) return { ...found, message: `${found.message} (${code}).` };
  return error instanceof Error && error.cause !== undefined ? causeOfRefusal(error.cause) : null;
}
