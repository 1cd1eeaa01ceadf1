import type { StepProgress } from '../../activities/deps.ts';
import { type Receiver, startReceiver } from '../http/webhooks.ts';
import type { App } from '../runtime/app.ts';
import { startRenewing } from '../runtime/binding/renew.ts';
import { claimPruning, noteSize, prune } from '../runtime/retention.ts';
import { systemClock } from '../runtime/system-clock.ts';
import { type Engine, type EngineOptions, startEngine } from '../runtime/worker.ts';
import { startActing } from './acting.ts';
import { askedWindows } from './asked-windows.ts';
import { startMailing } from './mailing.ts';
import { createNudger, type Nudger } from './nudges.ts';
import { startObserving } from './observation.ts';
import { startReconciling } from './reconciling.ts';
import { startReloads } from './reload.ts';
import type { WindowReport } from './run-window.ts';
import { triggerSchedule } from './schedules.ts';
import { startScrubs } from './scrubs.ts';
import { openDue, startSchedules } from './start.ts';
import { useLogins } from './use-logins.ts';
import { startDeliveries } from './wait-for-deliveries.ts';
import { startWatch, type Watch } from './watch.ts';
import { type OutageWatchTimes, startOutageWatch } from './watch-outages.ts';

export interface DaemonOptions {
  signal: AbortSignal;
  onWindow?: (report: WindowReport) => void;
  onProgress?: (progress: StepProgress) => void;
  progress?: (line: string) => void;
  /** The daemon calls this with the address of metrics and health, if they are configured. */
  onObserving?: (url: string) => void;
  /** The daemon calls this with the URL of the webhook receiver, if one is configured. */
  onListening?: (url: string) => void;
  times?: EngineOptions['times'];
  /** Interval of requests for the deliveries. Default: five minutes. */
  deliveriesEveryMs?: number;
  /**
   * Calls `reload` when the configuration must be read again, with the environment of the start. Without it, the daemon
   * never reloads.
   */
  reloads?: { env: NodeJS.ProcessEnv; subscribe(reload: () => void): () => void };
  outageTimes?: OutageWatchTimes;
  /** Interval of the watch. Default: 15 seconds. */
  watchEveryMs?: number;
  /** Interval of checks for an installation to reconcile. Default: a minute. */
  reconcileEveryMs?: number;
  /** Interval of checks for mails. Default: a minute. */
  mailEveryMs?: number;
  /** Interval of checks for actions of the console. Default: a second. */
  actEveryMs?: number;
  /** The daemon calls this once the watch over the windows has started. */
  onWatch?: (watch: Watch) => void;
}

/**
 * Runs the workers and one schedule per installation until the signal. The schedules stay in Temporal afterwards, since
 * another daemon may use them.
 */
export async function runDaemon(app: App, options: DaemonOptions): Promise<void> {
  const { progress = (line) => app.log.info(line), times } = options;
  const observation = await startObserving(app);
  try {
    if (observation) options.onObserving?.(observation.url);
    const engine = await startEngine(app, hooksOf(options), progress, {
      command: 'run',
      scrubs: true,
      ...(times ? { times } : {}),
    });
    observation?.started(engine);
    try {
      await runSchedules(app, engine, {
        ...options,
        onWatch: (watch) => observation?.watching(watch),
      });
    } finally {
      observation?.ending();
      await engine.stop();
    }
  } finally {
    await observation?.close();
  }
}

function hooksOf(options: DaemonOptions) {
  return {
    ...(options.onWindow ? { onWindow: options.onWindow } : {}),
    ...(options.onProgress ? { onProgress: options.onProgress } : {}),
  };
}

/**
 * Starts the schedules, receives webhooks if configured, and waits for the signal or for a worker to fail. Throws
 * ConfigError before it changes a schedule, if the webhook receiver cannot listen.
 */
export async function runSchedules(
  app: App,
  engine: Engine,
  {
    signal,
    onListening,
    onWatch,
    deliveriesEveryMs = 300_000,
    reloads,
    outageTimes,
    watchEveryMs,
    reconcileEveryMs,
    mailEveryMs,
    actEveryMs,
  }: Pick<
    DaemonOptions,
    | 'signal'
    | 'onListening'
    | 'onWatch'
    | 'deliveriesEveryMs'
    | 'reloads'
    | 'outageTimes'
    | 'watchEveryMs'
    | 'reconcileEveryMs'
    | 'mailEveryMs'
    | 'actEveryMs'
  >,
): Promise<void> {
  const nudger = nudgerOf(app, engine);
  const served = new Set(app.config.installations.map(({ id }) => id));
  const receiver = await receiverOf(app, nudger, served);
  const pruning = startPruning(app);
  const reconciling = startReconciling(app, reconcileEveryMs);
  const mailing = startMailing(app, mailEveryMs);
  const acting = startActing(app, askedWindows(app, engine, signal), actEveryMs);
  const deliveries = startDeliveries(app, engine, deliveriesEveryMs);
  const ending = new AbortController();
  let opening = Promise.resolve();
  let watch: Watch | null = null;
  let reloading: { stop(): Promise<void> } | null = null;
  const renewing = startRenewing(app, engine.client);
  const outages = startOutageWatch(app, engine, outageTimes);
  try {
    if (receiver) onListening?.(receiver.url);
    const { intervals, due } = await startSchedules(app, engine);
    opening = openDue(app, engine, due, ending.signal);
    watch = startWatch(app, engine, intervals, watchEveryMs);
    onWatch?.(watch);
    await startScrubs(app, engine);
    if (reloads) {
      reloading = startReloads(app, engine, {
        ...reloads,
        intervals,
        onInstallations: (installations) => {
          served.clear();
          for (const { id } of installations) served.add(id);
          nudger.serve(installations);
        },
        open: (added) => {
          opening = opening.then(() => openDue(app, engine, added, ending.signal));
        },
      });
    }
    if (signal.aborted) return;
    await Promise.race([
      renewing.failed,
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
      engine.failed,
      outages.failed,
    ]);
  } finally {
    ending.abort();
    engine.drain();
    // All stop in parallel, since each may wait some seconds for a service that does not answer.
    await Promise.all([
      reloading?.stop(),
      outages.stop(),
      opening,
      watch?.stop(),
      renewing.stop(),
      deliveries.stop(),
      pruning.stop(),
      reconciling.stop(),
      mailing.stop(),
      acting.stop(),
      receiver?.close(),
      nudger.stop(),
    ]);
  }
}

/** Interval of checks whether the daily pruning is due. */
const pruningAskedEveryMs = 3_600_000;

/** Removes rows older than the retention, and uses logins, once a day; one daemon per day does it. */
function startPruning(app: App): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let running = Promise.resolve();
  const ask = async () => {
    try {
      if (!(await claimPruning(app.db))) return;
      await noteSize(app.db);
      await useLogins(app, stopping.signal);
      app.log.info(
        await prune(app.db, app.config.retention, stopping.signal),
        'rows older than the retention were removed',
      );
    } catch (err) {
      app.log.warn({ err }, 'removing old rows failed; it is retried tomorrow');
    }
  };
  const next = () => {
    running = running.then(ask);
  };
  next();
  const timer = setInterval(next, pruningAskedEveryMs);
  return {
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}

async function receiverOf(app: App, nudger: Nudger, served: ReadonlySet<number>): Promise<Receiver | null> {
  const { webhooks } = app.config;
  if (!webhooks) return null;
  return startReceiver({
    ...webhooks,
    installations: served,
    nudge: (installation) => nudger.nudge(installation),
    clock: systemClock,
    refused: (requests) =>
      app.log.warn(
        { requests },
        'webhooks with a wrong address or secret were refused, or connections that blocked others were closed',
      ),
  });
}

function nudgerOf(app: App, engine: Engine): Nudger {
  return createNudger({
    installations: app.config.installations,
    trigger: (installation, webhooks) => triggerSchedule(app, engine, installation, webhooks),
    failed: (installation, err) =>
      app.log.warn({ err, installation }, 'webhooks could not open a window; the next scheduled one covers them'),
    clock: systemClock,
  });
}
