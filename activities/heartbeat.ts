import { activityInfo, Context } from '@temporalio/activity';
import { CancelledFailure } from '@temporalio/common';
import { differentIdentity } from '../src/bookkeeping/identity.ts';
import { type Lease, LeaseLost, renewLease } from '../src/db/lease.ts';
import { type Db, statementTimeoutMs } from '../src/db/pool.ts';
import type { ApiUse } from '../src/domain/api-use.ts';
import { endWithin, sleep } from '../src/domain/concurrency.ts';
import type { PracticeError } from '../src/domain/practice-error.ts';
import { troubleText } from '../src/domain/trouble.ts';
import type { PracticeClient } from '../src/practice/client.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import { windowErrors } from '../src/texts/errors/windows.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
import { waitTexts } from '../src/texts/steps.ts';
import { workflowTexts } from '../src/texts/temporal.ts';
import { type HealthNote, healthSignalName, type WindowInput } from '../workflows/messages.ts';
import {
  differingAttemptsAtMost,
  NoProgress,
  noProgressMinutes,
  tooManyAttempts,
  unexplainedAttemptsAtMost,
  unexplainedBefore,
} from './attempts.ts';
import { type ActivityDeps, installationOf, type StepProgress } from './deps.ts';
import { attemptsBefore } from './elsewhere.ts';
import { fatal, finalFailure, isFinal, plainErrorIn, plainErrorOf, toFailure, unexplainedError } from './failures.ts';
import { type LaneWriter, laneWriter, renewedLease } from './lane.ts';
import { StepLog } from './step-log.ts';
import { StepRow } from './step-row.ts';
import { Waits } from './waits.ts';

/** The heartbeat time-out is six times this interval (workflows/options.ts). */
const heartbeatMs = 5_000;
/**
 * Every 20 s; a lease lasts 90 s (src/db/lease.ts). The step's row is also updated for its cost alone at most this
 * often.
 */
const heartbeatsPerRenewal = 4;
/**
 * Counts heartbeats instead of time, so that a sleeping machine or a blocked process does not look like work without
 * progress.
 */
const heartbeatsUntilStopped = (noProgressMinutes * 60_000) / heartbeatMs;
/** A longer wait for the rate budget is shown in the Temporal UI. */
const longWaitMs = 30_000;
/**
 * Time for work to stop: it includes the end of a running statement. Work that has not stopped by then is abandoned;
 * its lease keeps it from writing.
 */
export const stopWithinMs = statementTimeoutMs + 15_000;

/**
 * Databases whose last renewal of a lease failed. Every activity renews every 20 s, so a long outage would log many
 * warnings; this logs one. A successful renewal or a new lease removes the database from the set.
 */
const unrenewed = new WeakSet<Db>();

export interface Heartbeat {
  /** Reports progress. Every heartbeat sends the latest report. */
  beat(progress: Omit<StepProgress, 'installation'>): void;
  /** Sleeps. Rejects if the work must stop. */
  pause(ms: number): Promise<void>;
  /** Reports milliseconds of waiting for the rate budget. The workflow gets one signal if the wait is long. */
  waited(ms: number): void;
  /** Renews a lease from now on, and stops the work if the lease is lost. */
  hold(lease: Lease): LaneWriter;
  /** Aborts if the work must stop: the activity is cancelled, the lease is lost, or there is no progress. */
  signal: AbortSignal;
  /**
   * A client of the practice API that stops with this work and counts its requests and failures here. If `limit` is
   * given, the client stops with it too, and the first failed request aborts it.
   */
  client(of: PracticeClient, limit?: AbortController): PracticeClient;
  /** The cost of the requests of all attempts so far. */
  use(): ApiUse;
  /** The number of this attempt, without attempts in processes that do not serve the installation. */
  attempt: number;
}

interface WorkOf {
  /** A failed attempt keeps its row for the next attempt and for the end of the window. */
  isOfWindow?: boolean;
  /** The activity fails for good after this time without any success. */
  givesUpAfterMs?: number;
  /** The activity fails for good after this many attempts; each failure counts. */
  attemptsAtMost?: number;
}

/**
 * Runs the work of an activity with heartbeats, which continue while it waits for the rate budget. Keeps the activity's
 * row in `open_step`, signals retries and recovery to the workflow, converts errors, and stops work without progress.
 * Awaits work that must stop: afterwards none of it runs, so the window may record its end and release its lease.
 */
export async function withHeartbeat<T>(
  deps: ActivityDeps,
  input: Pick<WindowInput, 'installation'>,
  work: (heartbeat: Heartbeat) => Promise<T>,
  {
    isOfWindow = false,
    givesUpAfterMs = Number.POSITIVE_INFINITY,
    attemptsAtMost = Number.POSITIVE_INFINITY,
  }: WorkOf = {},
): Promise<T> {
  const { installation } = input;
  const context = Context.current();
  const { activityId, activityType } = activityInfo();
  const { attempt, elsewhere } = attemptsBefore();
  const promptDb = deps.promptDb ?? deps.db;
  const stepLog = new StepLog(deps.clock);
  // Read now, because a request that ends its wait may do so in the context of another activity, or in none.
  const run = ownWorkflow();
  const signalOwn = (note: HealthNote) => signalWorkflow(deps, run, note);
  const key = { runId: run.runId, activity: activityId };
  const stepRow = new StepRow(promptDb, deps.log, { key, installation, step: activityType, attempt });
  let unexplained = 0;
  /** Whether this attempt has read the row of the earlier attempts. */
  let isBegun = attempt === 1;
  const stop = new AbortController();
  const signal = AbortSignal.any([context.cancellationSignal, stop.signal]);
  let held: Lease | null = null;
  let progress: Omit<StepProgress, 'installation'> | null = null;
  let heartbeats = 0;
  let waitedMs = 0;
  let isWaitSignalled = false;
  let heartbeatsWithoutProgress = 0;
  let progressAt = deps.clock();
  const waits = new Waits(deps.clock);
  const progressed = () => {
    heartbeatsWithoutProgress = 0;
    progressAt = deps.clock();
  };
  const state = (isEnded = false) => {
    const { trouble } = stepLog;
    const now = { step: progress?.step ?? activityType, progressAt, isFailing: trouble !== null };
    return { isEnded, unexplained, trouble, api: stepLog.use(), wait: isEnded ? null : waits.longest(now) };
  };
  /** Reads the row of the earlier attempts, and continues from there. */
  const begin = async () => {
    const left = await stepRow.left();
    unexplained = unexplainedBefore(attempt, left);
    if (left !== null) stepLog.resume(left);
    isBegun = true;
    if (unexplained >= unexplainedAttemptsAtMost) throw fatal(tooManyAttempts(activityType, unexplained, null));
    await stepRow.began(state());
    // The previous attempt died before it could send a signal.
    if (left?.isEnded !== true)
      await signalOwn({
        health: 'retrying',
        note: workflowTexts.attempt({ activity: activityType, attempt }),
      });
  };
  const renew = async (lease: Lease) => {
    try {
      if (!(await renewLease(promptDb, lease))) stop.abort(new LeaseLost(lease));
      unrenewed.delete(deps.db);
    } catch (error) {
      const level = unrenewed.has(deps.db) ? 'debug' : 'warn';
      unrenewed.add(deps.db);
      deps.log[level]({ err: error, installation }, 'the lease was not renewed; this is retried, and logged once');
    }
  };
  const send = () => context.heartbeat(elsewhere === 0 ? progress : { ...progress, elsewhere });
  const timer = setInterval(() => {
    send();
    heartbeats += 1;
    heartbeatsWithoutProgress += 1;
    if (heartbeatsWithoutProgress === heartbeatsUntilStopped) {
      stop.abort(new NoProgress(activityType, progress?.step ?? null));
    }
    const isRenewal = heartbeats % heartbeatsPerRenewal === 0;
    if (held !== null && isRenewal) void renew(held);
    if (isBegun) stepRow.note(state(), { withCost: isRenewal });
  }, heartbeatMs);
  const endRow = async (failure: unknown) => {
    // If this attempt has not read the row, it keeps the values of earlier attempts.
    if (!isBegun) return;
    if (!isOfWindow) return stepRow.forget();
    // A final failure carries its error; the row is needed only for the cost.
    if (stepRow.isThere || stepLog.use().requests > 0 || !isFinal(failure)) await stepRow.failed(state(true));
  };
  const heartbeat: Heartbeat = {
    beat: (latest) => {
      progressed();
      // The next heartbeat sends it. Sending it now would only encode it: Temporal's client holds it back until then.
      progress = latest;
      deps.onProgress?.({ installation, ...latest });
    },
    pause: async (ms) => {
      await sleep(ms, signal);
      progressed();
    },
    waited: (ms) => {
      progressed();
      waitedMs += ms;
      if (waitedMs < longWaitMs || isWaitSignalled) return;
      isWaitSignalled = true;
      const note = workflowTexts.waitsForBudget({ activity: activityType });
      void signalOwn({ health: 'waiting', note });
    },
    hold: (lease) => {
      held = lease;
      unrenewed.delete(deps.db);
      const onBegun = () => waits.begin(waitTexts.transaction);
      return laneWriter(deps.db, lease, { signal, onBegun, onEnded: progressed });
    },
    signal,
    client: (of, limit) => {
      const onOutcome = (error: PracticeError | null, action: string) => {
        if (error !== null) limit?.abort(error);
        // An earlier attempt failed at the request that has now succeeded.
        if (!stepLog.requested(error, action) || attempt === 1) return;
        stepRow.note(state());
        void signalOwn({ health: 'ok', note: '' });
      };
      const stops = limit === undefined ? signal : AbortSignal.any([signal, limit.signal]);
      return stepLog.counted(
        of.forWindow({ signal: stops, onWait: heartbeat.waited, onOutcome, onWaiting: (what) => waits.begin(what) }),
      );
    },
    use: () => stepLog.use(),
    attempt,
  };
  try {
    send();
    if (!isBegun) await begin();
    const result = await endWithin(stopWithinMs, work(heartbeat), signal, () =>
      deps.log.error(
        { installation, reason: String(signal.reason) },
        `${activityType} did not stop within ${stopWithinMs / 1000} s; it cannot write any more, since its lease has expired`,
      ),
    );
    await stepRow.remove();
    if (attempt > 1 || isWaitSignalled) await signalOwn({ health: 'ok', note: '' });
    return result;
  } catch (error) {
    const converted = toFailure(error);
    const last = unexplainedError(error, converted);
    const failure = attempt < attemptsAtMost ? converted : finalFailure(converted);
    if (last !== null) unexplained += 1;
    const explained = plainErrorIn(failure) ?? last;
    if (explained !== null) stepLog.failed(explained);
    // Another process continues the step. Until then the row shows why the step waits.
    else if (stepLog.trouble === null && isShutdown(error)) stepLog.failed(windowErrors.workerStopped());
    await endRow(failure);
    const { trouble } = stepLog;
    // If there is no row, Temporal's own count is used.
    if (explained !== null && trouble !== null && isSignalled(isBegun ? trouble.times : attempt) && !isFinal(failure)) {
      const note = workflowTexts.trouble({ activity: activityType, trouble: troubleText(trouble, deps.clock()) });
      await signalOwn({ health: 'retrying', note });
    }
    const failingMs = trouble === null ? 0 : deps.clock().getTime() - Date.parse(trouble.failingSince);
    if (explained !== null && !isFinal(failure) && failingMs >= givesUpAfterMs)
      throw fatal(givenUp(activityType, failingMs));
    if (last === null) throw failure;
    // This log line is the only report of the error until the window fails.
    deps.log.warn({ err: error, installation }, `${activityType} failed unexpectedly, attempt ${attempt}`);
    throw unexplained < unexplainedAttemptsAtMost ? failure : fatal(tooManyAttempts(activityType, unexplained, last));
  } finally {
    clearInterval(timer);
  }
}

/** The SDK cancels activities with this failure when their worker shuts down. */
function isShutdown(error: unknown): boolean {
  return error instanceof CancelledFailure && error.message === 'WORKER_SHUTDOWN';
}

/**
 * Whether to signal the workflow about error number `times` in a row: only errors 1 to 4 and then powers of two, since
 * each signal adds four events to the history. The step's row has each error.
 */
function isSignalled(times: number): boolean {
  return times <= 4 || Number.isInteger(Math.log2(times));
}

/** Does the same as `withHeartbeat` for the work of an open window, and holds the window's lease. */
export function withLease<T>(
  deps: ActivityDeps,
  input: WindowInput,
  window: OpenWindow,
  work: (heartbeat: Heartbeat, writer: LaneWriter) => Promise<T>,
): Promise<T> {
  return withHeartbeat(
    deps,
    input,
    async (heartbeat) => {
      const differs = differentIdentity(installationOf(deps, input.installation), window.identity);
      if (differs !== null) throw heartbeat.attempt < differingAttemptsAtMost ? differs : fatal(plainErrorOf(differs));
      return work(heartbeat, heartbeat.hold(await renewedLease(deps.promptDb ?? deps.db, input, window)));
    },
    { isOfWindow: true, givesUpAfterMs: givesUpAfterMs(input, window) },
  );
}

/**
 * The workflow of a first load has no time-out. Instead, each of its steps may fail for as long as a window may last.
 */
function givesUpAfterMs({ kind, windowTimeoutSeconds }: WindowInput, { from }: OpenWindow): number {
  const isFirstLoad = kind === 'window' && from === null;
  return isFirstLoad && windowTimeoutSeconds !== null ? windowTimeoutSeconds * 1000 : Number.POSITIVE_INFINITY;
}

/**
 * The error of a window whose step has failed for too long. The window's row adds the step's last error (explainedEnd).
 */
function givenUp(activity: string, failingMs: number): PlainError {
  return windowErrors.failingTooLong({ activity, seconds: Math.round(failingMs / 1000) });
}

/**
 * Runs short work without progress reports. Its heartbeats show that it is running: if its process or the server dies,
 * or its result is lost, the next attempt begins after the heartbeat time-out.
 */
export async function withSimpleHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Signals a workflow. A failure to signal never fails the work. */
async function signalWorkflow(
  deps: ActivityDeps,
  { workflowId, runId }: { workflowId: string; runId: string },
  note: HealthNote,
): Promise<void> {
  try {
    await deps.workflows.getHandle(workflowId, runId).signal(healthSignalName, note);
  } catch (error) {
    deps.log.debug({ err: error }, 'the health could not be signalled');
  }
}

/** The workflow that this activity belongs to. */
export function ownWorkflow(): { workflowId: string; runId: string } {
  const { workflowExecution } = activityInfo();
  if (!workflowExecution) throw new Error('this activity runs in no workflow');
  return workflowExecution;
}

/** The holder name of leases of this workflow run. All its activities share it, in every attempt. */
export function ownHolder(): string {
  const { workflowId, runId } = ownWorkflow();
  return `${workflowId}/${runId}`;
}
