import { activityInfo, Context } from '@temporalio/activity';
import type { WorkflowClient } from '@temporalio/client';
import { TemporalFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { type LockDateOf, storedLockDates } from '../src/bookkeeping/lock-dates.ts';
import type { InstallationConfig } from '../src/config/load.ts';
import { renewLease } from '../src/db/lease.ts';
import type { Db } from '../src/db/pool.ts';
import type { PracticeClient } from '../src/practice/client.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import { type HealthNote, healthSignalName, type WindowInput, type WindowOutcome } from '../workflows/messages.ts';
import { toFailure, WindowConflict } from './failures.ts';

/** What the activities are made from; everything from outside comes in here. */
export interface ActivityDeps {
  db: Db;
  installations: ReadonlyMap<number, InstallationConfig>;
  practice(installation: number): PracticeClient;
  /** For health signals to the activity's own workflow. */
  workflows: Pick<WorkflowClient, 'getHandle'>;
  clock: () => Date;
  log: Logger;
  onProgress?: (progress: StepProgress) => void;
  onWindow?: (outcome: WindowOutcome) => void;
}

export interface StepProgress {
  installation: number;
  step: string;
  done: number;
  total: number | null;
}

const beatMs = 5_000;
const renewEveryBeats = 4;
/** Waits for the budget beyond this are shown in the Temporal UI. */
const longWaitMs = 30_000;

export function installationOf(deps: ActivityDeps, id: number): InstallationConfig {
  const found = deps.installations.get(id);
  if (!found) throw new Error(`installation ${id} is not in the configuration of this worker`);
  return found;
}

export interface Liveness {
  /** Latest progress, sent with the next heartbeat. */
  beat(details: { step: string; done: number; total: number | null }): void;
  pause(ms: number): Promise<void>;
  /** Milliseconds waited for the rate budget so far; a long wait is told to the workflow once. */
  waited(ms: number): void;
  /** Aborts when the activity is cancelled, and when the window's lease is lost. */
  signal: AbortSignal;
}

/**
 * Runs an activity's work with heartbeats (while it waits for budget, too), keeps the window's lease, tells the workflow of
 * retries and of recovery, and turns domain errors into failures. Stops when cancelled or when the lease is lost.
 */
export async function alive<T>(
  deps: ActivityDeps,
  input: WindowInput,
  window: OpenWindow | null,
  work: (liveness: Liveness) => Promise<T>,
): Promise<T> {
  const context = Context.current();
  const { attempt } = activityInfo();
  let details: unknown = null;
  let beats = 0;
  let toldWaiting = false;
  const lease = new AbortController();
  const leaseLost = new Promise<never>((_, reject) => {
    lease.signal.addEventListener('abort', () => reject(lease.signal.reason), { once: true });
  });
  leaseLost.catch(() => undefined);
  const timer = setInterval(() => {
    context.heartbeat(details);
    if (window?.token == null || ++beats % renewEveryBeats !== 0) return;
    renewLease(deps.db, input.installation, window.token).then(
      (kept) =>
        kept ||
        lease.abort(new WindowConflict(`the lease of installation ${input.installation} was lost to another window`)),
      (error: unknown) => deps.log.warn({ err: error, installation: input.installation }, 'lease not renewed'),
    );
  }, beatMs);
  try {
    if (attempt > 1)
      await tellWorkflow(deps, { health: 'retrying', note: `${activityInfo().activityType}: attempt ${attempt}` });
    if (window?.token != null && !(await renewLease(deps.db, input.installation, window.token))) {
      throw new WindowConflict(`the lease of installation ${input.installation} was lost to another window`);
    }
    const liveness: Liveness = {
      beat: (progress) => {
        details = progress;
        context.heartbeat(progress);
        deps.onProgress?.({ installation: input.installation, ...progress });
      },
      pause: (ms) => context.sleep(ms),
      waited: (ms) => {
        if (ms < longWaitMs || toldWaiting) return;
        toldWaiting = true;
        void tellWorkflow(deps, {
          health: 'waiting',
          note: `${activityInfo().activityType} waits for the rate budget`,
        });
      },
      // The race below ends the activity at once; the signal ends the work itself.
      signal: AbortSignal.any([context.cancellationSignal, lease.signal]),
    };
    const result = await Promise.race([work(liveness), leaseLost, context.cancelled]);
    if (attempt > 1 || toldWaiting) await tellWorkflow(deps, { health: 'ok', note: '' });
    return result;
  } catch (error) {
    const failure = toFailure(error);
    // Nothing else tells of one that is no domain error while it is tried again, perhaps until the window is given up.
    if (failure === error && !(error instanceof TemporalFailure)) {
      const { activityType } = activityInfo();
      deps.log.warn(
        { err: error, installation: input.installation },
        `${activityType} failed unexpectedly, attempt ${attempt}`,
      );
    }
    throw failure;
  } finally {
    clearInterval(timer);
  }
}

/** An installation's lock dates as its source tells them, stored; a warning where it cannot tell one. */
export function lockDates(deps: ActivityDeps, installation: number): LockDateOf {
  return storedLockDates(deps.db, deps.practice(installation), installation, (department) =>
    deps.log.warn(
      { installation, department },
      'the source does not tell this department’s lock date; the last known one is used',
    ),
  );
}

/** Signals the activity's own workflow; a signal that cannot be sent never fails the work. */
export async function tellWorkflow(deps: ActivityDeps, note: HealthNote): Promise<void> {
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
