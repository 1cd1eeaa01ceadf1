import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

const postgresLost = ({ reason }: { reason: string }, next: string): PlainError => ({
  code: 'postgres_unreachable',
  message: `The connection to PostgreSQL was lost: ${reason}`,
  todo: `Run \`vetledger doctor\` to check whether the database is up. ${next}`,
});

/** Errors of the servers that vetledger uses: PostgreSQL, Temporal and the practice API. */
export const serviceErrors = catalogue('errors/services.serviceErrors', {
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
  postgresConnectionLost: (failure: { reason: string }): PlainError =>
    postgresLost(failure, 'Then run the command again: it posts nothing twice.'),
  postgresConnectionLostInWindow: (failure: { reason: string }): PlainError =>
    postgresLost(failure, 'vetledger retries automatically.'),
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
  postgresNotAnswering: ({ reason, seconds }: { reason: string; seconds: number }): PlainError => ({
    code: 'postgres_unreachable',
    message: `PostgreSQL ${seconds === 0 ? 'does not answer' : `has not answered for ${seconds} s`}: ${reason}`,
    todo: 'Start PostgreSQL, and then this command again: nothing is lost, and nothing is posted twice.',
  }),
  postgresDown: ({ reason }: { reason: string }): PlainError => ({
    code: 'postgres_unreachable',
    message: `PostgreSQL does not answer: ${reason}`,
    todo: 'Start PostgreSQL again, or find out why it cannot be reached. Interrupted work then continues automatically.',
  }),
  temporalDown: ({ reason }: { reason: string }): PlainError => ({
    code: 'temporal_unreachable',
    message: `Temporal does not answer: ${reason}`,
    todo: 'Start Temporal again, or find out why it cannot be reached. Until then no window opens.',
  }),
  temporalAtDown: ({ code, address }: { code: string; address: string }): PlainError => ({
    code,
    message: `Temporal at ${address} does not answer, so no window opens.`,
    todo: `Start the server at ${address}, or correct temporal.address (TEMPORAL_ADDRESS). Interrupted work then continues automatically, and the next windows cover what was missed.`,
  }),
  embeddedTemporalHangs: ({
    code,
    address,
    logFile,
  }: {
    code: string;
    address: string;
    logFile: string;
  }): PlainError => ({
    code,
    message: `Temporal at ${address} does not answer, so no window opens.`,
    todo: `Read ${logFile}, and end that server. A running \`vetledger run\` starts it again.`,
  }),
  embeddedTemporalDied: ({ pid }: { pid: number }): PlainError => ({
    code: 'temporal_unreachable',
    message: `The embedded Temporal server (process ${pid}) has died, so no window opens.`,
    todo: 'Check that `vetledger run` is running: it restarts the server within seconds, and the next windows cover what was missed.',
  }),
  namespaceMissing: ({ name }: { name: string }): PlainError => ({
    code: 'temporal_namespace_missing',
    message: `The Temporal server has no namespace ${name}.`,
    todo: 'Correct temporal.namespace. If the namespace was never created, run `temporal operator namespace create --namespace NAME`; a daemon then continues automatically. If it was deleted, restore Temporal’s database.',
  }),
  metricsCannotListen: ({ address, reason }: { address: string; reason: string }): PlainError => ({
    code: 'metrics_cannot_listen',
    message: `The metrics of the Temporal SDK cannot be served at ${address}: ${reason}.`,
    todo: 'Name another address in metrics.temporal_listen. Another `vetledger run` with this configuration may already use this one.',
  }),
  searchAttributesRefused: ({ names, namespace, reason }: { names: string; namespace: string; reason: string }) =>
    `Temporal: vetledger continues without the search attributes ${names} in namespace ${namespace}: ${reason}`,
  notRegistered: 'not registered',
  logLevelUnknown: ({ level, levels }: { level: string; levels: string }): PlainError => ({
    code: 'log_level_unknown',
    message: `VETLEDGER_LOG is ${level}, which is not a level of the log.`,
    todo: `Use one of ${levels}, silent.`,
  }),
  installationUnknown: ({
    installation,
    file,
    known,
  }: {
    installation: number;
    file: string;
    known: string;
  }): PlainError => ({
    code: 'installation_unknown',
    message: `Installation ${installation} is not in ${file}.`,
    todo: `Use one of its installations: ${known}.`,
  }),
  unexpected: ({ reason }: { reason: string }): PlainError => ({
    code: 'internal_error',
    message: `An unexpected error occurred: ${reason}`,
    todo: 'Run the command again with --debug, and report the output.',
  }),
});
