import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { deliver } from '../../workflows/index.ts';
import { type DeliveryInput, dueSignalName, longRuns } from '../../workflows/messages.ts';
import { labelOf } from '../domain/installation-name.ts';
import { startedTexts } from '../texts/temporal.ts';
import { type App, installationOf } from './app.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { withTemporalClient } from './temporal-client.ts';

/** Limit of a request to Temporal. */
const callTimeoutMs = 10_000;

/** The default task queue (src/config/schema.ts). Its name is left out of workflow ids. */
const unnamedQueue = 'vetledger';

/**
 * An installation's part of names in Temporal. It includes the task queue, so that daemons on different queues do not
 * interfere.
 */
export function nameOnQueue(
  { temporalName, config }: Pick<App, 'temporalName' | 'config'>,
  installation: number,
): string {
  const { taskQueue } = config.temporal;
  return `${installation}-${temporalName}${taskQueue === unnamedQueue ? '' : `-${taskQueue}`}`;
}

/** The id of the one workflow that delivers an installation's general ledger. */
export function deliveryId(app: Pick<App, 'temporalName' | 'config'>, installation: number): string {
  return `deliver/${nameOnQueue(app, installation)}`;
}

/** Returns a function that starts a delivery, or signals the running one. Any process may call it at any time. */
export function deliveryRequests(
  app: Pick<App, 'temporalName' | 'config'>,
  client: Client,
  { taskQueue, searchAttributes }: { taskQueue: string; searchAttributes: boolean },
): (installation: number, timeoutMs?: number) => Promise<void> {
  return async (installation, timeoutMs = callTimeoutMs) => {
    const label = labelOf(installationOf(app.config, installation));
    const input: DeliveryInput = { installation, searchAttributes };
    await client.withDeadline(Date.now() + timeoutMs, () =>
      client.workflow.signalWithStart<typeof deliver>('deliver', {
        workflowId: deliveryId(app, installation),
        workflowIdConflictPolicy: 'USE_EXISTING',
        taskQueue,
        workflowRunTimeout: longRuns.deliver.runTimeout,
        args: [input],
        signal: dueSignalName,
        staticSummary: startedTexts.delivery({ label }),
        staticDetails: startedTexts.deliveryDetails({ label }),
      }),
    );
  };
}

/** Whether the delivery of an installation is running; waiting for its ERP counts as running. */
export async function isDelivering(
  app: Pick<App, 'temporalName' | 'config'>,
  client: Client,
  installation: number,
): Promise<boolean> {
  try {
    const { status } = await client.withDeadline(Date.now() + callTimeoutMs, () =>
      client.workflow.getHandle(deliveryId(app, installation)).describe(),
    );
    return status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Requests deliveries from a command without workers. The deliveries run in a process that has workers. */
export async function requestDeliveriesOnce(app: App, installations: readonly number[]): Promise<void> {
  if (!app.temporal || installations.length === 0) return;
  await withTemporalClient(app, async (client, connection) => {
    const { namespace } = client.options;
    const searchAttributes = await ensureSearchAttributes(connection, namespace, (line) => app.log.info(line));
    const request = deliveryRequests(app, client, { taskQueue: deliveryQueueOf(app), searchAttributes });
    for (const installation of installations) await request(installation);
  });
}

/** Deliveries have a separate queue, so that a slow ERP does not block windows. */
export function deliveryQueueOf({ temporalName, config }: Pick<App, 'temporalName' | 'config'>): string {
  return `${config.temporal.taskQueue}-${temporalName}-delivery`;
}
