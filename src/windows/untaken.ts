import { Client, Connection } from '@temporalio/client';
import type { Config } from '../config/load-config.ts';
import type { UntakenTick } from '../queries/lanes.ts';
import type { App } from '../runtime/app.ts';

/** A running daemon takes a window within a second. */
const takenWithinMs = 20_000;
const answerWithinMs = 3_000;
/** Limit of the waiting windows that are checked one by one. Without a daemon there is one per installation. */
const askedAtMost = 50;
/** Value of Temporal's PendingWorkflowTaskState and PendingActivityState: no worker has taken the task. */
const scheduled = 1;

/**
 * Windows that Temporal has started, for the Schedule or for a command, and whose first task or activity no worker has
 * taken. Empty if Temporal does not answer; `status` reports that separately.
 */
export async function untakenTicks(
  { config, temporalName }: Pick<App, 'temporalName'> & { config: Pick<Config, 'temporal'> },
  address: string,
): Promise<UntakenTick[]> {
  const { namespace, security, taskQueue } = config.temporal;
  const connection = Connection.lazy({ ...security, address });
  const client = new Client({ connection, namespace });
  // Temporal compares this time with start times by its machine's clock, so the time must not come from an adjusted
  // `Date`.
  const machineMs = performance.timeOrigin + performance.now();
  const before = new Date(machineMs - takenWithinMs).toISOString();
  const query =
    `ExecutionStatus = 'Running' and TaskQueue = '${taskQueue}-${temporalName}' ` +
    `and WorkflowType in ('syncWindow', 'firstLoad') and StartTime < '${before}'`;
  try {
    return await client.withDeadline(Date.now() + answerWithinMs, async () => {
      const ticks: UntakenTick[] = [];
      let asked = 0;
      for await (const { workflowId, runId, startTime } of client.workflow.list({ query })) {
        const installation = Number(/^sync-window\/(\d+)-/.exec(workflowId)?.[1]);
        if (!Number.isInteger(installation) || ++asked > askedAtMost) continue;
        const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
        const tasks = [
          raw.pendingWorkflowTask,
          ...(raw.pendingActivities ?? []).filter(({ attempt }) => (attempt ?? 0) <= 1),
        ];
        if (tasks.some((task) => task?.state === scheduled)) {
          ticks.push({ installation, workflow_id: workflowId, since: startTime });
        }
      }
      return ticks;
    });
  } catch {
    return [];
  } finally {
    await connection.close();
  }
}
