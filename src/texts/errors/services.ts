import type { PlainError } from '../plain-error.ts';

/** Errors of the servers that vetledger uses: PostgreSQL, Temporal and the practice API. */
export const serviceErrors = {
  temporalRequestFailed: ({ reason }: { reason: string }): PlainError => ({
    code: 'temporal_unreachable',
    message: `A request to Temporal failed: ${reason}`,
    todo: 'Run `vetledger doctor` to check whether the Temporal server is up.',
  }),
  queryTimeout: (): PlainError => ({
    code: 'query_timeout',
    message: 'PostgreSQL did not answer a query in time.',
    todo: 'Run `analyze` in PostgreSQL. Then run the command again while no window is open, with --installation if the command has that option.',
  }),
  postgresConnectionLost: ({ reason }: { reason: string }): PlainError => ({
    code: 'postgres_unreachable',
    message: `The connection to PostgreSQL was lost: ${reason}`,
    todo: 'Run `vetledger doctor` to check whether the database is up. Then run the command again: it posts nothing twice.',
  }),
  postgresConnectionLostInWindow: ({ reason }: { reason: string }): PlainError => ({
    code: 'postgres_unreachable',
    message: `The connection to PostgreSQL was lost: ${reason}`,
    todo: 'Run `vetledger doctor` to check whether the database is up. vetledger retries automatically.',
  }),
  databaseBusy: ({ reason }: { reason: string }): PlainError => ({
    code: 'database_busy',
    message: `PostgreSQL repeatedly ended a transaction because of others that ran at the same time: ${reason}`,
    todo: 'Nothing: vetledger retries automatically.',
  }),
  listUnprovable: ({ reason }: { reason: string }): PlainError => ({
    code: 'list_unprovable',
    message: `A list of the practice API could not be read completely: ${reason}.`,
    todo: 'Run `vetledger doctor` to see which filters the server supports. Nothing was skipped: the next window reads the list again.',
  }),
  unexpected: ({ reason }: { reason: string }): PlainError => ({
    code: 'internal_error',
    message: `An unexpected error occurred: ${reason}`,
    todo: 'Run the command again with --debug, and report the output.',
  }),
};
