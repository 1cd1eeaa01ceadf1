import { activityInfo, Context } from '@temporalio/activity';
import { TemporalFailure } from '@temporalio/common';
import { renewLease } from '../src/db/lease.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import { type HealthNote, healthSignalName, type WindowInput } from '../workflows/messages.ts';
import type { ActivityDeps, StepProgress } from './deps.ts';
import { toFailure, WindowSuperseded } from './failures.ts';

/** The heartbeat time-out is six times this (workflows/options.ts). */
const heartbeatMs = 5_000;
/** Every 20 s; a lease lasts 90 s (src/db/lease.ts). */
const heartbeatsPerRenewal = 4;
/** A longer wait for the rate budget is shown in the Temporal UI. */
const longWaitMs = 30_000;

export interface Heartbeat {
  /** Reports progress: it is sent now and with every heartbeat until the next report. */
  beat(progress: Omit<StepProgress, 'installation'>): void;
  /** Sleeps; rejects when the activity is cancelled. */
  pause(ms: number): Promise<void>;
  /** Reports the milliseconds waited for the rate budget so far; the workflow is told once of a long wait. */
  reportWait(ms: number): void;
  /** Aborts when the activity is cancelled, and when the window's lease is lost. */
  signal: AbortSignal;
}

/**
 * Runs an activity's work with heartbeats, which go on while it waits for the budget. Renews the window's lease, tells the
 * workflow of retries and recovery, and turns domain errors into failures. Stops when cancelled and when the lease is lost.
 */
export async function withHeartbeat<T>(
  deps: ActivityDeps,
  input: WindowInput,
  window: OpenWindow | null,
  work: (heartbeat: Heartbeat) => Promise<T>,
): Promise<T> {
  const { installation } = input;
  const token = window?.token ?? null;
  const context = Context.current();
  const { activityType, attempt } = activityInfo();
  const lease = new LeaseWatch(installation);
  let progress: unknown = null;
  let heartbeats = 0;
  let isWaitTold = false;
  const timer = setInterval(() => {
    context.heartbeat(progress);
    heartbeats += 1;
    if (token === null || heartbeats % heartbeatsPerRenewal !== 0) return;
    renewLease(deps.db, installation, token).then(
      (isKept) => {
        if (!isKept) lease.lose();
      },
      (error: unknown) => deps.log.warn({ err: error, installation }, 'lease not renewed'),
    );
  }, heartbeatMs);
  const heartbeat: Heartbeat = {
    beat: (latest) => {
      progress = latest;
      context.heartbeat(latest);
      deps.onProgress?.({ installation, ...latest });
    },
    pause: (ms) => context.sleep(ms),
    reportWait: (ms) => {
      if (ms < longWaitMs || isWaitTold) return;
      isWaitTold = true;
      void tellWorkflow(deps, { health: 'waiting', note: `${activityType} waits for the rate budget` });
    },
    signal: AbortSignal.any([context.cancellationSignal, lease.signal]),
  };
  try {
    if (attempt > 1) await tellWorkflow(deps, { health: 'retrying', note: `${activityType}: attempt ${attempt}` });
    if (token !== null && !(await renewLease(deps.db, installation, token))) throw new WindowSuperseded(installation);
    // The race ends the activity at once; the signal ends the work itself.
    const result = await Promise.race([work(heartbeat), lease.lost, context.cancelled]);
    if (attempt > 1 || isWaitTold) await tellWorkflow(deps, { health: 'ok', note: '' });
    return result;
  } catch (error) {
    const failure = toFailure(error);
    // An unexpected error is retried, perhaps until the window is given up: nothing but this line tells of it until then.
    if (failure === error && !(error instanceof TemporalFailure)) {
      deps.log.warn({ err: error, installation }, `${activityType} failed unexpectedly, attempt ${attempt}`);
    }
    throw failure;
  } finally {
    clearInterval(timer);
  }
}

/** Tells the loss of a lease as a signal, and as a promise that rejects. */
class LeaseWatch {
  readonly #controller = new AbortController();
  readonly #installation: number;
  readonly lost: Promise<never>;

  constructor(installation: number) {
    this.#installation = installation;
    this.lost = new Promise((_, reject) => {
      this.signal.addEventListener('abort', () => reject(this.signal.reason), { once: true });
    });
    // Nobody may be waiting for it any more when the lease is lost.
    this.lost.catch(() => undefined);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  lose(): void {
    this.#controller.abort(new WindowSuperseded(this.#installation));
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
