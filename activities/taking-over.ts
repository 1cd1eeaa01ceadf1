import { WorkflowNotFoundError } from '@temporalio/common';
import { freeLease, type Lease, seizeLease, type Transact, takeLease, takeOverLease } from '../src/db/lease.ts';
import { explainedEnd } from '../src/domain/trouble.ts';
import { priorities } from '../src/practice/budget.ts';
import {
  type AbandonedWindow,
  abandonedWindows,
  endWindowRow,
  openBackfills,
  unheldWindows,
} from '../src/sync/sync-windows.ts';
import { windowErrors } from '../src/texts/errors/windows.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
import { stepTexts } from '../src/texts/steps.ts';
import { noCounts, type WindowInput } from '../workflows/messages.ts';
import type { ActivityDeps } from './deps.ts';
import { withSteps } from './ending.ts';
import { emitEnded } from './events.ts';
import { fatal } from './failures.ts';
import { type Heartbeat, ownHolder, ownWorkflow } from './heartbeat.ts';
import { laneOf } from './lane.ts';

/** How much longer than a window's time-out to wait for another window of the installation. */
const leaseGraceMs = 120_000;
const leasePollMs = 1_000;
/** Limit for Temporal's answer about how a workflow ended. */
const describeTimeoutMs = 10_000;

/**
 * Takes the lease of the live lane for this run. Waits for another window until that window's time-out must have ended
 * it.
 */
export async function waitForLease(deps: ActivityDeps, input: WindowInput, heartbeat: Heartbeat): Promise<Lease> {
  const scope = { installation: input.installation, lane: laneOf(input.kind) };
  const deadline = deps.clock().getTime() + (input.windowTimeoutSeconds ?? 0) * 1000 + leaseGraceMs;
  for (;;) {
    heartbeat.signal.throwIfAborted();
    // Takes over the lease of an earlier attempt, too: that attempt writes nothing any more.
    const taken = await takeOverLease(deps.db, scope, ownHolder());
    if (taken !== null) return taken.lease;
    if (deps.clock().getTime() > deadline) {
      throw fatal(windowErrors.busy({ installation: input.installation }));
    }
    heartbeat.beat({ step: stepTexts.waitingForWindow, done: 0, total: null });
    await heartbeat.pause(leasePollMs);
  }
}

/**
 * Ends windows of the lane that never recorded their end. Temporal or the records of their steps show how they ended.
 * The caller holds the lane's lease.
 */
export async function failAbandoned(deps: ActivityDeps, input: WindowInput, transact: Transact): Promise<void> {
  const { installation, kind } = input;
  const abandoned = await abandonedWindows(deps.db, installation, { kind, exceptRun: ownWorkflow().runId });
  for (const window of abandoned) {
    const status = kind === 'backfill' ? null : await statusOf(deps, window, window.runId);
    const ended = kind === 'backfill' ? windowErrors.backfillSuperseded({ installation }) : endOf(window, status);
    await noteAbandoned(deps, transact, window, ended);
  }
}

/**
 * Ends the windows of all installations whose run is over without a recorded end: Temporal ended it, an operator
 * terminated it, or Temporal lost it. Releases their leases. Stops at the first request that Temporal does not answer.
 */
export async function closeEnded(deps: EndedDeps): Promise<void> {
  for (const window of await unheldWindows(deps.db)) {
    // The run id is left out: a run that was made by a reset continues with the row.
    const status = await statusOf(deps, window, undefined);
    if (status === null) return;
    if (status === 'RUNNING') continue;
    const { installation, kind, workflowId, runId } = window;
    const transact: Transact = (work) =>
      deps.db.transaction(async (trx) => {
        await freeLease(trx, { installation, lane: laneOf(kind) }, `${workflowId}/${runId}`);
        return work(trx);
      });
    await noteAbandoned(deps, transact, window, endOf(window, status));
  }
}

type EndedDeps = Pick<ActivityDeps, 'db' | 'workflows' | 'clock' | 'log' | 'onEvent'>;

async function noteAbandoned(
  deps: EndedDeps,
  transact: Transact,
  window: AbandonedWindow,
  ended: PlainError,
): Promise<void> {
  const { id, installation, from, to, workflowId, runId } = window;
  const noted = await transact(async (trx) => {
    const { counts, trouble } = await withSteps(trx, runId, noCounts);
    const error = explainedEnd(ended, trouble, { now: deps.clock(), limit: null });
    const end = await endWindowRow(trx, window, { outcome: 'failed', counts, error });
    return end?.outcome === 'failed' ? { counts, error } : null;
  });
  if (noted === null) return;
  const { counts, error } = noted;
  deps.log.warn({ installation, window: id, workflowId, ...error }, 'a window was abandoned');
  const run = { workflow_id: workflowId, run_id: runId };
  emitEnded(deps, { installation, window: id, from, to, outcome: 'failed', error, ...counts }, run);
}

/**
 * The state of a window's workflow in Temporal's words, `GONE` if Temporal does not know it; null if Temporal does not
 * answer.
 */
async function statusOf(
  { workflows, log }: EndedDeps,
  { installation, workflowId }: AbandonedWindow,
  runId: string | undefined,
): Promise<string | null> {
  try {
    const describe = () => workflows.getHandle(workflowId, runId).describe();
    return (await workflows.withDeadline(Date.now() + describeTimeoutMs, describe)).status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'GONE';
    log.debug({ err: error, installation }, 'Temporal did not answer how a window ended');
    return null;
  }
}

/** The error of a workflow that could not record its end. */
function endOf({ kind, installation }: AbandonedWindow, status: string | null): PlainError {
  switch (status) {
    case 'TERMINATED':
      return windowErrors.terminated({ kind, installation });
    case 'TIMED_OUT':
      return windowErrors.timedOut({ kind, installation });
    default:
      return windowErrors.interrupted({ kind, installation });
  }
}

/**
 * Takes the lease of the backfill lane, even from an open backfill. Otherwise a backfill whose process was killed would
 * be retried beside this one and request the same pages. This backfill resumes the walks. If the source refuses it, the
 * other one continues.
 */
export async function takeOverBackfill(deps: ActivityDeps, input: WindowInput, heartbeat: Heartbeat): Promise<Lease> {
  const scope = { installation: input.installation, lane: laneOf(input.kind) };
  const lease = await takeLease(deps.db, scope, ownHolder());
  const others = await openBackfills(deps.db, input.installation, { exceptRun: ownWorkflow().runId });
  if (lease === null || others.length > 0) await askOnce(deps, input, heartbeat);
  for (const open of others) {
    try {
      await deps.workflows
        .getHandle(open.workflowId, open.runId)
        .terminate(windowErrors.backfillSuperseded(input).message);
    } catch (failure) {
      // The window has already ended, or its Temporal server is gone.
      if (!(failure instanceof WorkflowNotFoundError)) throw failure;
    }
  }
  return lease ?? seizeLease(deps.db, scope, ownHolder());
}

/** Throws PracticeError if the source does not answer or refuses the credentials. */
async function askOnce(deps: ActivityDeps, { installation }: WindowInput, heartbeat: Heartbeat): Promise<void> {
  const client = heartbeat.client(deps.practice(installation));
  await client.list('invoice', {}, null, { priority: priorities.backfill });
}
