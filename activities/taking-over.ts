import { WorkflowNotFoundError } from '@temporalio/common';
import { takeLease } from '../src/db/lease.ts';
import { closeWindowRow, failAbandonedWindows, openBackfills } from '../src/sync/sync-windows.ts';
import { noCounts, type WindowInput } from '../workflows/messages.ts';
import type { ActivityDeps } from './deps.ts';
import { fatal } from './failures.ts';
import { type Heartbeat, ownWorkflow } from './heartbeat.ts';

/** How much longer than a window may last another window of the installation is waited for. */
const leaseGraceMs = 120_000;
const leasePollMs = 1_000;

/** Takes the installation's lease, for this run; waits for another window until that one must have ended by itself. */
export async function waitForLease(deps: ActivityDeps, input: WindowInput, heartbeat: Heartbeat): Promise<number> {
  const { workflowId, runId } = ownWorkflow();
  const deadline = deps.clock().getTime() + (input.windowTimeoutSeconds ?? 0) * 1000 + leaseGraceMs;
  for (;;) {
    const token = await takeLease(deps.db, input.installation, `${workflowId}/${runId}`);
    if (token !== null) return token;
    if (deps.clock().getTime() > deadline) {
      throw fatal({
        code: 'window_busy',
        message: `another window of installation ${input.installation} is still under way`,
        todo: 'wait for it to end (see `vetledger windows`); a window killed on the way frees its place by itself',
      });
    }
    heartbeat.beat({ step: 'waiting for another window', done: 0, total: null });
    await heartbeat.pause(leasePollMs);
  }
}

/** Records that windows of the installation which never recorded their own end are over; the caller holds the lease. */
export async function failAbandoned(deps: ActivityDeps, installation: number, runId: string): Promise<void> {
  const error = {
    code: 'window_interrupted',
    message: `the window of installation ${installation} ended without noting how`,
    todo: 'nothing is lost: the window that opened after it covers it',
  };
  await failAbandonedWindows(deps.db, installation, { exceptRun: runId, error });
}

/**
 * Ends the installation's other backfills that are open. One whose process was killed would otherwise be retried beside this
 * one and ask for the same pages. This one resumes their walks.
 */
export async function supersedeBackfills(deps: ActivityDeps, installation: number, runId: string): Promise<void> {
  const error = {
    code: 'backfill_superseded',
    message: `another backfill of installation ${installation} has taken the place of this one`,
    todo: 'nothing is lost: the other one goes on where this one was',
  };
  for (const open of await openBackfills(deps.db, installation, { exceptRun: runId })) {
    try {
      await deps.workflows.getHandle(open.workflowId, open.runId).terminate(error.message);
    } catch (failure) {
      // It has ended meanwhile, or with its Temporal server.
      if (!(failure instanceof WorkflowNotFoundError)) throw failure;
    }
    await closeWindowRow(deps.db, open.id, 'failed', noCounts, error);
  }
}
