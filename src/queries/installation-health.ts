import { lateAfterSeconds, type Schedule, type Situation } from '../domain/intervals.ts';
import type { SignInState } from '../practice/sign-in-store.ts';
import { chainNames } from '../reconcile/verdict.ts';
import type { PauseState } from '../sync/pauses.ts';
import type { ScheduleCounters, WatchedSchedule } from '../sync/schedule-state.ts';
import { healthCauses } from '../texts/findings/health.ts';
import type { PlainError } from '../texts/plain-error.ts';
import type { DeliveryStatus } from './delivery-status.ts';
import type { LaneStatus, UntakenTick } from './lanes.ts';
import type { Verdict } from './verdict.ts';
import type { PresentCause, RecordedWindow } from './windows.ts';

/**
 * The health of an installation: the first word that applies. `failed`: its newest window failed, or no window can
 * open. `late`: no window closed for more than two intervals. `waiting`: the source requested a pause, steps of an open
 * window fail and are retried, Temporal does not answer, a delivery waits, or the books were not reconciled for two
 * days. `paused`: its windows are paused, and so they are not late. `held`: documents need attention, or the books do
 * not reconcile.
 */
export const healths = ['failed', 'late', 'waiting', 'paused', 'new', 'held', 'ok'] as const;
export type InstallationHealth = (typeof healths)[number];

/** A window that waits longer than this for the same thing is reported. */
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
  /**
   * The reason why the installation's windows do not close now: the error of the newest window with the number of
   * failed windows in a row, or the error of an open window's steps.
   */
  present?: PresentCause | null;
  watched: (ScheduleCounters & Pick<WatchedSchedule, 'missedAt'>) | null;
  /** The reason why no window may open at all: the configuration belongs to other books. */
  refused: PlainError | null;
  /** The error if Temporal does not answer. Null if it answers, or if this was not checked. */
  temporal?: PlainError | null;
  /** The holder of the installation's live lane: a window, or a command. */
  live?: LaneStatus | null;
  /**
   * Whether a running daemon, or a command that runs windows, serves the installation. Null if this was not checked.
   */
  isServed?: boolean | null;
  /** A window of the installation that Temporal started and no daemon has taken. */
  tick?: UntakenTick | null;
  /** The pause of the scheduled windows: by whom and why. */
  pause: Pick<PauseState, 'actedBy' | 'reason'> | null;
  /** Refused sign-ins at the source. Null if the source accepts the credentials. */
  signIn: Pick<SignInState, 'refusals'> | null;
  blockedUntil: Date | null;
  problems: number;
  /** Problems of records that are not documents, and of write-backs. */
  others?: number;
  isScrubLate: boolean;
  verdict: Verdict;
  /** Whether the verdict is older than two days, or missing. */
  isVerdictOld: boolean;
  delivery: DeliveryStatus | null;
}

/**
 * The health with its cause and next step; the cause is null if there is nothing to do. `late` is reported besides any
 * other cause.
 */
export interface HealthFound {
  health: InstallationHealth;
  late: boolean;
  cause: Cause | null;
}

/** A cause. If windows do not close, it has the number of failed attempts in a row and the time of the first one. */
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
    const { actedBy: by, reason } = found.pause;
    return ['paused', healthCauses.windowsPaused({ installation: found.installation, by, reason })];
  }
  if (found.signIn) {
    const { attempts, since } = present ?? {};
    const streak = attempts !== undefined && since !== undefined ? { attempts, since } : {};
    return ['failed', { ...healthCauses.signInRefused(), ...streak }];
  }
  if (blockedUntil) return [late ? 'late' : 'waiting', healthCauses.throttled()];
  const wait = waitCause(found);
  if (last?.outcome === 'failed' && last.error) return ['failed', wait ?? present ?? last.error];
  if (last?.outcome === 'open' && present) return [late ? 'late' : 'waiting', present];
  if (wait) return [late ? 'late' : 'waiting', wait];
  if (found.temporal) return [late ? 'late' : 'waiting', found.temporal];
  const untaken = tickCause(found);
  if (untaken) return [late ? 'late' : 'waiting', untaken];
  if (late) return ['late', lateCause(found)];
  if (syncedTo === null) {
    return ['new', last?.outcome === 'open' ? healthCauses.firstLoad() : healthCauses.neverSynced()];
  }
  const { reconciled } = found.verdict;
  const delivering = delivery === null ? null : deliveryTrouble(delivery, found.now);
  const refusedUnits = delivery?.refused ?? 0;
  if (problems > 0 || others > 0 || refusedUnits > 0) {
    return ['held', healthCauses.held({ documents: problems, others, refused: refusedUnits })];
  }
  if (reconciled?.ok === false) {
    const commands = reconcileCommands(found.installation, reconciled.failing);
    return ['held', healthCauses.notReconciled({ failing: reconciled.failing.join(', '), commands })];
  }
  if (delivering?.isSerious) return ['waiting', delivering.cause];
  if (found.isVerdictOld) {
    const { installation } = found;
    if (reconciled === null) return ['waiting', healthCauses.neverReconciled({ installation })];
    return ['waiting', healthCauses.reconciledLongAgo({ installation, at: timeOf(reconciled.checked_at) })];
  }
  if (found.isScrubLate) return ['ok', healthCauses.scrubLate()];
  return ['ok', delivering?.cause ?? null];
}

function reconcileCommands(installation: number, failing: readonly string[]): string {
  const isOfChain = (name: string) => chainNames.some((each) => each === name);
  const option = failing.includes('E7') ? ' --erp' : '';
  const reconcile = failing.every(isOfChain) ? '' : healthCauses.reconcileCommand({ installation, option });
  const verify = failing.some(isOfChain) ? healthCauses.verifyCommand({ installation }) : '';
  return reconcile !== '' && verify !== ''
    ? healthCauses.commands({ first: reconcile, second: verify })
    : reconcile + verify;
}

/** What the current attempt waits for, if the wait is long or follows a failure. */
function waitCause({ live, now }: Findings): Cause | null {
  if (!live?.alive || live.waits_for === null || live.waits_since === null) return null;
  const { waits_for: what, waits_since: since, error, attempts } = live;
  const isLong = now.getTime() - since.getTime() >= longWaitMs;
  if (error === null && !isLong) return null;
  const message = healthCauses.windowWaits({ what, since: timeOf(since) });
  if (error !== null) {
    const joined = healthCauses.failingAndWaiting({ error: error.message.replace(/\.$/, ''), waits: message });
    return { ...error, message: joined, attempts, since };
  }
  if (what.startsWith('PostgreSQL')) return { ...healthCauses.waitsForPostgres({ message }), since };
  if (what.includes('practice API')) return { ...healthCauses.waitsForSource({ message }), since };
  return { ...healthCauses.waits({ message }), since };
}

function tickCause({ tick, isServed }: Findings): PlainError | null {
  if (!tick) return null;
  const waiting = { since: timeOf(tick.since), workflow: tick.workflow_id };
  return isServed === false ? healthCauses.windowUntaken(waiting) : healthCauses.windowIgnored(waiting);
}

/** Formats a time as `2026-03-01 12:05:07 UTC`. */
function timeOf(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** The reason why no window closed for so long, as far as the database shows. */
function lateCause({ installation, watched, last, now, syncedTo, isServed }: Findings): PlainError {
  if (watched?.paused) return healthCauses.schedulePaused({ installation, note: watched.note ?? '' });
  if (last?.outcome === 'open' && now.getTime() - last.opened_at.getTime() > 120_000) {
    return healthCauses.windowLong({ openedAt: last.opened_at.toISOString() });
  }
  if (isServed === false) return healthCauses.noDaemon();
  if (watched?.missedAt && syncedTo && watched.missedAt > syncedTo) {
    return healthCauses.windowsMissed({ count: watched.missed + watched.dropped });
  }
  return healthCauses.noWindow();
}

/** The code for entries of another database in the installation's company. */
export const foreignCode = 'erp_company_foreign';

/**
 * Entries that wait longer without an answer of the ERP are reported. The daemon starts a delivery every five minutes.
 */
const longestWaitMs = 900_000;

/** The cause of a delivery, and whether it needs attention; null if nothing waits. */
function deliveryTrouble(delivery: DeliveryStatus, now: Date): { cause: PlainError; isSerious: boolean } | null {
  const { paused, left, last_error, unapproved, in_doubt: inDoubt } = delivery;
  const serious = (cause: PlainError) => ({ cause, isSerious: true });
  if (paused) return serious(healthCauses.deliveryPaused({ by: paused.by, reason: paused.reason }));
  if (last_error?.code === foreignCode) return serious(healthCauses.foreignEntries(last_error));
  if (left > 0 && inDoubt > 0) {
    return serious(healthCauses.inDoubt({ inDoubt, at: delivery.looks_up_at?.toISOString() ?? '', left }));
  }
  if (left > 0 && last_error) return serious(healthCauses.erpFailing(last_error));
  if (left > 0 && delivery.under_way) return { cause: healthCauses.beingDelivered({ left }), isSerious: false };
  if (left > 0) {
    const since = delivery.waiting_since;
    const isLong = since !== null && now.getTime() - since.getTime() > longestWaitMs;
    return { cause: healthCauses.notDelivered({ left, since: isLong ? since.toISOString() : '' }), isSerious: isLong };
  }
  return unapproved > 0 ? serious(healthCauses.approvalMissing({ count: unapproved })) : null;
}
