import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { ReplayRequest } from '../../workflows/messages.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { withLease } from '../db/with-lease.ts';
import type { ReadingCost, ReadingRequest, StartedRun } from '../queries/asked-windows.ts';
import { planLoad } from '../queries/plan-load.ts';
import { replayCost } from '../queries/replay-cost.ts';
import type { RunningWork } from '../queries/running-work.ts';
import type { App } from '../runtime/app.ts';
import { systemClock } from '../runtime/system-clock.ts';
import type { Engine } from '../runtime/worker.ts';
import type { Span } from '../sync/replay/spans.ts';
import type { InstallationId } from '../terms.ts';
import { type Cancelled, cancelRunning, cancelRuns } from './cancelling.ts';
import { answered } from './each-installation.ts';
import { type Nudged, nudgeNow } from './nudge-now.ts';
import { reconcileOne } from './reconciling.ts';
import { replayId, startReplay } from './replay.ts';
import { backfillId, startBackfill } from './run-window.ts';

/** The effects of actions outside PostgreSQL. */
export interface AskedWindows {
  /** The run that an action has started, also if the daemon ended before it recorded that. Null if there is none. */
  startedBy(installation: InstallationId, action: number, request: ReadingRequest): Promise<StartedRun | null>;
  /** Starts the workflow of an action. A second call for the action starts nothing, and returns the first run. */
  start(installation: InstallationId, action: number, request: ReadingRequest): Promise<StartedRun>;
  cancel(installation: InstallationId, runs: readonly RunningWork[]): Promise<Cancelled[]>;
  /** Asks the running delivery to end. Returns its workflow; empty if none runs. */
  cancelDelivery(installation: InstallationId): Promise<Cancelled[]>;
  nudge(installation: InstallationId): Promise<Nudged['state']>;
  /** Null if the source does not answer. */
  price(installation: InstallationConfig, request: ReadingRequest, spans: readonly Span[]): Promise<ReadingCost | null>;
  /** Reconciles now. Throws LeaseBusy if a reconciliation of the installation runs. */
  reconcile(installation: InstallationConfig, signal: AbortSignal): Promise<{ failing: string[]; complete: boolean }>;
  requestDelivery(installation: InstallationId): Promise<void>;
}

export function askedWindows(app: App, engine: Engine, signal: AbortSignal): AskedWindows {
  const { client } = engine;
  const startedBy: AskedWindows['startedBy'] = async (installation, action, request) => {
    const workflow =
      request.read === 'backfill'
        ? backfillId(app, installation, nameOf(action))
        : replayId(app, installation, nameOf(action));
    try {
      const { runId } = await answered(client, () => client.workflow.getHandle(workflow).describe());
      return { workflow, run: runId };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    }
  };
  return {
    startedBy,
    async start(installation, action, request) {
      try {
        const name = nameOf(action);
        const started = answered<{ workflowId: string; firstExecutionRunId: string }>(client, () =>
          request.read === 'backfill'
            ? startBackfill(app, engine, { installation, fromDate: request.from }, name)
            : startReplay(app, engine, replayRequest(installation, request), name),
        );
        const { workflowId, firstExecutionRunId } = await started;
        return { workflow: workflowId, run: firstExecutionRunId };
      } catch (error) {
        const found =
          error instanceof WorkflowExecutionAlreadyStartedError ? await startedBy(installation, action, request) : null;
        if (found === null) throw error;
        return found;
      }
    },
    cancelDelivery: (installation) => cancelRunning(app, client, installation, { delivery: true, waitMs: 0 }),
    cancel: (installation, runs) => cancelRuns(client, installation, runs, 0),
    nudge: async (installation) => (await nudgeNow(app, client, installation)).state,
    async price(installation, request, spans) {
      if (request.read !== 'backfill') return spans.length === 0 ? null : replayCost(app, installation, spans, signal);
      const plan = await planLoad(app, installation, { owner: 'backfill', from: request.from }, signal);
      if (plan === null) return null;
      const { lists, seconds } = plan.estimate;
      const sumOf = (key: 'requests' | 'weight') => lists.reduce((n, list) => n + list[key], 0);
      const sums = { requests: sumOf('requests'), weight: sumOf('weight') };
      return { records: plan.records, lists, seconds, remarks: [], ...sums };
    },
    reconcile: (installation, stop) =>
      withLease(
        { db: app.promptDb, clock: systemClock, signal: stop, holder: `reconcile/${randomUUID()}` },
        { installation: installation.id, lane: 'reconcile' },
        async (held) => {
          const { failing, report } = await reconcileOne(app, installation, held.signal);
          return { failing, complete: report.complete };
        },
      ),
    requestDelivery: (installation) => engine.requestDelivery(installation),
  };
}

/** The part of a workflow's id that names its action. */
function nameOf(action: number): string {
  return `action-${action}`;
}

function replayRequest(
  installation: InstallationId,
  request: Exclude<ReadingRequest, { read: 'backfill' }>,
): ReplayRequest {
  switch (request.read) {
    case 'failed':
      return { installation, failed: true };
    case 'windows':
      return { installation, windows: request.windows };
    case 'times':
      return { installation, from: request.from, to: request.to };
  }
}
