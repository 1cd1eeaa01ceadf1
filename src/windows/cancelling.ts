import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { sleep } from '../domain/concurrency.ts';
import { type RunningWork, runningWork } from '../queries/running-work.ts';
import type { App } from '../runtime/app.ts';
import { deliveryId } from '../runtime/request-deliveries.ts';

/** Limit of a request to Temporal. */
const callTimeoutMs = 10_000;
const pollMs = 250;

/** A workflow that was asked to end. */
export interface Cancelled {
  installation: number;
  /** `window`, `backfill`, `replay` or `delivery`. */
  kind: string;
  workflow_id: string;
  /**
   * `ended`: the workflow has ended. `ending`: it was asked to end, and ends as soon as a worker runs. `gone`: Temporal
   * does not know it.
   */
  state: 'ended' | 'ending' | 'gone';
}

/** Asks the running windows of an installation, or its delivery, to end, and waits up to `waitMs`. */
export async function cancelRunning(
  app: App,
  client: Client,
  installation: number,
  { delivery, waitMs }: { delivery: boolean; waitMs: number },
): Promise<Cancelled[]> {
  if (!delivery) return cancelRuns(client, installation, await runningWork(app.db, installation), waitMs);
  const run = { kind: 'delivery', workflowId: deliveryId(app, installation) };
  // A delivery that is not running needs no cancellation.
  return (await cancelRuns(client, installation, [run], waitMs)).filter(({ state }) => state !== 'gone');
}

/** Asks these runs to end, and waits up to `waitMs`. */
export function cancelRuns(
  client: Client,
  installation: number,
  running: readonly (Omit<RunningWork, 'runId'> & { runId?: string })[],
  waitMs: number,
): Promise<Cancelled[]> {
  return Promise.all(
    running.map(async ({ kind, workflowId, runId }) => {
      const state = await cancelOne(client, workflowId, runId, waitMs);
      return { installation, kind, workflow_id: workflowId, state };
    }),
  );
}

async function cancelOne(
  client: Client,
  workflowId: string,
  runId: string | undefined,
  waitMs: number,
): Promise<Cancelled['state']> {
  const handle = client.workflow.getHandle(workflowId, runId);
  const isRunning = async () => {
    const { status } = await client.withDeadline(Date.now() + callTimeoutMs, () => handle.describe());
    return status.name === 'RUNNING';
  };
  try {
    if (!(await isRunning())) return 'gone';
    await client.withDeadline(Date.now() + callTimeoutMs, () => handle.cancel());
    for (let waited = 0; waited < waitMs; waited += pollMs) {
      if (!(await isRunning())) return 'ended';
      await sleep(pollMs);
    }
    return 'ending';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'gone';
    throw error;
  }
}
