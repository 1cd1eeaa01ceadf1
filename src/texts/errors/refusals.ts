import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

const then = 'Then run the command again; a daemon continues automatically. Nothing is lost or posted twice.';

const diskFull = (disk: string, sqlState: string): PlainError => ({
  code: 'disk_full',
  message: `${disk} is full (${sqlState}).`,
  todo: `Free space on it. ${then}`,
});

/** Refusals of PostgreSQL or a disk that stop all work until the operator fixes them. `code`: SQLSTATE or the system's error code. */
export const refusalErrors = catalogue('errors/refusals.refusalErrors', {
  databaseDiskFull: ({ code }: { code: string }) => diskFull('The disk of PostgreSQL', code),
  machineDiskFull: ({ code }: { code: string }) => diskFull('A disk of this machine', code),
  readOnly: ({ code }: { code: string }): PlainError => ({
    code: 'postgres_read_only',
    message: `PostgreSQL is read-only, so nothing can be written (${code}).`,
    todo: `On a standby, promote it. On a primary, set default_transaction_read_only to off for the server, the database or the role. ${then}`,
  }),
  noConnections: ({ code }: { code: string }): PlainError => ({
    code: 'postgres_connections_used_up',
    message: `PostgreSQL accepts no more connections: a limit of the server, the database or the role is reached (${code}).`,
    todo: `Read pg_stat_activity to find the programs that use them. End programs that are not needed, or raise the limit. ${then}`,
  }),
});
