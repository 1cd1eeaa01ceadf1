import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { ActivityDeps } from '../../activities/context.ts';
import { createActivities } from '../../activities/index.ts';
import type { WindowInput } from '../../workflows/messages.ts';
import { ensureSearchAttributes } from '../embedded/index.ts';
import type { App } from './app.ts';
import { workflowBundle } from './bundle.ts';

/** A worker that has been told to stop gives its activities this long to notice. */
const shutdownGraceTime = '10 seconds';
/** An activity learns of its cancellation by a heartbeat; the SDK would hold these back for most of their time-out. */
const maxHeartbeatThrottleInterval = '5 seconds';

/**
 * Activities that a worker runs at a time. Each list that is pulled or backfilled waits for its rate budget in an activity of
 * its own, which costs next to nothing: there must be room for every installation's at once, or a few that are throttled
 * would keep the others from their turn.
 */
function activitySlots(installations: number): number {
  return 20 + 5 * installations;
}

export interface Engine {
  client: Client;
  /** Task queues carry the database's own id, so that a cluster can be shared. */
  taskQueue: string;
  backfillQueue: string;
  /** False where the cluster refused our search attributes: the program runs without them. */
  searchAttributes: boolean;
  /** Settles when a worker stopped by itself, with why. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

/**
 * Starts this process's workers, one for live windows and one for backfills, and the client that starts workflows. A command
 * that runs windows of one kind names it: each worker holds some 60 MB.
 */
export async function startEngine(
  app: App,
  hooks: Pick<ActivityDeps, 'onProgress' | 'onWindow'>,
  progress: (line: string) => void,
  only?: WindowInput['kind'],
): Promise<Engine> {
  if (!app.temporal) throw new Error('the engine needs Temporal');
  installRuntime(app);
  const { address, namespace } = app.temporal;
  const workflowBundlePath = await workflowBundle();
  const connection = await Connection.connect({ address, connectTimeout: '10 seconds' });
  const native = await NativeConnection.connect({ address });
  const client = new Client({ connection, namespace });
  const searchAttributes = await ensureSearchAttributes(connection, namespace, progress);
  const activities = createActivities({
    db: app.db,
    installations: new Map(app.config.installations.map((installation) => [installation.id, installation])),
    practice: (id) => app.practice(id),
    workflows: client.workflow,
    clock: app.clock,
    log: app.log,
    ...hooks,
  });
  const taskQueue = `${app.config.temporal.taskQueue}-${app.databaseId}`;
  const backfillQueue = `${taskQueue}-backfill`;
  const workers: Worker[] = [];
  const queues = { window: [taskQueue], backfill: [backfillQueue] };
  for (const queue of only ? queues[only] : [taskQueue, backfillQueue]) {
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
  const failed = Promise.race(
    runs.map((run) =>
      run.then(
        () => new Promise<never>(() => undefined),
        (error: unknown) => Promise.reject(error),
      ),
    ),
  );
  failed.catch((error: unknown) => app.log.error({ err: error }, 'a worker stopped'));
  return {
    client,
    taskQueue,
    backfillQueue,
    searchAttributes,
    failed,
    async stop() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.allSettled(runs);
      await native.close();
      await connection.close();
    },
  };
}

let runtimeInstalled = false;

/** Once per process: the SDK's own log lines go to ours, and signals are left to the commands. */
function installRuntime(app: App): void {
  if (runtimeInstalled) return;
  runtimeInstalled = true;
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      // A retried activity is shown by its window; the SDK's warning about it is detail.
      app.log.debug({ sdk: meta, level }, message);
    }),
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: { core: 'ERROR', other: 'ERROR' } } },
  });
}
