import type { PlainError } from '../plain-error.ts';

/** Errors of the servers that vetledger uses: PostgreSQL and Temporal. */
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
  unexpected: ({ reason }: { reason: string }): PlainError => ({
    code: 'internal_error',
    message: `An unexpected error occurred: ${reason}`,
    todo: 'Run the command again with --debug, and report the output.',
  }),
};
