import { catalogue } from '../catalogue.ts';

/** The summary of `vetledger status` over several installations. */
export const statusSummaryTexts = catalogue('commands/status.statusSummaryTexts', {
  late: ({ count }: { count: number }) => `${count} late`,
  noWindow: 'no window has closed yet',
  lag: ({ lag }: { lag: string }) => `lag at most ${lag}`,
  withProblem: ({ documents }: { documents: string }) => `${documents} with a problem`,
  notComplete: ({ installations }: { installations: string }) => `${installations} NOT complete`,
  notReconciled: ({ installations }: { installations: string }) => `${installations} NOT reconciled when last checked`,
  reconcileOld: ({ installations }: { installations: string }) =>
    `${installations} never reconciled, or not for two days`,
  hint: 'Details and next step of one installation: vetledger status --installation ID',
});

/** Lines of `vetledger status` of one installation. */
export const statusTexts = catalogue('commands/status.statusTexts', {
  noticed: ({ at }: { at: string }) => `; the daemon noticed it ${at}`,
  mailFails: ({ waiting, givenUp, at, reason }: { waiting: number; givenUp: number; at: string; reason: string }) =>
    `${[
      waiting > 0 ? `${waiting === 1 ? '1 mail' : `${waiting} mails`} cannot be sent` : '',
      givenUp > 0 ? `${givenUp === 1 ? '1 mail was' : `${givenUp} mails were`} given up` : '',
    ]
      .filter(Boolean)
      .join(', ')}, the oldest of ${at}${reason === '' ? '' : `: ${reason}`}`,
  mailTodo: '`vetledger doctor` tries the mail server. Until mail works, read `vetledger problems`.',
  syncedTo: ({ at, lag }: { at: string; lag: string }) => `${at}, ${lag} ago`,
  window: ({ outcome, at }: { outcome: string; at: string }) => `${outcome}, opened ${at}`,
  noWindow: 'none yet',
  attempts: ({ attempts, at }: { attempts: string; at: string }) => `${attempts} since ${at}`,
  noDaemon: 'none: `vetledger run` is not running',
  untaken: ({ at, workflow }: { at: string; workflow: string }) =>
    `the window that Temporal began ${at}, which no daemon has started (${workflow})`,
  paused: ({ at, by, reason }: Record<'at' | 'by' | 'reason', string>) => `${at} by ${by}: ${reason}`,
  signIn: ({ times, since, next }: Record<'times' | 'since' | 'next', string>) =>
    `refused ${times} since ${since}; the next request is sent ${next}, or when the secret changes`,
  missed: ({ windows, at }: { windows: string; at: string | null }) =>
    `${windows} that Temporal could not open in time${at === null ? '' : `, last seen ${at}`}`,
  none: 'none',

  atWork: ({ at }: { at: string }) => `at work since ${at}`,
  waits: ({ at, what }: { at: string; what: string }) => `; waits since ${at} for ${what}`,
  noHeartbeat: '; its process sends no heartbeat',
  lastError: ({ times, message }: { times: string; message: string }) => `last error, ${times}: ${message}`,

  noSeal: 'none yet',
  seal: ({ at, seq }: { at: string; seq: number }) => `the last of ${at}, at link ${seq}`,
  unsealed: ({ count }: { count: number }) =>
    `${count === 1 ? '1 link of the chains is' : `${count} links of the chains are`} not sealed until the next window ends`,

  neverAutomatic: 'never automatically (reconcile.between: never)',
  failed: ({ message }: { message: string }) => `; the last attempt failed: ${message}`,

  scrubOff: 'off (scrub_days: 0)',
  scrubToStart: ({ days }: { days: string }) => `not started; the daemon reads everything again every ${days}`,
  scrubDone: ({ records, at }: { records: string; at: string }) => `${records} read again by ${at}`,
  scrubReading: ({ records, all, at }: { records: string; all: number; at: string }) =>
    `${records} of about ${all} read again since ${at}`,
  previousPass: ({ found }: { found: string }) => `the previous pass: ${found}`,
  scrubLate: ({ days, end }: { days: string; end: string | null }) =>
    `${end === null ? 'it has read nothing yet' : `it will end about ${end}`}, not within ${days}`,
  noneDiffered: 'nothing differed from the mirror',
  differed: ({ records }: { records: string }) => `changed without notice: ${records}`,
  gone: ({ records }: { records: string }) => `gone from the source: ${records}`,

  lowered: ({ limit }: { limit: number }) => `lowered from ${limit} after a 429`,
  blocked: ({ at }: { at: string }) => `blocked until ${at}: the source requested this pause (Retry-After)`,
  waiting: ({ processes }: { processes: string }) => `${processes} waiting`,
});

/** The reason why the daemon does not reconcile an installation at its time. */
export const putOffTexts = catalogue('commands/status.putOffTexts', {
  paused: 'not while its windows are paused',
  first_load: 'after its first load',
  identity_changed: 'not while its configuration contradicts its books',
});
