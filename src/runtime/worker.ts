import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, type RuntimeOptions, Worker } from '@temporalio/worker';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createActivities } from '../../activities/index.ts';
import type { WindowInput } from '../../workflows/messages.ts';
import { fileRemark, followMappingFiles } from '../bookkeeping/mapping-versions.ts';
import { isDelivered } from '../config/erp.ts';
import type { Config, InstallationConfig } from '../config/load-config.ts';
import { UserError } from '../domain/errors.ts';
import type { App } from './app.ts';
import { ensureBound } from './binding/bind.ts';
import { workflowBundle } from './bundle.ts';
import { enter, type Presence, servedInstallations } from './presence.ts';
import type { PresenceTimes } from './presence-times.ts';
import { deliveryQueueOf, deliveryRequests } from './request-deliveries.ts';
import { ensureSearchAttributes } from './search-attributes.ts';

/** Time between a worker's shutdown and the cancellation of its running activities. */
const shutdownGraceTime = '10 seconds';
/** After that the worker ends without them: a supervisor allows a process 30 s to end. */
const shutdownForceTime = '20 seconds';
/** Activities learn of a cancellation from a heartbeat. The SDK's default delays heartbeats by up to 80 % of their time-out. */
const maxHeartbeatThrottleInterval = '5 seconds';

/**
 * Concurrent activities of a worker. Each list waits for its rate budget in an activity of its own, and a waiting activity
 * costs next to nothing. With fewer slots than lists, a few throttled installations would block all others.
 */
function activitySlots(installations: number): number {
  return 20 + 5 * installations;
}

/**
 * Workflows whose state the worker of backfills and scrubs keeps. Each installation has a scrub, which sleeps nearly all the time and is
 * rebuilt from its short history when it wakes. The other workers keep what the SDK takes for right: their workflows work all the time.
 */
const keptScrubs = 100;

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
  /** The state of each worker of this process. */
  workers(): WorkerState[];
  /** Rejects when a worker fails, and when this process must not go on (src/runtime/presence.ts); never resolves. */
  failed: Promise<never>;
  /** Takes no more work from now on; activities that are under way get some seconds to end, then they are cancelled. */
  drain(): void;
  /** Serves these installations from now on, and follows their mapping files; gives them with the mappings in force. */
  serve(config: Served): Promise<InstallationConfig[]>;
  stop(): Promise<void>;
}

type Served = Pick<Config, 'installations' | 'followMappingFile'>;

export interface WorkerState {
  queue: string;
  /** As the SDK names it: `RUNNING`, `DRAINING`, `FAILED` and so on. */
  runState: string;
  /** Whether it asks for workflow tasks and for activities. */
  isPolling: boolean;
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
  const presence = await enter(app, {
    command,
    taskQueue: app.config.temporal.taskQueue,
    installations: app.config.installations.map(({ id }) => id),
    ...(times ? { times } : {}),
  });
  const installations = new Map<number, InstallationConfig>();
  const serve = async (config: Served) => {
    const served = await startMappings(app, config);
    await presence.serve(served.map(({ id }) => id));
    installations.clear();
    for (const installation of served) installations.set(installation.id, installation);
    return served;
  };
  try {
    app.config.installations.splice(0, Number.POSITIVE_INFINITY, ...(await serve(app.config)));
    const engine = await startWorkers(app, { ...hooks, installations, presence, scrubs }, progress, only, command);
    return { ...engine, serve };
  } catch (error) {
    await presence.end();
    throw error;
  }
}

/** Puts changed mapping files in force, and says where one is not. */
async function startMappings(app: App, { installations, followMappingFile }: Served): Promise<InstallationConfig[]> {
  const started = await followMappingFiles(app.db, installations, { followFile: followMappingFile });
  for (const one of started) {
    const remark = fileRemark(one);
    if (remark !== null) app.log.warn({ installation: one.installation.id, code: 'mapping_not_in_force' }, remark);
  }
  return started.map(({ installation }) => installation);
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
  command: string,
): Promise<Omit<Engine, 'serve'>> {
  if (!app.temporal) throw new Error('the engine needs Temporal');
  installRuntime(app, command === 'run');
  const { address, namespace } = app.temporal;
  const { security } = app.config.temporal;
  const workflowBundlePath = await workflowBundle();
  const connection = await Connection.connect({ ...security, address, connectTimeout: '10 seconds' });
  const client = new Client({ connection, namespace });
  try {
    await ensureBound(app, client, { renews: command === 'run' });
  } catch (error) {
    await connection.close();
    throw error;
  }
  const native = await NativeConnection.connect({ ...security, address });
  const searchAttributes = await ensureSearchAttributes(connection, namespace, progress);
  const taskQueue = `${app.config.temporal.taskQueue}-${app.temporalName}`;
  const backfillQueue = `${taskQueue}-backfill`;
  const deliveryQueue = deliveryQueueOf(app);
  const requestDelivery = deliveryRequests(app, client, { taskQueue: deliveryQueue, searchAttributes });
  const activities = createActivities({
    db: app.db,
    promptDb: app.promptDb,
    installations,
    isServed: async (id) => (await servedInstallations(app.promptDb, app.config.temporal.taskQueue)).has(id),
    practice: (id) => app.practice(id),
    workflows: client.workflow,
    clock: app.clock,
    log: app.log,
    sealKey: app.config.sealKey,
    windows: { timeoutSeconds: app.config.windowTimeoutMinutes * 60, searchAttributes },
    delivery: app.delivery,
    requestDelivery,
    onEvent: (event) => app.events.emit(event),
    ...hooks,
  });
  const workers: Worker[] = [];
  const windowQueues = { window: [taskQueue], backfill: [backfillQueue], replay: [backfillQueue], delivery: [] };
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
        // Otherwise Temporal repeats the task that throws, until the run's time-out.
        workflowFailureErrorTypes: { '*': ['Error'] },
        shutdownGraceTime,
        shutdownForceTime,
        maxHeartbeatThrottleInterval,
        maxConcurrentActivityTaskExecutions: activitySlots(app.config.installations.length),
        ...(queue === backfillQueue ? { maxCachedWorkflows: keptScrubs } : {}),
      }),
    );
  }
  const runs = workers.map((worker) => worker.run());
  const drain = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
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
    workers: () => workers.map(stateOf),
    failed,
    drain,
    async stop() {
      drain();
      await Promise.allSettled(runs);
      await presence.end();
      await native.close();
      await connection.close();
    },
  };
}

function stateOf(worker: Worker): WorkerState {
  const { runState, workflowPollerState, activityPollerState } = worker.getStatus();
  const isPolling = runState === 'RUNNING' && workflowPollerState === 'POLLING' && activityPollerState === 'POLLING';
  return { queue: worker.options.taskQueue, runState, isPolling };
}

let runtimeInstalled = false;

/**
 * Once per process: routes the SDK's log lines to our log and leaves signals to the commands. Only a daemon serves the SDK's metrics:
 * a command that works beside it has the same configuration, and would find the address taken. Throws UserError where it cannot listen.
 */
function installRuntime(app: App, isDaemon: boolean): void {
  if (runtimeInstalled) return;
  const temporalListen = isDaemon ? (app.config.metrics?.temporalListen ?? null) : null;
  try {
    Runtime.install(runtimeOptions(app, temporalListen && addressText(temporalListen)));
  } catch (error) {
    const reason = /metrics exporter: (.*)/.exec(error instanceof Error ? error.message : '')?.[1];
    if (!temporalListen || !reason) throw error;
    throw new UserError(
      {
        code: 'metrics_cannot_listen',
        message: `The metrics of the Temporal SDK cannot be served at ${addressText(temporalListen)}: ${reason}.`,
        todo: 'Name another address in metrics.temporal_listen; another `vetledger run` with this configuration may be there already.',
      },
      /permission denied/i.test(reason) ? 2 : 3,
    );
  }
  runtimeInstalled = true;
}

function runtimeOptions(app: App, metricsAddress: string | null): RuntimeOptions {
  return {
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      // Debug level: the SDK warns about every retried activity, which the window reports anyway.
      app.log.debug({ sdk: meta, level }, message);
    }),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: { core: 'ERROR', other: 'ERROR' } },
      ...(metricsAddress ? { metrics: { prometheus: { bindAddress: metricsAddress } } } : {}),
    },
  };
}

function addressText({ host, port }: { host: string; port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
