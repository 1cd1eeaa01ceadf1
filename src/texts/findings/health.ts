import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

const startDaemon = 'Start `vetledger run`: it takes the waiting window, and covers what was missed.';
const deliverySoon =
  'Wait: `vetledger run` continues within five minutes. If it is not running, start it, or run `vetledger deliver`.';

const scrubLateTodo =
  'Give the scrub more days (scrub_days) or a guaranteed share of the rate budget (scrub_min_share), and check that `vetledger run` is running.';

const many = (count: number, one: string, more: string) => `${count} ${count === 1 ? one : more}`;

/** The reason why a daemon is not ready (`/readyz`). */
export const readinessTexts = catalogue('findings/health.readinessTexts', {
  workersIdle: ({ queues }: { queues: string }) => `these workers take no work: ${queues}`,
});

/** Causes of an installation's health, as `vetledger status` shows them. The messages follow the installation's name. */
export const healthCauses = catalogue('findings/health.healthCauses', {
  windowsPaused: ({ installation, by, reason }: { installation: number; by: string; reason: string }): PlainError => ({
    code: 'windows_paused',
    message: `its windows were paused by ${by}: ${reason}`,
    todo: `To continue, run \`vetledger resume --installation ${installation}\`.`,
  }),
  signInRefused: (): PlainError => ({
    code: 'sign_in_refused',
    message: 'the source refuses the credentials',
    todo: 'Check the token, or the client id and secret, of this installation. vetledger notices a new one in a configured file automatically; `vetledger sync` tries it now.',
  }),
  throttled: (): PlainError => ({
    code: 'source_throttled',
    message: 'the source requested a pause (429)',
    todo: 'Wait: the source requested a pause (429), and vetledger continues after it. If the pause was requested by mistake, run `vetledger budget reset`.',
  }),
  firstLoad: (): PlainError => ({
    code: 'first_load',
    message: 'everything is being loaded for the first time',
    todo: 'Wait.',
  }),
  neverSynced: (): PlainError => ({
    code: 'never_synced',
    message: 'no window has closed yet',
    todo: 'Run `vetledger sync` to load everything for the first time.',
  }),
  held: ({ documents, others, refused }: { documents: number; others: number; refused: number }): PlainError => ({
    code: 'held',
    message: [
      documents > 0 ? `${many(documents, 'document', 'documents')} held, or changed or missing after posting` : '',
      others > 0 ? `${others === 1 ? '1 record is' : `${others} records are`} put aside or not written back` : '',
      refused > 0 ? `${refused} refused by the ERP` : '',
    ]
      .filter(Boolean)
      .join(', '),
    todo: 'Run `vetledger problems` to see the problems, and what to do.',
  }),
  notReconciled: ({ failing, commands }: { failing: string; commands: string }): PlainError => ({
    code: 'not_reconciled',
    message: `its books did not reconcile when last checked: ${failing}`,
    todo: `Run ${commands} to see the differences.`,
  }),
  reconcileCommand: ({ installation, option }: { installation: number; option: string }) =>
    `\`vetledger reconcile${option} --installation ${installation}\``,
  verifyCommand: ({ installation }: { installation: number }) =>
    `\`vetledger ledger verify --installation ${installation}\``,
  commands: ({ first, second }: { first: string; second: string }) => `${first} and ${second}`,
  neverReconciled: ({ installation }: { installation: number }): PlainError => ({
    code: 'never_reconciled',
    message: 'its books were never reconciled',
    todo: reconcileDaily(installation),
  }),
  reconciledLongAgo: ({ installation, at }: { installation: number; at: string }): PlainError => ({
    code: 'reconcile_old',
    message: `its books were last reconciled at ${at}`,
    todo: reconcileDaily(installation),
  }),
  scrubLate: (): PlainError => ({ code: 'scrub_late', message: 'the scrub is late', todo: scrubLateTodo }),

  windowWaits: ({ what, since }: { what: string; since: string }) => `its window has waited for ${what} since ${since}`,
  failingAndWaiting: ({ error, waits }: { error: string; waits: string }) => `${error}; ${waits}`,
  waitsForPostgres: ({ message }: { message: string }): PlainError => ({
    code: 'window_waits',
    message,
    todo: 'Check in PostgreSQL (pg_stat_activity) what holds the tables, and check the disk of the server.',
  }),
  waitsForSource: ({ message }: { message: string }): PlainError => ({
    code: 'window_waits',
    message,
    todo: 'Run `vetledger doctor`: the practice API has not answered a request. vetledger repeats it automatically after the time-out.',
  }),
  waits: ({ message }: { message: string }): PlainError => ({
    code: 'window_waits',
    message,
    todo: 'Wait: the window continues automatically. `vetledger status` shows what it waits for.',
  }),
  windowUntaken: ({ since, workflow }: { since: string; workflow: string }): PlainError => ({
    code: 'tick_untaken',
    message: untaken(since, workflow),
    todo: startDaemon,
  }),
  windowIgnored: ({ since, workflow }: { since: string; workflow: string }): PlainError => ({
    code: 'tick_untaken',
    message: untaken(since, workflow),
    todo: 'Check the log and the processor load of `vetledger run`, which is running but does not take the window. If it hangs, restart it.',
  }),
  schedulePaused: ({ installation, note }: { installation: number; note: string }): PlainError => ({
    code: 'schedule_paused',
    message: `its schedule is paused${note === '' ? '' : `: ${note}`}`,
    todo: `To continue, run \`vetledger resume --installation ${installation}\`, or resume the schedule in Temporal.`,
  }),
  windowLong: ({ openedAt }: { openedAt: string }): PlainError => ({
    code: 'window_long',
    message: `the window that opened at ${openedAt} is still open`,
    todo: 'Check in the Temporal UI what it waits for. It fails after window_timeout_minutes; a first load fails after the same time without any success.',
  }),
  noDaemon: (): PlainError => ({
    code: 'no_daemon',
    message: 'no daemon serves it, and no window closed recently',
    todo: startDaemon,
  }),
  windowsMissed: ({ count }: { count: number }): PlainError => ({
    code: 'windows_missed',
    message: `Temporal could not start its windows in time (${count} so far)`,
    todo: 'Check the processor load and the database of the Temporal server. The next windows cover what was missed.',
  }),
  noWindow: (): PlainError => ({
    code: 'no_window',
    message: 'no window closed recently',
    todo: 'No window closed recently: check that `vetledger run` is running, or run `vetledger sync`.',
  }),

  deliveryPaused: ({ by, reason }: { by: string; reason: string }): PlainError => ({
    code: 'delivery_paused',
    message: `the delivery was paused by ${by}: ${reason}`,
    todo: 'To continue, run `vetledger deliver resume`.',
  }),
  foreignEntries: ({ code, message }: { code: string; message: string }): PlainError => ({
    code,
    message,
    todo: 'Stop the other vetledger, or name another company or folder in `erp`. If this database must deliver instead, run `vetledger adopt --installation ID --reason TEXT`.',
  }),
  inDoubt: ({ inDoubt, at, left }: { inDoubt: number; at: string; left: number }): PlainError => ({
    code: 'delivery_in_doubt',
    message: `${many(inDoubt, 'entry was', 'entries were')} sent without a clear answer: they are looked up ${at === '' ? 'by the next delivery' : `not before ${at}`}, and ${left} wait for that`,
    todo: deliverySoon,
  }),
  erpFailing: ({ code, message }: { code: string; message: string }): PlainError => ({
    code,
    message,
    todo: 'Run `vetledger erp check` to see why the ERP cannot be used.',
  }),
  beingDelivered: ({ left }: { left: number }): PlainError => ({
    code: 'delivery_waits',
    message: `${left} on the way to the ERP`,
    todo: deliverySoon,
  }),
  notDelivered: ({ left, since }: { left: number; since: string }): PlainError => ({
    code: 'delivery_waits',
    message: `${left} to be delivered to the ERP${since === '' ? '' : `; nothing was delivered since ${since}`}`,
    todo: deliverySoon,
  }),
  approvalMissing: ({ count }: { count: number }): PlainError => ({
    code: 'approval_missing',
    message: `${count} to be delivered ${count === 1 ? 'waits' : 'wait'} for approval`,
    todo: 'Run `vetledger deliver --dry-run` to see the entries. Then approve them with `vetledger deliver --approve --through DATE`.',
  }),
  nothingToDo: 'Nothing to do.',
});

function reconcileDaily(installation: number): string {
  return `Run \`vetledger reconcile --installation ${installation}\`. \`vetledger run\` does this automatically once a day, unless \`reconcile.between\` is never. If it fails, its log shows why.`;
}

function untaken(since: string, workflow: string): string {
  return `Temporal started a window at ${since}, and no daemon has taken it (${workflow})`;
}
