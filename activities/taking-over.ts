import { WorkflowNotFoundError } from '@temporalio/common';
import { type Lease, seizeLease, takeLease } from '../src/db/lease.ts';
import type { Connection } from '../src/db/rows.ts';
import type { PlainError } from '../src/domain/errors.ts';
import { priorities } from '../src/practice/budget.ts';
import { failAbandonedWindows, openBackfills } from '../src/sync/sync-windows.ts';
import type { WindowInput } from '../workflows/messages.ts';
import type { ActivityDeps } from './deps.ts';
import { fatal } from './failures.ts';
import { type Heartbeat, ownHolder, ownWorkflow } from './heartbeat.ts';
import { laneOf } from './lane.ts';

/** How much longer than a window may last another window of the installation is waited for. */
const leaseGraceMs = 120_000;
const leasePollMs = 1_000;

/** Takes the lease of the live lane, for this run; waits for another window until that one must have ended by itself. */
export async function waitForLease(deps: ActivityDeps, input: WindowInput, heartbeat: Heartbeat): Promise<Lease> {
  const scope = { installation: input.installation, lane: laneOf(input.kind) };
  const deadline = deps.clock().getTime() + (input.windowTimeoutSeconds ?? 0) * 1000 + leaseGraceMs;
  for (;;) {
    heartbeat.signal.throwIfAborted();
    const lease = await takeLease(deps.db, scope, ownHolder());
    if (lease !== null) return lease;
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

/** Records that windows of the lane which never recorded their own end are over; the caller holds the lane's lease. */
export async function failAbandoned(
  trx: Connection,
  { installation, kind }: WindowInput,
  runId: string,
): Promise<void> {
  const errors = {
    window: {
      code: 'window_interrupted',
      message: `the window of installation ${installation} ended without noting how`,
      todo: 'nothing is lost: the window that opened after it covers it',
    },
    backfill: superseded(installation),
  };
  await failAbandonedWindows(trx, installation, { kind, exceptRun: runId, error: errors[kind] });
}

/**
 * Takes the lease of the backfill lane, from another backfill where one is open: one whose process was killed would otherwise
 * be retried beside this one and ask for the same pages. This one resumes its walks. The other one goes on where the source
 * lets this one not in.
 */
export async function takeOverBackfill(deps: ActivityDeps, input: WindowInput, heartbeat: Heartbeat): Promise<Lease> {
  const scope = { installation: input.installation, lane: laneOf(input.kind) };
  const lease = await takeLease(deps.db, scope, ownHolder());
  const others = await openBackfills(deps.db, input.installation, { exceptRun: ownWorkflow().runId });
  if (lease === null || others.length > 0) await askOnce(deps, input, heartbeat);
  for (const open of others) {
    try {
      await deps.workflows.getHandle(open.workflowId, open.runId).terminate(superseded(input.installation).message);
    } catch (failure) {
      // It has ended meanwhile, or with its Temporal server.
      if (!(failure instanceof WorkflowNotFoundError)) throw failure;
    }
  }
  return lease ?? seizeLease(deps.db, scope, ownHolder());
}

/** Throws PracticeError where the source is not there or does not let us in. */
async function askOnce(deps: ActivityDeps, { installation }: WindowInput, heartbeat: Heartbeat): Promise<void> {
  const client = deps.practice(installation).forWindow({ signal: heartbeat.signal, onWait: heartbeat.waited });
  await client.list('invoice', {}, null, { priority: priorities.backfill });
}

function superseded(installation: number): PlainError {
  return {
    code: 'backfill_superseded',
    message: `another backfill of installation ${installation} has taken the place of this one`,
    todo: 'nothing is lost: the other one goes on where this one was',
  };
}
