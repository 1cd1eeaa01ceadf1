import { activityInfo, Context } from '@temporalio/activity';
import { CancelledFailure } from '@temporalio/common';
import { differentIdentity } from '../src/bookkeeping/identity.ts';
import { type Lease, LeaseLost, renewLease } from '../src/db/lease.ts';
import { type Db, statementTimeoutMs } from '../src/db/pool.ts';
import type { ApiUse } from '../src/domain/api-use.ts';
import { endWithin, sleep } from '../src/domain/concurrency.ts';
import type { PracticeError } from '../src/domain/practice-error.ts';
import { endCodes, troubleText } from '../src/domain/trouble.ts';
import type { PracticeClient } from '../src/practice/client.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
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

/** The heartbeat time-out is six times this (workflows/options.ts). */
const heartbeatMs = 5_000;
/** Every 20 s; a lease lasts 90 s (src/db/lease.ts). So often at most the step's row is written for what it has cost, too. */
const heartbeatsPerRenewal = 4;
/** Heartbeats are counted, not time: neither a machine that sleeps nor a blocked process is taken for work that hangs. */
const heartbeatsUntilStopped = (noProgressMinutes * 60_000) / heartbeatMs;
/** A longer wait for the rate budget is shown in the Temporal UI. */
const longWaitMs = 30_000;
/** Work that is to stop ends with its statement under way. What has not ended by then is left, and writes nothing any more. */
export const stopWithinMs = statementTimeoutMs + 15_000;

/**
 * Databases of which the last renewal of a lease failed: every activity renews every 20 s, and an outage of hours is told once. Any lease
 * that is held or renewed again ends it.
 */
const unrenewed = new WeakSet<Db>();

export interface Heartbeat {
  /** Reports progress: it is sent with every heartbeat from now on, until the next report. */
  beat(progress: Omit<StepProgress, 'installation'>): void;
  /** Sleeps; rejects when the work is to stop. */
  pause(ms: number): Promise<void>;
  /** Reports milliseconds waited for the rate budget since the last report; the workflow is told once of a long wait. */
  waited(ms: number): void;
  /** Renews a lease from here on, and stops the work when it is lost. */
  hold(lease: Lease): LaneWriter;
  /** Aborts when the work is to stop: the activity is cancelled, the lease is lost, or there is no progress. */
  signal: AbortSignal;
  /**
   * A client of the practice API for this work: it stops with it, and its requests and failures count as the work's. With `limit` it
   * stops with that, too, which its first request that fails aborts.
   */
  client(of: PracticeClient, limit?: AbortController): PracticeClient;
  /** What the requests of all attempts have cost so far. */
  use(): ApiUse;
  /** Which attempt of the activity this is; those that came to a process without the installation do not count. */
  attempt: number;
}

/** What the work of an activity belongs to. */
interface WorkOf {
  /** An attempt that fails leaves its row to the next one, and to the end of the window. */
  isOfWindow?: boolean;
  /** The activity fails for good where nothing of it has succeeded for so long. */
  givesUpAfterMs?: number;
  /** The activity fails for good after so many attempts; each failure counts. */
  attemptsAtMost?: number;
}

/**
 * Runs an activity's work with heartbeats, which go on while it waits for the budget. Keeps the activity's row (`open_step`), tells the
 * workflow of retries and recovery, turns domain errors into failures, and stops work that makes no progress. Work that is to stop is
 * awaited: once this has ended, nothing of it is under way any more, so that the window may record its end and free its lease.
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
  const key = { runId: ownWorkflow().runId, activity: activityId };
  const stepRow = new StepRow(promptDb, deps.log, { key, installation, step: activityType, attempt });
  let unexplained = 0;
  /** What the attempts before this one have left is known. */
  let isBegun = attempt === 1;
  const stop = new AbortController();
  const signal = AbortSignal.any([context.cancellationSignal, stop.signal]);
  let held: Lease | null = null;
  let progress: Omit<StepProgress, 'installation'> | null = null;
  let heartbeats = 0;
  let waitedMs = 0;
  let isWaitTold = false;
  let heartbeatsWithoutProgress = 0;
  let heardAt = deps.clock();
  const waits = new Waits(deps.clock);
  const progressed = () => {
    heartbeatsWithoutProgress = 0;
    heardAt = deps.clock();
  };
  const state = (isEnded = false) => {
    const { trouble } = stepLog;
    const now = { step: progress?.step ?? activityType, heardAt, isFailing: trouble !== null };
    return { isEnded, unexplained, trouble, api: stepLog.use(), wait: isEnded ? null : waits.worthNoting(now) };
  };
  /** Takes over from the attempts before. */
  const begin = async () => {
    const left = await stepRow.left();
    unexplained = unexplainedBefore(attempt, left);
    if (left !== null) stepLog.goOn(left);
    isBegun = true;
    if (unexplained >= unexplainedAttemptsAtMost) throw fatal(tooManyAttempts(activityType, unexplained, null));
    await stepRow.began(state());
    // The attempt before this one died before it could signal.
    if (left?.isEnded !== true)
      await tellWorkflow(deps, { health: 'retrying', note: `${activityType}: attempt ${attempt}` });
  };
  const renew = async (lease: Lease) => {
    try {
      if (!(await renewLease(promptDb, lease))) stop.abort(new LeaseLost(lease));
      unrenewed.delete(deps.db);
    } catch (error) {
      const level = unrenewed.has(deps.db) ? 'debug' : 'warn';
      unrenewed.add(deps.db);
      deps.log[level]({ err: error, installation }, 'lease not renewed; it is tried again, and told once');
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
    // What the row says of the attempts before stays.
    if (!isBegun) return;
    if (!isOfWindow) return stepRow.forget();
    // A final failure carries its error; only its cost needs the row.
    if (stepRow.isThere || stepLog.use().requests > 0 || !isFinal(failure)) await stepRow.failed(state(true));
  };
  const heartbeat: Heartbeat = {
    beat: (latest) => {
      progressed();
      // Sent with the next heartbeat: Temporal's client would hold it back until then, after encoding it.
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
      if (waitedMs < longWaitMs || isWaitTold) return;
      isWaitTold = true;
      const told = { health: 'waiting', note: `${activityType} waits for the rate budget` } as const;
      void tellWorkflow(deps, told);
    },
    hold: (lease) => {
      held = lease;
      unrenewed.delete(deps.db);
      const onBegun = () => waits.begin('PostgreSQL, for a transaction to be written');
      return laneWriter(deps.db, lease, { signal, onBegun, onEnded: progressed });
    },
    signal,
    client: (of, limit) => {
      const onOutcome = (error: PracticeError | null, action: string) => {
        if (error !== null) limit?.abort(error);
        // An attempt before this one failed at the request that has just succeeded.
        if (!stepLog.requested(error, action) || attempt === 1) return;
        stepRow.note(state());
        void tellWorkflow(deps, { health: 'ok', note: '' });
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
        `${activityType} did not stop within ${stopWithinMs / 1000} s; its lease keeps it from writing`,
      ),
    );
    await stepRow.remove();
    if (attempt > 1 || isWaitTold) await tellWorkflow(deps, { health: 'ok', note: '' });
    return result;
  } catch (error) {
    const told = toFailure(error);
    const last = unexplainedError(error, told);
    const failure = attempt < attemptsAtMost ? told : finalFailure(told);
    if (last !== null) unexplained += 1;
    const explained = plainErrorIn(failure) ?? last;
    if (explained !== null) stepLog.failed(explained);
    // Another process goes on with the step; until then its row says why it stands still.
    else if (stepLog.trouble === null && isShutdown(error)) stepLog.failed(workerStopped);
    await endRow(failure);
    const { trouble } = stepLog;
    // Without the row, Temporal's own count.
    if (explained !== null && trouble !== null && isTold(isBegun ? trouble.times : attempt) && !isFinal(failure)) {
      const said = `${activityType}: ${troubleText(trouble, deps.clock())}`;
      await tellWorkflow(deps, { health: 'retrying', note: said });
    }
    const failingMs = trouble === null ? 0 : deps.clock().getTime() - Date.parse(trouble.failingSince);
    if (explained !== null && !isFinal(failure) && failingMs >= givesUpAfterMs)
      throw fatal(givenUp(activityType, failingMs));
    if (last === null) throw failure;
    // Nothing but this line tells of it until the window is given up.
    deps.log.warn({ err: error, installation }, `${activityType} failed unexpectedly, attempt ${attempt}`);
    throw unexplained < unexplainedAttemptsAtMost ? failure : fatal(tooManyAttempts(activityType, unexplained, last));
  } finally {
    clearInterval(timer);
  }
}

const workerStopped: PlainError = {
  code: 'worker_stopped',
  message: 'the process that ran the window was stopped, and no other one has taken it over',
  todo: 'start `vetledger run`: it goes on where it was',
};

/** What the SDK cancels activities with when their worker is shut down. */
function isShutdown(error: unknown): boolean {
  return error instanceof CancelledFailure && error.message === 'WORKER_SHUTDOWN';
}

/**
 * Whether the workflow is signalled of the error that is number `times` in a row: only of errors 1 to 4 and then of powers of two, since each
 * signal adds four events to the history. The step's row has each error.
 */
function isTold(times: number): boolean {
  return times <= 4 || Number.isInteger(Math.log2(times));
}

/** As `withHeartbeat`, for the work of an open window: it holds the window's lease. */
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

/** A first load has no time-out of its workflow: each of its steps may fail for as long as a window may last. */
function givesUpAfterMs({ kind, windowTimeoutSeconds }: WindowInput, { from }: OpenWindow): number {
  const isFirstLoad = kind === 'window' && from === null;
  return isFirstLoad && windowTimeoutSeconds !== null ? windowTimeoutSeconds * 1000 : Number.POSITIVE_INFINITY;
}

/** The end of a window whose step has failed for too long; its row says what with (explainedEnd). */
function givenUp(activity: string, failingMs: number): PlainError {
  return {
    code: endCodes.givenUp,
    message: `${activity} failed for ${Math.round(failingMs / 1000)} s without a success`,
    todo: 'nothing is lost: the next window goes on where it was',
  };
}

/**
 * Runs short work that reports no progress. Its heartbeats show that it is under way: when its process or the server has died, or its
 * result got lost between the two, the next attempt begins after the heartbeat time-out.
 */
export async function beating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Signals the activity's own workflow; a signal that cannot be sent never fails the work. */
async function tellWorkflow(deps: ActivityDeps, note: HealthNote): Promise<void> {
  const { workflowId, runId } = ownWorkflow();
  try {
    await deps.workflows.getHandle(workflowId, runId).signal(healthSignalName, note);
  } catch (error) {
    deps.log.debug({ err: error }, 'health not signalled');
  }
}

/** The workflow this activity runs for. */
export function ownWorkflow(): { workflowId: string; runId: string } {
  const { workflowExecution } = activityInfo();
  if (!workflowExecution) throw new Error('this activity runs in no workflow');
  return workflowExecution;
}

/** As whom this workflow's run holds a lease: all of its activities, in every attempt. */
export function ownHolder(): string {
  const { workflowId, runId } = ownWorkflow();
  return `${workflowId}/${runId}`;
}
