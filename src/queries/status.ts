import { changedIdentities } from '../bookkeeping/identity.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { integer, oneOf } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { hasOpenProblem } from '../documents/document.ts';
import type { DaySpan } from '../domain/daily-turn.ts';
import { intervalSeconds, type Schedule } from '../domain/intervals.ts';
import { sealStates } from '../ledger/seals.ts';
import { type BudgetUsage, budgetUsages } from '../practice/budget-store.ts';
import { signInStates } from '../practice/sign-in-store.ts';
import { pauseStates } from '../sync/pauses.ts';
import { watchedSchedules, windowPaces } from '../sync/schedule-state.ts';
import { documentKinds, documentStates, type InstallationId, type Remark } from '../terms.ts';
import { healthCauses } from '../texts/findings/health.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { type WriteBackCounts, writeBackCounts } from '../writeback/questions.ts';
import { type DeliveryStatus, deliveryStatuses } from './delivery-status.ts';
import { type Cause, healthOf, healths, type InstallationHealth } from './installation-health.ts';
import { type LaneStatus, laneStatuses, type UntakenTick } from './lanes.ts';
import { countOtherProblems } from './problems.ts';
import { putOffReason, type ReconcileStatus, reconcileStatuses } from './reconcile-turns.ts';
import { type ScrubStatus, scrubStatuses } from './scrub.ts';
import { type FiledReturns, filedReturnsOfAll } from './vat-return-state.ts';
import { noVerdict, type Verdict, verdicts } from './verdict.ts';
import { newestWindows, presentCauses, type WindowState } from './windows.ts';

/** One installation, as `status --json` prints it. */
export interface InstallationStatus {
  installation: InstallationId;
  /** The configured name; null if there is none. */
  name: string | null;
  health: InstallationHealth;
  /** Whether no window closed for more than two intervals. */
  late: boolean;
  /** The reason why the installation's health is not ok, or another thing to do. Null if there is nothing to do. */
  cause: Cause | null;
  /** Age of the source state that the books reflect; null before the first window. */
  lag_seconds: number | null;
  /** Current seconds between two windows. */
  interval_seconds: number;
  synced_to: Date | null;
  last_window: { outcome: WindowState; opened_at: Date; error: PlainError | null; remarks: Remark[] } | null;
  /** The running work by lane, and what it waits for. */
  lanes: LaneStatus[];
  /**
   * Whether a running daemon, or a command that runs windows, serves the installation. Null if this was not checked.
   */
  daemon: boolean | null;
  /**
   * The oldest window that Temporal has started and no daemon has taken. Null if there is no such window, or if this
   * was not checked.
   */
  untaken_tick: Omit<UntakenTick, 'installation'> | null;
  /** Ticks of the installation's Schedule that opened no window, so far. Null until the daemon has read them. */
  schedule: { missed: number; skipped: number; dropped: number; missed_at: Date | null; paused: boolean } | null;
  budgets: {
    action: string;
    limit: number;
    limit_now: number;
    used: number;
    free: number;
    waiting: number;
    blocked_until: Date | null;
  }[];
  states: DocumentStates;
  /** The number of problems that `problems` lists: documents, records put aside, and failed write-backs. */
  problems: number;
  /** Whether the posted documents are right, and whether all documents are posted. */
  verdict: Verdict;
  /** The age of the verdict, and the time of the next reconciliation. */
  reconcile: ReconcileStatus;
  /** The last seal (0 if none), and the number of later links of the chains; null if books are not sealed. */
  seal: { n: number; seq: number; sealed_at: Date | null; unsealed: number } | null;
  /**
   * Prepayments whose id or ERP number the source has accepted. Those that a later read confirmed are counted
   * separately.
   */
  write_backs: WriteBackCounts;
  scrub: ScrubStatus;
  /** The state of the delivery. Null if the entries are not delivered to an ERP. */
  delivery: DeliveryStatus | null;
  /** The pause of its scheduled windows: by whom and why; null if they are not paused. */
  paused: { by: string; reason: string; since: Date; via: 'command' } | null;
  /**
   * Refused sign-ins at the source, and when the daemon tries again if the secret does not change. Null if no sign-in
   * was refused.
   */
  sign_in: { refusals: number; since: Date; ask_again_at: Date } | null;
  /** The changes since VAT returns were filed; null if none is filed. */
  vat_returns: FiledReturns | null;
  next_step: string;
}

/** The status without the counts that read all documents and all prepayments. */
export type InstallationCondition = Omit<InstallationStatus, 'states' | 'write_backs'>;

/** The number of documents by kind and state. */
type DocumentStates = Record<'invoices' | 'payments' | 'prepayments', Record<string, number>>;

export interface StatusSummary {
  installations: number;
  /** The number of installations by health. */
  health: Record<InstallationHealth, number>;
  late: number;
  problems: number;
  /** Installations with documents outside the books, and installations that did not reconcile when last checked. */
  incomplete: number;
  not_reconciled: number;
  /** Installations whose entries were never reconciled, or not for two days. */
  reconcile_old: number;
  /** The largest lag; null before any window. */
  longest_lag_seconds: number | null;
}

export interface StatusPorts {
  db: Connection;
  now: Date;
  schedule: Schedule;
  /** The configured task queue, which the daemon's Schedules belong to. */
  taskQueue: string;
  /** Whether the books are sealed (`seal_key`). */
  seals: boolean;
  /** The span in which the daemon reconciles; null if it does not. */
  reconcileBetween?: DaySpan | null;
  /** The error of a Temporal that does not answer, so that no window opens. */
  temporal?: PlainError | null;
  /** The installations that a running daemon serves. */
  served?: ReadonlySet<InstallationId> | null;
  /** Windows that no daemon has taken. */
  ticks?: readonly UntakenTick[];
}

/** The status of these installations, with the states of their documents. It reads all documents. */
export async function installationStatuses(
  ports: StatusPorts,
  installations: readonly InstallationConfig[],
): Promise<InstallationStatus[]> {
  const ids = installations.map(({ id }) => id);
  const states = await countStates(ports.db, ids);
  const writeBacks = await writeBackCounts(ports.db, ids);
  const conditions = await installationConditions(ports, installations);
  return conditions.map((each) => ({
    ...each,
    states: states.get(each.installation) ?? noStates(),
    write_backs: writeBacks.get(each.installation) ?? { confirmed: 0, unconfirmed: 0 },
  }));
}

/**
 * The condition of these installations: lag, last window, rate budgets, problems, and the next step. The number of statements does
 * not depend on the number of installations, except for those that have filed VAT returns. Indexes limit what each one reads.
 */
export async function installationConditions(
  {
    db,
    now,
    schedule,
    taskQueue,
    seals,
    reconcileBetween = null,
    temporal = null,
    served = null,
    ticks = [],
  }: StatusPorts,
  installations: readonly InstallationConfig[],
): Promise<InstallationCondition[]> {
  const ids = installations.map(({ id }) => id);
  const paces = byInstallation(await windowPaces(db, ids, schedule.idle?.afterWindows ?? 0));
  const newest = byInstallation(await newestWindows(db, ids));
  const presents = await presentCauses(db, ids);
  const watched = byInstallation(await watchedSchedules(db, ids, taskQueue));
  const problemsOf = await countProblems(db, ids);
  const othersOf = await countOtherProblems(db, ids);
  const usages = Map.groupBy(await budgetUsages(db, ids), ({ installation }) => installation);
  const scrubOf = await scrubStatuses(db, ids, now);
  const sealed = byInstallation(seals ? await sealStates(db, ids) : []);
  const deliveries = await deliveryStatuses(db, installations);
  const pauses = await pauseStates(db, ids);
  const signIns = await signInStates(db, ids);
  const changed = await changedIdentities(db, installations);
  const lanes = await laneStatuses(db, ids);
  const verdictOf = await verdicts(db, installations);
  const reconcileOf = await reconcileStatuses(db, installations, { span: reconcileBetween, now });
  const returnsOf = await filedReturnsOfAll(db, installations);
  return installations.map(({ id, name, timezone, scrubDays }) => {
    const { syncedTo = null, idleWindows = 0 } = paces.get(id) ?? {};
    const last = newest.get(id) ?? null;
    const ofDocuments = problemsOf.get(id) ?? 0;
    const others = othersOf.get(id) ?? 0;
    const budgets = usages.get(id) ?? [];
    const scrub = scrubOf(id, scrubDays);
    const delivery = deliveries.get(id) ?? null;
    const seen = watched.get(id) ?? null;
    const seal = sealed.get(id);
    const held = pauses.get(id);
    const pause = held?.isPaused ? held : null;
    const refusedSignIn = signIns.get(id) ?? null;
    // Another process may have signed in since, without a look at the refusals.
    const isAccepted = refusedSignIn !== null && last?.outcome === 'closed' && last.opened_at > refusedSignIn.since;
    const signIn = isAccepted ? null : refusedSignIn;
    const atWork = lanes.get(id) ?? [];
    const isServed = served === null ? null : served.has(id);
    const [tick = null] = ticks
      .filter(({ installation }) => installation === id)
      .toSorted((a, b) => a.since.getTime() - b.since.getTime());
    const refused = changed.get(id) ?? null;
    const verdict = verdictOf.get(id) ?? noVerdict;
    const reconcile = reconcileOf(
      { id, timezone },
      verdict,
      putOffReason({ syncedTo, isPaused: pause !== null, refused }),
    );
    const { health, late, cause } = healthOf({
      ...{ now, schedule, timezone, idleWindows, syncedTo, last, problems: ofDocuments, others, delivery },
      present: presents.get(id) ?? null,
      ...{ live: atWork.find(({ lane }) => lane === 'live') ?? null, isServed, tick },
      watched: seen,
      installation: id,
      refused,
      ...{ verdict, isVerdictOld: reconcile.old },
      ...{ pause, signIn, temporal },
      blockedUntil: budgets.find(({ blockedUntil }) => blockedUntil)?.blockedUntil ?? null,
      isScrubLate: scrub.late,
    });
    return {
      installation: id,
      ...{ name, health, late, cause },
      lag_seconds: syncedTo === null ? null : Math.round((now.getTime() - syncedTo.getTime()) / 1000),
      interval_seconds: intervalSeconds(schedule, { timezone, at: now, idleWindows }),
      synced_to: syncedTo,
      last_window: last && {
        outcome: last.outcome,
        opened_at: last.opened_at,
        error: last.outcome === 'failed' ? last.error : null,
        remarks: last.remarks,
      },
      ...{ lanes: atWork, daemon: isServed },
      untaken_tick: tick && { workflow_id: tick.workflow_id, since: tick.since },
      schedule: seen && {
        ...{ missed: seen.missed, skipped: seen.skipped, dropped: seen.dropped },
        ...{ missed_at: seen.missedAt, paused: seen.paused },
      },
      budgets: budgets.map(budgetStatus),
      problems: ofDocuments + others,
      ...{ verdict, reconcile },
      seal: seals && seal ? { n: seal.n, seq: seal.seq, sealed_at: seal.sealed_at, unsealed: seal.unsealed } : null,
      scrub,
      delivery,
      paused: pause && { by: pause.actedBy, reason: pause.reason, since: pause.since, via: 'command' },
      sign_in: signIn && { refusals: signIn.refusals, since: signIn.since, ask_again_at: signIn.askAgainAt },
      vat_returns: returnsOf.get(id) ?? null,
      next_step: cause === null ? healthCauses.nothingToDo : nextStep(cause),
    };
  });
}

export function statusSummary(installations: readonly InstallationStatus[]): StatusSummary {
  const lags = installations.flatMap(({ lag_seconds }) => lag_seconds ?? []);
  const count = (wanted: (one: InstallationStatus) => boolean) => installations.filter(wanted).length;
  return {
    installations: installations.length,
    health: Object.fromEntries(healths.map((word) => [word, count(({ health }) => health === word)])) as Record<
      InstallationHealth,
      number
    >,
    late: count(({ late }) => late),
    problems: installations.reduce((n, { problems }) => n + problems, 0),
    incomplete: count(({ verdict }) => !verdict.complete),
    not_reconciled: count(({ verdict }) => verdict.reconciled?.ok === false),
    reconcile_old: count(({ reconcile }) => reconcile.old),
    longest_lag_seconds: lags.length === 0 ? null : Math.max(...lags),
  };
}

/** For a changed identity, the next step includes the message, since the todo alone is not clear. */
function nextStep({ code, message, todo }: PlainError): string {
  return code === 'identity_changed' ? `${message} ${todo}` : todo;
}

function byInstallation<Row extends { installation: InstallationId }>(found: readonly Row[]): Map<InstallationId, Row> {
  return new Map(found.map((row) => [row.installation, row]));
}

function budgetStatus(usage: BudgetUsage): InstallationStatus['budgets'][number] {
  return {
    action: usage.action,
    limit: usage.limit,
    limit_now: usage.limitNow,
    used: usage.used,
    free: usage.free,
    waiting: usage.waiting,
    blocked_until: usage.blockedUntil,
  };
}

const plurals = { invoice: 'invoices', payment: 'payments', prepayment: 'prepayments' } as const;

function noStates(): DocumentStates {
  return { invoices: {}, payments: {}, prepayments: {} };
}

async function countProblems(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, number>> {
  const found = await rows(
    db,
    { installation: integer, n: integer },
    `select installation, count(*) as n from document where installation = any(?) and ${hasOpenProblem} group by installation`,
    [installations],
  );
  return new Map(found.map(({ installation, n }) => [installation, n]));
}

async function countStates(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, DocumentStates>> {
  const found = await rows(
    db,
    { installation: integer, kind: oneOf(documentKinds), state: oneOf(documentStates), n: integer },
    `select installation, kind, state, count(*) as n from document
     where installation = any(?) group by installation, kind, state order by installation, kind, state`,
    [installations],
  );
  const counted = new Map<InstallationId, DocumentStates>();
  for (const { installation, kind, state, n } of found) {
    const of = counted.get(installation) ?? noStates();
    // The latest days of invoices are documents of our books, but not records of the source.
    if (kind !== 'vat_due') of[plurals[kind]][state] = n;
    counted.set(installation, of);
  }
  return counted;
}
