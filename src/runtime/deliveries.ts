import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import type { deliver } from '../../workflows/index.ts';
import { type DeliveryInput, dueSignalName } from '../../workflows/messages.ts';
import type { App } from './app.ts';
import { ensureSearchAttributes } from './search-attributes.ts';

/** Longest time for asking Temporal. */
const callTimeoutMs = 10_000;

/** The task queue whose workflows have no further name: the default one (src/config/schema.ts). */
const unnamedQueue = 'vetledger';

/** An installation's part of names in Temporal. Another task queue has names of its own, so that daemons leave each other's alone. */
export function nameOnQueue({ databaseId, config }: Pick<App, 'databaseId' | 'config'>, installation: number): string {
  const { taskQueue } = config.temporal;
  return `${installation}-${databaseId}${taskQueue === unnamedQueue ? '' : `-${taskQueue}`}`;
}

/** The one workflow that delivers an installation's general ledger. */
export function deliveryId(app: Pick<App, 'databaseId' | 'config'>, installation: number): string {
  return `deliver/${nameOnQueue(app, installation)}`;
}

/** The function that begins a delivery, or signals the one under way. It may be called at any time, by any process, any number of times. */
export function deliveryRequests(
  app: Pick<App, 'databaseId' | 'config'>,
  client: Client,
  { taskQueue, searchAttributes }: { taskQueue: string; searchAttributes: boolean },
): (installation: number, timeoutMs?: number) => Promise<void> {
  return async (installation, timeoutMs = callTimeoutMs) => {
    const input: DeliveryInput = { installation, searchAttributes };
    await client.withDeadline(Date.now() + timeoutMs, () =>
      client.workflow.signalWithStart<typeof deliver>('deliver', {
        workflowId: deliveryId(app, installation),
        workflowIdConflictPolicy: 'USE_EXISTING',
        taskQueue,
        args: [input],
        signal: dueSignalName,
        staticSummary: `delivery of installation ${installation}`,
        staticDetails: `Sends the entries and daily summaries of installation **${installation}** that wait in the outbox to its ERP, looks up what is in doubt, and ends when nothing is due. \`vetledger status\` shows how far it is; \`vetledger deliver pause\` holds it.`,
      }),
    );
  };
}

/** Whether the delivery of an installation is under way, waiting for its ERP included. */
export async function isDelivering(
  app: Pick<App, 'databaseId' | 'config'>,
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

/** As the requests of an engine, without workers: what is begun goes on where a process delivers. */
export async function requestDeliveriesOnce(app: App, installations: readonly number[]): Promise<void> {
  if (!app.temporal || installations.length === 0) return;
  const { address, namespace } = app.temporal;
  const connection = await Connection.connect({
    ...app.config.temporal.security,
    address,
    connectTimeout: '10 seconds',
  });
  try {
    const client = new Client({ connection, namespace });
    const searchAttributes = await ensureSearchAttributes(connection, namespace, (line) => app.log.info(line));
    const request = deliveryRequests(app, client, { taskQueue: deliveryQueueOf(app), searchAttributes });
    for (const installation of installations) await request(installation);
  } finally {
    await connection.close();
  }
}

/** Deliveries have a queue of their own: an ERP that is slow must not take the places of windows. */
export function deliveryQueueOf({ databaseId, config }: Pick<App, 'databaseId' | 'config'>): string {
  return `${config.temporal.taskQueue}-${databaseId}-delivery`;
}
