import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createActivities } from '../../activities/index.ts';
import type { WindowInput } from '../../workflows/messages.ts';
import { isDelivered } from '../config/erp.ts';
import type { App } from './app.ts';
import { workflowBundle } from './bundle.ts';
import { deliveryQueueOf, deliveryRequests } from './deliveries.ts';
import { enter, type Presence, type PresenceTimes } from './presence.ts';
import { ensureSearchAttributes } from './search-attributes.ts';

/** Time between a worker's shutdown and the cancellation of its running activities. */
const shutdownGraceTime = '10 seconds';
/** Activities learn of a cancellation from a heartbeat. The SDK's default delays heartbeats by up to 80 % of their time-out. */
const maxHeartbeatThrottleInterval = '5 seconds';

/**
 * Concurrent activities of a worker. Each list waits for its rate budget in an activity of its own, and a waiting activity
 * costs next to nothing. With fewer slots than lists, a few throttled installations would block all others.
 */
function activitySlots(installations: number): number {
  return 20 + 5 * installations;
}

export interface Engine {
  client: Client;
  /** Contains the database's id, so that several databases can share a Temporal cluster. */
  taskQueue: string;
  backfillQueue: string;
  deliveryQueue: string;
  /** Begins the delivery of an installation, or tells the one under way that there may be due work. */
  requestDelivery(installation: number, timeoutMs?: number): Promise<void>;
  /** False when the cluster refused our search attributes; workflows then set none. */
  searchAttributes: boolean;
  /** Rejects when a worker fails, and when this process must not go on (src/runtime/presence.ts); never resolves. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

export interface EngineOptions {
  /** The only kind of windows that are run, beside deliveries; `delivery`: none. Default: all. */
  only?: WindowInput['kind'] | 'delivery';
  /** What the user started, as other processes are told. */
  command?: string;
  /** Whether scrubs run here: in daemons, not in commands that run a window. */
  scrubs?: boolean;
  times?: Partial<PresenceTimes>;
}

/**
 * Connects a Temporal client and starts this process's workers: one for live windows, one for backfills, and one for deliveries
 * where there are any. A worker takes about 60 MB, so a command that runs windows of one kind starts only that one (`only`).
 */
export async function startEngine(
  app: App,
  hooks: Pick<ActivityDeps, 'onProgress' | 'onWindow'>,
  progress: (line: string) => void,
  { only, command = 'worker', scrubs = false, times }: EngineOptions = {},
): Promise<Engine> {
  if (!app.temporal) throw new Error('the engine needs Temporal');
  const installations = new Map(app.config.installations.map((installation) => [installation.id, installation]));
  const presence = await enter(app, {
    command,
    taskQueue: app.config.temporal.taskQueue,
    onMapping: (installation) => installations.set(installation.id, installation),
    ...(times ? { times } : {}),
  });
  try {
    return await startWorkers(app, { ...hooks, installations, presence, scrubs }, progress, only);
  } catch (error) {
    await presence.end();
    throw error;
  }
}

async function startWorkers(
  app: App,
  {
    installations,
    presence,
    ...hooks
  }: Pick<ActivityDeps, 'onProgress' | 'onWindow' | 'installations' | 'scrubs'> & { presence: Presence },
  progress: (line: string) => void,
  only: EngineOptions['only'],
): Promise<Engine> {
  if (!app.temporal) throw new Error('the engine needs Temporal');
  installRuntime(app);
  const { address, namespace } = app.temporal;
  const { security } = app.config.temporal;
  const workflowBundlePath = await workflowBundle();
  const connection = await Connection.connect({ ...security, address, connectTimeout: '10 seconds' });
  const native = await NativeConnection.connect({ ...security, address });
  const client = new Client({ connection, namespace });
  const searchAttributes = await ensureSearchAttributes(connection, namespace, progress);
  const taskQueue = `${app.config.temporal.taskQueue}-${app.databaseId}`;
  const backfillQueue = `${taskQueue}-backfill`;
  const deliveryQueue = deliveryQueueOf(app);
  const requestDelivery = deliveryRequests(app, client, { taskQueue: deliveryQueue, searchAttributes });
  const activities = createActivities({
    db: app.db,
    installations,
    practice: (id) => app.practice(id),
    workflows: client.workflow,
    clock: app.clock,
    log: app.log,
    onMappingSuperseded: () => presence.check(),
    sealKey: app.config.sealKey,
    delivery: app.delivery,
    requestDelivery,
    ...hooks,
  });
  const workers: Worker[] = [];
  const windowQueues = { window: [taskQueue], backfill: [backfillQueue], delivery: [] };
  const queues = [
    ...(only ? windowQueues[only] : [taskQueue, backfillQueue]),
    ...(app.config.installations.some(({ erp }) => isDelivered(erp)) ? [deliveryQueue] : []),
  ];
  for (const queue of queues) {
    workers.push(
      await Worker.create({
        connection: native,
        namespace,
        taskQueue: queue,
        workflowBundle: { codePath: workflowBundlePath },
        activities,
        shutdownGraceTime,
        shutdownForceTime: '30 seconds',
        maxHeartbeatThrottleInterval,
        maxConcurrentActivityTaskExecutions: activitySlots(app.config.installations.length),
      }),
    );
  }
  const runs = workers.map((worker) => worker.run());
  const failed = Promise.race([
    presence.failed,
    ...runs.map((run) =>
      run.then(
        () => new Promise<never>(() => undefined),
        (error: unknown) => Promise.reject(error),
      ),
    ),
  ]);
  failed.catch((error: unknown) => app.log.error({ err: error }, 'the workers stop'));
  return {
    client,
    taskQueue,
    backfillQueue,
    deliveryQueue,
    requestDelivery,
    searchAttributes,
    failed,
    async stop() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.allSettled(runs);
      await presence.end();
      await native.close();
      await connection.close();
    },
  };
}

let runtimeInstalled = false;

/** Once per process: routes the SDK's log lines to our log and leaves signals to the commands. */
function installRuntime(app: App): void {
  if (runtimeInstalled) return;
  runtimeInstalled = true;
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      // Debug level: the SDK warns about every retried activity, which the window reports anyway.
      app.log.debug({ sdk: meta, level }, message);
    }),
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: { core: 'ERROR', other: 'ERROR' } } },
  });
}
