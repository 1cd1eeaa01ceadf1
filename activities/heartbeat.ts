import { activityInfo, Context } from '@temporalio/activity';
import { MappingSuperseded } from '../src/bookkeeping/mapping-generation.ts';
import { type Lease, LeaseLost, renewLease } from '../src/db/lease.ts';
import { statementTimeoutMs } from '../src/db/pool.ts';
import { endWithin } from '../src/domain/concurrency.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import { type HealthNote, healthSignalName, type WindowInput } from '../workflows/messages.ts';
import {
  type AttemptNote,
  NoProgress,
  noProgressMinutes,
  tooManyAttempts,
  unexplainedAttemptsAtMost,
  unexplainedBefore,
} from './attempts.ts';
import type { ActivityDeps, StepProgress } from './deps.ts';
import { fatal, toFailure, unexplainedError } from './failures.ts';
import { type LaneWriter, laneWriter, renewedLease } from './lane.ts';

/** The heartbeat time-out is six times this (workflows/options.ts). */
const heartbeatMs = 5_000;
/** Every 20 s; a lease lasts 90 s (src/db/lease.ts). */
const heartbeatsPerRenewal = 4;
/** Heartbeats are counted, not time: neither a machine that sleeps nor a blocked process is taken for work that hangs. */
const heartbeatsUntilStopped = (noProgressMinutes * 60_000) / heartbeatMs;
/** A longer wait for the rate budget is shown in the Temporal UI. */
const longWaitMs = 30_000;
/** Work that is to stop ends with its statement under way. What has not ended by then is left, and writes nothing any more. */
export const stopWithinMs = statementTimeoutMs + 15_000;

export interface Heartbeat {
  /** Reports progress: it is sent now and with every heartbeat until the next report. */
  beat(progress: Omit<StepProgress, 'installation'>): void;
  /** Sleeps; rejects when the work is to stop. */
  pause(ms: number): Promise<void>;
  /** Reports milliseconds waited for the rate budget since the last report; the workflow is told once of a long wait. */
  waited(ms: number): void;
  /** Renews a lease from here on, and stops the work when it is lost. */
  hold(lease: Lease): LaneWriter;
  /** Aborts when the work is to stop: the activity is cancelled, the lease is lost, or there is no progress. */
  signal: AbortSignal;
}

/**
 * Runs an activity's work with heartbeats, which go on while it waits for the budget. Tells the workflow of retries and
 * recovery, turns domain errors into failures, and stops work that makes no progress. Work that is to stop is awaited: once this has ended, nothing of it is under
 * way any more, so that the window may record its end and free its lease.
 */
export async function withHeartbeat<T>(
  deps: ActivityDeps,
  input: Pick<WindowInput, 'installation'>,
  work: (heartbeat: Heartbeat) => Promise<T>,
): Promise<T> {
  const { installation } = input;
  const context = Context.current();
  const { activityType, attempt, heartbeatDetails } = activityInfo();
  const unexplained = unexplainedBefore(attempt, heartbeatDetails);
  const stop = new AbortController();
  const signal = AbortSignal.any([context.cancellationSignal, stop.signal]);
  let held: Lease | null = null;
  let note: AttemptNote = { progress: null, unexplained, ended: false };
  let heartbeats = 0;
  let waitedMs = 0;
  let isWaitTold = false;
  let heartbeatsWithoutProgress = 0;
  const progressed = () => {
    heartbeatsWithoutProgress = 0;
  };
  const renew = async (lease: Lease) => {
    try {
      if (!(await renewLease(deps.db, lease))) stop.abort(new LeaseLost(lease));
    } catch (error) {
      deps.log.warn({ err: error, installation }, 'lease not renewed');
    }
  };
  const timer = setInterval(() => {
    context.heartbeat(note);
    heartbeats += 1;
    heartbeatsWithoutProgress += 1;
    if (heartbeatsWithoutProgress === heartbeatsUntilStopped) {
      stop.abort(new NoProgress(activityType, note.progress?.step ?? null));
    }
    if (held !== null && heartbeats % heartbeatsPerRenewal === 0) void renew(held);
  }, heartbeatMs);
  const heartbeat: Heartbeat = {
    beat: (latest) => {
      progressed();
      note = { ...note, progress: latest };
      context.heartbeat(note);
      deps.onProgress?.({ installation, ...latest });
    },
    pause: async (ms) => {
      await pauseFor(ms, signal);
      progressed();
    },
    waited: (ms) => {
      progressed();
      waitedMs += ms;
      if (waitedMs < longWaitMs || isWaitTold) return;
      isWaitTold = true;
      void tellWorkflow(deps, { health: 'waiting', note: `${activityType} waits for the rate budget` });
    },
    hold: (lease) => {
      held = lease;
      return laneWriter(deps.db, lease, { signal, onEnded: progressed });
    },
    signal,
  };
  try {
    context.heartbeat(note);
    if (unexplained >= unexplainedAttemptsAtMost) throw fatal(tooManyAttempts(activityType, unexplained, null));
    if (attempt > 1) await tellWorkflow(deps, { health: 'retrying', note: `${activityType}: attempt ${attempt}` });
    const result = await endWithin(stopWithinMs, work(heartbeat), signal, () =>
      deps.log.error(
        { installation, reason: String(signal.reason) },
        `${activityType} did not stop within ${stopWithinMs / 1000} s; its lease keeps it from writing`,
      ),
    );
    if (attempt > 1 || isWaitTold) await tellWorkflow(deps, { health: 'ok', note: '' });
    return result;
  } catch (error) {
    if (error instanceof MappingSuperseded) deps.onMappingSuperseded?.();
    const failure = toFailure(error);
    const last = unexplainedError(error, failure);
    const count = unexplained + (last === null ? 0 : 1);
    // Sent with the failure.
    note = { ...note, unexplained: count, ended: true };
    context.heartbeat(note);
    if (last === null) throw failure;
    // Nothing but this line tells of it until the window is given up.
    deps.log.warn({ err: error, installation }, `${activityType} failed unexpectedly, attempt ${attempt}`);
    throw count < unexplainedAttemptsAtMost ? failure : fatal(tooManyAttempts(activityType, count, last));
  } finally {
    clearInterval(timer);
  }
}

/** As `withHeartbeat`, for the work of an open window: it holds the window's lease. */
export function withLease<T>(
  deps: ActivityDeps,
  input: WindowInput,
  window: OpenWindow,
  work: (heartbeat: Heartbeat, writer: LaneWriter) => Promise<T>,
): Promise<T> {
  return withHeartbeat(deps, input, async (heartbeat) =>
    work(heartbeat, heartbeat.hold(await renewedLease(deps.db, input, window, ownHolder()))),
  );
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
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
