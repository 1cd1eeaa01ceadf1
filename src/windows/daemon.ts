import type { StepProgress } from '../../activities/deps.ts';
import { claimPruning, prune } from '../bookkeeping/retention.ts';
import { type Receiver, startReceiver } from '../http/webhooks.ts';
import type { App } from '../runtime/app.ts';
import { systemClock } from '../runtime/system-clock.ts';
import { type Engine, type EngineOptions, startEngine } from '../runtime/worker.ts';
import { startDeliveries } from './deliveries.ts';
import { createNudger, type Nudger } from './nudges.ts';
import type { WindowReport } from './run-window.ts';
import { ensureSchedule, pauseOrphanedSchedules, triggerSchedule } from './schedules.ts';
import { startScrubs } from './scrubs.ts';

export interface DaemonOptions {
  signal: AbortSignal;
  onWindow?: (report: WindowReport) => void;
  onProgress?: (progress: StepProgress) => void;
  progress?: (line: string) => void;
  /** Called with the URL of the webhook receiver, if one is configured. */
  onListening?: (url: string) => void;
  times?: EngineOptions['times'];
  /** Between two requests for the deliveries; default: five minutes. */
  deliveriesEveryMs?: number;
}

/**
 * Runs the workers and one schedule per installation until the signal. The schedules stay in Temporal afterwards, since
 * another daemon may use them.
 */
export async function runDaemon(app: App, options: DaemonOptions): Promise<void> {
  const { progress = (line) => app.log.info(line), times } = options;
  const engine = await startEngine(app, hooksOf(options), progress, {
    command: 'run',
    scrubs: true,
    ...(times ? { times } : {}),
  });
  try {
    await runSchedules(app, engine, options);
  } finally {
    await engine.stop();
  }
}

function hooksOf(options: DaemonOptions) {
  return {
    ...(options.onWindow ? { onWindow: options.onWindow } : {}),
    ...(options.onProgress ? { onProgress: options.onProgress } : {}),
  };
}

/**
 * Starts the schedules, receives webhooks if they are configured, and waits for the signal or for a worker to fail. Throws
 * ConfigError, before a schedule is touched, when the webhook receiver cannot listen.
 */
export async function runSchedules(
  app: App,
  engine: Engine,
  {
    signal,
    onListening,
    deliveriesEveryMs = 300_000,
  }: Pick<DaemonOptions, 'signal' | 'onListening' | 'deliveriesEveryMs'>,
): Promise<void> {
  const nudger = nudgerOf(app, engine);
  const receiver = await receiverOf(app, nudger);
  const pruning = startPruning(app);
  const deliveries = startDeliveries(app, engine, deliveriesEveryMs);
  try {
    if (receiver) onListening?.(receiver.url);
    for (const installation of app.config.installations) await ensureSchedule(app, engine, installation.id);
    await pauseOrphanedSchedules(app, engine);
    await startScrubs(app, engine);
    if (signal.aborted) return;
    await Promise.race([
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
      engine.failed,
    ]);
  } finally {
    await deliveries.stop();
    await pruning.stop();
    await receiver?.close();
    await nudger.stop();
  }
}

/** How often a daemon asks whether the day's pruning is due. */
const pruningAskedEveryMs = 3_600_000;

/** Prunes once a day what is older than the retention, now or when another daemon's day is over. */
function startPruning(app: App): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let running = Promise.resolve();
  const ask = async () => {
    try {
      if (!(await claimPruning(app.db))) return;
      app.log.info(
        await prune(app.db, app.config.retention, stopping.signal),
        'pruned what is older than the retention',
      );
    } catch (err) {
      app.log.warn({ err }, 'pruning failed; it is tried again tomorrow');
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

async function receiverOf(app: App, nudger: Nudger): Promise<Receiver | null> {
  const { webhooks, installations } = app.config;
  if (!webhooks) return null;
  return startReceiver({
    ...webhooks,
    installations: installations.map(({ id }) => id),
    nudge: (installation) => nudger.nudge(installation),
    clock: systemClock,
    refused: (requests) => app.log.warn({ requests }, 'webhooks with a wrong address or secret were refused'),
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
