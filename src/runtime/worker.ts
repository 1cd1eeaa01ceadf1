import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, type RuntimeOptions, Worker } from '@temporalio/worker';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createActivities } from '../../activities/index.ts';
import type { WindowInput } from '../../workflows/messages.ts';
import { fileRemark, followMappingFiles } from '../bookkeeping/mapping-versions.ts';
import { isDelivered } from '../config/erp.ts';
import type { Config, InstallationConfig } from '../config/load-config.ts';
import { UserError } from '../domain/errors.ts';
import { serviceErrors } from '../texts/errors/services.ts';
import type { App } from './app.ts';
import { ensureBound } from './binding/bind.ts';
import { workflowBundle } from './bundle.ts';
import { enter, type Presence, servedInstallations } from './presence.ts';
import type { PresenceTimes } from './presence-times.ts';
import { deliveryQueueOf, deliveryRequests } from './request-deliveries.ts';
import { ensureSearchAttributes } from './search-attributes.ts';

/** Time between a worker's shutdown and the cancellation of its running activities. */
const shutdownGraceTime = '10 seconds';
/** After this time the worker ends without waiting for activities. A supervisor gives a process 30 s to end. */
const shutdownForceTime = '20 seconds';
/**
 * Activities learn of a cancellation by a heartbeat. By default, the SDK delays heartbeats by up to 80 % of their
 * time-out.
 */
const maxHeartbeatThrottleInterval = '5 seconds';

/**
 * Concurrent activities of a worker. Each list waits for its rate budget in its own activity, and a waiting activity
 * costs little. With fewer slots than lists, a few throttled installations would block all others.
 */
function activitySlots(installations: number): number {
  return 20 + 5 * installations;
}

/**
 * Cached workflows of the worker for backfills and scrubs. Each installation has a scrub, which sleeps most of the time
 * and is rebuilt from its short history when it continues. The other workers use the SDK's default, since their
 * workflows are always active.
 */
const keptScrubs = 100;

export interface Engine {
  client: Client;
  /** Contains the database's id, so that several databases can share a Temporal cluster. */
  taskQueue: string;
  backfillQueue: string;
  deliveryQueue: string;
  /** Starts the delivery of an installation, or signals the running one that units may be due. */
  requestDelivery(installation: number, timeoutMs?: number): Promise<void>;
  /** False if the cluster refused our search attributes; workflows then set none. */
  searchAttributes: boolean;
  workers(): WorkerState[];
  /** Rejects if a worker fails, or if this process must stop (src/runtime/presence.ts); never resolves. */
  failed: Promise<never>;
  /** Accepts no more work. Running activities get some seconds to end, and are then cancelled. */
  drain(): void;
  /**
   * Serves these installations from now on, and follows their mapping files. Returns them with the mappings in force.
   */
  serve(config: Served): Promise<InstallationConfig[]>;
  stop(): Promise<void>;
}

type Served = Pick<Config, 'installations' | 'followMappingFile'>;

export interface WorkerState {
  queue: string;
  /** The state in the SDK's words: `RUNNING`, `DRAINING`, `FAILED` and so on. */
  runState: string;
  /** Whether the worker polls for workflow tasks and for activities. */
  isPolling: boolean;
}

export interface EngineOptions {
  /** The only kind of windows to run, besides deliveries; `delivery` runs none. Default: all. */
  only?: WindowInput['kind'] | 'delivery';
  /** The command that the user started, as the table `daemon` shows it. */
  command?: string;
  /** Whether scrubs run here: in daemons, but not in commands that run a window. */
  scrubs?: boolean;
  times?: Partial<PresenceTimes>;
}

/**
 * Connects a Temporal client and starts this process's workers: one for live windows, one for backfills, and one for
 * deliveries if there are any. A worker takes about 60 MB, so a command that runs one kind of windows starts only that
 * worker (`only`).
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

/** Puts changed mapping files in force, and logs the files that are not in force. */
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
        // Without this, Temporal repeats a task that throws until the time-out of the run.
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
 * Runs once per process: sends the SDK's log lines to our log, and leaves signals to the commands. Only a daemon serves
 * the SDK's metrics: a command beside it has the same configuration, and would find the address in use. Throws
 * UserError if it cannot listen.
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
      serviceErrors.metricsCannotListen({ address: addressText(temporalListen), reason }),
      /permission denied/i.test(reason) ? 2 : 3,
    );
  }
  runtimeInstalled = true;
}

function runtimeOptions(app: App, metricsAddress: string | null): RuntimeOptions {
  return {
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      // These lines have the level debug. The SDK warns about every retried activity, and the window reports the same.
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
