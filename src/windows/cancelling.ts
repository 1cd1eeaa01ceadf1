import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { leaseHolders } from '../db/lanes-at-work.ts';
import { sleep } from '../domain/concurrency.ts';
import type { App } from '../runtime/app.ts';
import { deliveryId } from '../runtime/request-deliveries.ts';
import { openWorkflows } from '../sync/sync-windows.ts';

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

interface Running {
  kind: string;
  workflowId: string;
  runId?: string;
}

/**
 * Lanes whose work `cancel` ends, with the kind of work. The scrub is left out: it yields automatically, and continues
 * later.
 */
const kindOfLane: Partial<Record<string, string>> = { live: 'window', backfill: 'backfill', replay: 'replay' };

/**
 * The running work of an installation. Work that is still opening has no row, only a lease. A window whose lease has
 * expired has only a row.
 */
async function runningWindows(app: App, installation: number): Promise<Running[]> {
  const running = new Map<string, Running>();
  for (const open of await openWorkflows(app.db, installation)) running.set(`${open.workflowId}/${open.runId}`, open);
  for (const { lane, holder } of await leaseHolders(app.db, installation)) {
    const kind = kindOfLane[lane];
    // A holder is `<workflow id>/<run id>`. Commands that hold a lease without a workflow have names of another form.
    const parts = /^((?:sync-window|backfill|replay)\/.+)\/([0-9a-f-]{36})$/.exec(holder);
    if (!kind || !parts?.[1] || !parts[2] || running.has(holder)) continue;
    running.set(holder, { kind, workflowId: parts[1], runId: parts[2] });
  }
  return [...running.values()];
}

/** Asks the running windows of an installation, or its delivery, to end, and waits up to `waitMs`. */
export async function cancelRunning(
  app: App,
  client: Client,
  installation: number,
  { delivery, waitMs }: { delivery: boolean; waitMs: number },
): Promise<Cancelled[]> {
  const running = delivery
    ? [{ kind: 'delivery', workflowId: deliveryId(app, installation) }]
    : await runningWindows(app, installation);
  const found = await Promise.all(
    running.map(async ({ kind, workflowId, runId }: Running) => {
      const state = await cancelOne(client, workflowId, runId, waitMs);
      return { installation, kind, workflow_id: workflowId, state };
    }),
  );
  // A delivery that is not running needs no cancellation.
  return delivery ? found.filter(({ state }) => state !== 'gone') : found;
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
