import { lateAfterSeconds, type Schedule, type Situation } from '../domain/intervals.ts';
import type { SignInState } from '../practice/sign-in-store.ts';
import { chainNames } from '../reconcile/verdict.ts';
import type { PauseState } from '../sync/pauses.ts';
import type { WatchedSchedule } from '../sync/schedule-state.ts';
import type { PlainError } from '../texts/plain-error.ts';
import type { DeliveryStatus } from './delivery-status.ts';
import type { LaneStatus, UntakenTick } from './lanes.ts';
import { scrubLateTodo } from './scrub.ts';
import type { Verdict } from './verdict.ts';
import type { PresentCause, RecordedWindow } from './windows.ts';

/**
 * How an installation is, in one word; the first that holds. `failed`: its newest window failed, or cannot open. `late`: no window
 * closed for more than two intervals. `waiting`: the source has asked for a pause, an open window's steps fail and are tried again,
 * Temporal does not answer, a delivery waits, or its books were not reconciled for two days, or never. `paused`: somebody holds its
 * windows back; it is not late then. `held`: documents need somebody, or its books do not reconcile.
 */
export const healths = ['failed', 'late', 'waiting', 'paused', 'new', 'held', 'ok'] as const;
export type InstallationHealth = (typeof healths)[number];

/** A window that waits for one thing for so long is told of. */
const longWaitMs = 30_000;

export interface Findings {
  installation: number;
  now: Date;
  schedule: Schedule;
  timezone: string;
  idleWindows: number;
  syncedTo: Date | null;
  /** The newest window. */
  last: Pick<RecordedWindow, 'outcome' | 'error' | 'opened_at'> | null;
  /** Why its windows do not close now: the newest one's error with its streak, or that of the steps of an open one. */
  present?: PresentCause | null;
  watched: WatchedSchedule | null;
  /** Why no window may open at all: the configuration is of other books. */
  refused: PlainError | null;
  /** That Temporal does not answer; null where it does, or was not asked. */
  temporal?: PlainError | null;
  /** What holds its live lane now: a window, or a command. */
  live?: LaneStatus | null;
  /** Whether a daemon, or a command that runs windows, is at work for it; null where that was not asked. */
  isServed?: boolean | null;
  /** A window of it that no daemon has taken. */
  tick?: UntakenTick | null;
  /** Who holds the windows of the schedule back. */
  pause: Pick<PauseState, 'actedBy' | 'reason'> | null;
  /** That the source refuses to let us in. */
  signIn: Pick<SignInState, 'refusals'> | null;
  blockedUntil: Date | null;
  /** Documents with a problem. */
  problems: number;
  /** Problems of records that are no documents, and of what is written back. */
  others?: number;
  isScrubLate: boolean;
  verdict: Verdict;
  /** It is older than two days, or there is none. */
  isVerdictOld: boolean;
  delivery: DeliveryStatus | null;
}

/** Its health with the cause: what is the matter, and what to do; null: nothing. Lateness is told whatever else is the matter. */
export interface HealthFound {
  health: InstallationHealth;
  late: boolean;
  cause: Cause | null;
}

/** What is the matter; of windows that do not close: how many attempts in a row failed for it, and since when. */
export type Cause = PlainError & Partial<Pick<PresentCause, 'attempts' | 'since'>>;

export function healthOf(found: Findings): HealthFound {
  const late = isLate(found);
  const [health, cause] = firstTrouble(found, late);
  return { health, late, cause };
}

function isLate({ now, schedule, timezone, idleWindows, syncedTo, pause }: Findings): boolean {
  if (syncedTo === null || pause !== null) return false;
  const situation: Situation = { timezone, at: now, idleWindows };
  return now.getTime() - syncedTo.getTime() > lateAfterSeconds(schedule, situation, syncedTo) * 1000;
}

function firstTrouble(found: Findings, late: boolean): [InstallationHealth, Cause | null] {
  const { refused, last, present, syncedTo, blockedUntil, problems, others = 0, delivery } = found;
  if (refused) return ['failed', refused];
  if (found.pause) {
    const message = `its windows were paused by ${found.pause.actedBy}: ${found.pause.reason}`;
    const todo = `Run \`vetledger resume --installation ${found.installation}\` when its windows may go on.`;
    return ['paused', { code: 'windows_paused', message, todo }];
  }
  if (found.signIn) {
    const todo =
      'Check the token, or the client id and secret, of this installation: the source refuses them. A new one in a file that the configuration names is noticed by itself; `vetledger sync` asks now.';
    const { attempts, since } = present ?? {};
    const streak = attempts !== undefined && since !== undefined ? { attempts, since } : {};
    return ['failed', { code: 'sign_in_refused', message: 'the source refuses to let us in', todo, ...streak }];
  }
  if (blockedUntil) {
    const cause = {
      code: 'source_throttled',
      message: 'the source asked for a pause (429)',
      todo: 'Wait: the source asked for a pause (429), and is asked again when it is over. If it asked by mistake, run `vetledger budget reset`.',
    };
    return [late ? 'late' : 'waiting', cause];
  }
  const wait = waitCause(found);
  if (last?.outcome === 'failed' && last.error) return ['failed', wait ?? present ?? last.error];
  if (last?.outcome === 'open' && present) return [late ? 'late' : 'waiting', present];
  if (wait) return [late ? 'late' : 'waiting', wait];
  if (found.temporal) return [late ? 'late' : 'waiting', found.temporal];
  const untaken = tickCause(found);
  if (untaken) return [late ? 'late' : 'waiting', untaken];
  if (late) return ['late', lateCause(found)];
  if (syncedTo === null) {
    const todo = 'Run `vetledger sync` to load everything for the first time.';
    if (last?.outcome === 'open')
      return ['new', { code: 'first_load', message: 'everything is being loaded for the first time', todo: 'Wait.' }];
    return ['new', { code: 'never_synced', message: 'no window has closed yet', todo }];
  }
  const { reconciled } = found.verdict;
  const delivering = delivery === null ? null : deliveryTrouble(delivery, found.now);
  if (problems > 0 || others > 0 || (delivery?.refused ?? 0) > 0) {
    const message = [
      problems > 0
        ? `${problems} ${problems === 1 ? 'document' : 'documents'} held, or changed or missing after posting`
        : '',
      others > 0 ? `${others} put aside, or not written back` : '',
      delivery !== null && delivery.refused > 0 ? `${delivery.refused} refused by the ERP` : '',
    ];
    const todo = 'Run `vetledger problems` to see what it is, and what to do.';
    return ['held', { code: 'held', message: message.filter(Boolean).join(', '), todo }];
  }
  if (reconciled?.ok === false) {
    const message = `its books did not reconcile when last checked: ${reconciled.failing.join(', ')}`;
    const todo = reconcileTodo(found.installation, reconciled.failing);
    return ['held', { code: 'not_reconciled', message, todo }];
  }
  if (delivering?.isSerious) return ['waiting', delivering.cause];
  if (found.isVerdictOld) {
    const todo = `Run \`vetledger reconcile --installation ${found.installation}\`. \`vetledger run\` does it once a day by itself, unless \`reconcile.between\` is never; its log says why where it fails.`;
    if (reconciled === null) {
      return ['waiting', { code: 'never_reconciled', message: 'its books were never reconciled', todo }];
    }
    const message = `its books were last reconciled at ${timeOf(reconciled.checked_at)}`;
    return ['waiting', { code: 'reconcile_old', message, todo }];
  }
  if (found.isScrubLate) return ['ok', { code: 'scrub_late', message: 'the scrub is late', todo: scrubLateTodo }];
  return ['ok', delivering?.cause ?? null];
}

function reconcileTodo(installation: number, failing: readonly string[]): string {
  const isOfChain = (name: string) => chainNames.some((each) => each === name);
  const erp = failing.includes('E7') ? ' --erp' : '';
  const commands = [
    ...(failing.every(isOfChain) ? [] : [`\`vetledger reconcile${erp} --installation ${installation}\``]),
    ...(failing.some(isOfChain) ? [`\`vetledger ledger verify --installation ${installation}\``] : []),
  ];
  return `Run ${commands.join(' and ')}: what differs is named there.`;
}

/** What the attempt under way waits for, where that takes long or has failed already. */
function waitCause({ live, now }: Findings): Cause | null {
  if (!live?.alive || live.waits_for === null || live.waits_since === null) return null;
  const { waits_for: what, waits_since: since, error, attempts } = live;
  const isLong = now.getTime() - since.getTime() >= longWaitMs;
  if (error === null && !isLong) return null;
  const waits = `its window waits for ${what} since ${timeOf(since)}`;
  if (error !== null) return { ...error, message: `${error.message.replace(/\.$/, '')}; ${waits}`, attempts, since };
  const todo = what.startsWith('PostgreSQL')
    ? 'See in PostgreSQL (pg_stat_activity) what holds the tables, and the disk of the server.'
    : what.includes('practice API')
      ? 'Run `vetledger doctor`: the practice API was asked and has not answered. It is asked again by itself after the time-out.'
      : 'Wait: it goes on by itself. `vetledger status` shows what it waits for.';
  return { code: 'window_waits', message: waits, todo, since };
}

function tickCause({ tick, isServed }: Findings): PlainError | null {
  if (!tick) return null;
  const message = `Temporal began a window at ${timeOf(tick.since)}, and no daemon has taken it (${tick.workflow_id})`;
  return { code: 'tick_untaken', message, todo: isServed === false ? startDaemon : busyDaemon };
}

const startDaemon = 'Start `vetledger run`: it takes the window that waits, and what was missed.';
const busyDaemon =
  'See the log and the processor of `vetledger run`, which is at work and does not take it; start it again where it stands still.';

/** `12:05:07 UTC`; a reader sees the day by the lag. */
function timeOf(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Why no window closed for so long, as far as the database tells. */
function lateCause({ installation, watched, last, now, syncedTo, isServed }: Findings): PlainError {
  if (watched?.paused) {
    const note = watched.note ? `: ${watched.note}` : '';
    const todo = `Run \`vetledger resume --installation ${installation}\`, or resume it in Temporal, when its windows may go on.`;
    return { code: 'schedule_paused', message: `its schedule is paused${note}`, todo };
  }
  if (last?.outcome === 'open' && now.getTime() - last.opened_at.getTime() > 120_000) {
    return {
      code: 'window_long',
      message: `the window that opened at ${last.opened_at.toISOString()} is still under way`,
      todo: 'See in the Temporal UI what it waits for; it is given up after window_timeout_minutes, a first load where nothing of it succeeds for so long.',
    };
  }
  if (isServed === false) {
    return {
      code: 'no_daemon',
      message: 'no daemon is at work for it, and no window closed lately',
      todo: startDaemon,
    };
  }
  if (watched?.missedAt && syncedTo && watched.missedAt > syncedTo) {
    return {
      code: 'windows_missed',
      message: `Temporal could not open its windows in time (${watched.missed + watched.dropped} so far)`,
      todo: 'See the processor and the database of the Temporal server; the next windows cover what was missed.',
    };
  }
  return {
    code: 'no_window',
    message: 'no window closed lately',
    todo: 'No window closed lately: see that `vetledger run` is up, or run `vetledger sync`.',
  };
}

/** Another database has entries of the installation in its company. */
export const foreignCode = 'erp_company_foreign';

/** Entries that wait for longer than so without an answer of the ERP: the daemon begins a delivery every five minutes. */
const longestWaitMs = 900_000;

/** What is the matter with a delivery, and whether it needs somebody; null: nothing waits. */
function deliveryTrouble(delivery: DeliveryStatus, now: Date): { cause: PlainError; isSerious: boolean } | null {
  const { paused, left, last_error, unapproved, in_doubt: inDoubt } = delivery;
  const serious = (cause: PlainError) => ({ cause, isSerious: true });
  if (paused) {
    const todo = 'Run `vetledger deliver resume` when the delivery may go on.';
    const message = `the delivery was paused by ${paused.by}: ${paused.reason}`;
    return serious({ code: 'delivery_paused', message, todo });
  }
  if (last_error?.code === foreignCode) {
    const todo =
      'Stop the other vetledger, or name another company or folder in `erp`. Where this database is to go on: `vetledger adopt --installation ID --reason TEXT`.';
    return serious({ code: last_error.code, message: last_error.message, todo });
  }
  if (left > 0 && inDoubt > 0) {
    const when = delivery.looks_up_at ? `not before ${delivery.looks_up_at.toISOString()}` : 'by the next delivery';
    const sent = `${inDoubt} ${inDoubt === 1 ? 'entry was' : 'entries were'} sent by a delivery that ended without an answer`;
    const message = `${sent}: they are looked up ${when}, and ${left} wait for that`;
    return serious({ code: 'delivery_in_doubt', message, todo: deliverTodo });
  }
  if (left > 0 && last_error) {
    const todo = 'Run `vetledger erp check`: the ERP cannot be worked with.';
    return serious({ code: last_error.code, message: last_error.message, todo });
  }
  if (left > 0) {
    const since = delivery.waiting_since;
    const isLong = !delivery.under_way && since !== null && now.getTime() - since.getTime() > longestWaitMs;
    const how = delivery.under_way ? 'on the way to the ERP' : 'to be delivered to the ERP';
    const waits = isLong ? `; nothing was delivered since ${since.toISOString()}` : '';
    const cause = { code: 'delivery_waits', message: `${left} ${how}${waits}`, todo: deliverTodo };
    return { cause, isSerious: isLong };
  }
  if (unapproved > 0) {
    return serious({
      code: 'consent_missing',
      message: `${unapproved} to be delivered ${unapproved === 1 ? 'waits' : 'wait'} for consent`,
      todo: 'Run `vetledger deliver --dry-run`, and then `vetledger deliver --approve --through DATE`: what was loaded waits for consent.',
    });
  }
  return null;
}

const deliverTodo =
  'Wait: `vetledger run` goes on with it within five minutes. Where it is not up, start it, or run `vetledger deliver`.';
