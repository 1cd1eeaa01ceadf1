import { ScheduleOverlapPolicy, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { StepProgress } from '../../activities/context.ts';
import {
  failureTypes,
  noCounts,
  type PlainError,
  type WindowInput,
  type WindowOutcome,
} from '../../workflows/messages.ts';
import { type Receiver, startReceiver } from '../http/webhooks.ts';
import { noteNudge } from '../mirror/installation-state.ts';
import type { App } from '../runtime/app.ts';
import { systemClock } from '../runtime/system-clock.ts';
import { type Engine, startEngine } from '../runtime/worker.ts';
import { createNudger, type Nudger } from './nudger.ts';

/** One element of `sync --json`'s `windows`; `failedToOpen` when the source never answered. */
export interface WindowReport extends Omit<WindowOutcome, 'window' | 'to'> {
  window: number | null;
  to: string | null;
  failedToOpen?: PlainError;
}

export interface SyncOptions {
  installations: number[];
  trigger: 'sync' | 'backfill';
  from?: string | null;
  onProgress?: (progress: StepProgress) => void;
  /** Waited for when everything is ready to open the windows. */
  beforeWindows?: () => Promise<void>;
  signal: AbortSignal;
}

/** A schedule that was down this long makes one window up for it; the interval is in the cursors anyway. */
const catchupWindow = '1 minute';
/** Temporal is given this long to take a nudge. */
const nudgeTimeoutMs = 10_000;
/** A cancelled window is given this long to note that it was. */
const cancelGraceMs = 15_000;

/** One window now for each installation, through Temporal, waited for; a worker runs for as long. */
export async function syncNow(app: App, options: SyncOptions): Promise<WindowReport[]> {
  const hooks = options.onProgress ? { onProgress: options.onProgress } : {};
  const engine = await startEngine(app, hooks, (line) => app.log.info(line), kindOf(options.trigger));
  try {
    await options.beforeWindows?.();
    return await Promise.all(
      options.installations.map((installation) => runWindow(app, engine, installation, options)),
    );
  } finally {
    await engine.stop();
  }
}

function kindOf(trigger: string): WindowInput['kind'] {
  return trigger === 'backfill' ? 'backfill' : 'window';
}

/** Starts one window's workflow and waits for its outcome; a failed window is an outcome, not an exception. */
export async function runWindow(
  app: App,
  engine: Engine,
  installation: number,
  options: { trigger: string; from?: string | null; signal: AbortSignal },
): Promise<WindowReport> {
  const kind = kindOf(options.trigger);
  const input = windowInput(app, engine, installation, kind, options.trigger, options.from ?? null);
  const workflowId = `${kind === 'backfill' ? 'backfill' : 'sync-window'}/${installation}-${app.databaseId}/${options.trigger}-${stamp(app.clock())}`;
  const handle = await engine.client.workflow.start(kind === 'backfill' ? 'backfill' : 'syncWindow', {
    workflowId,
    taskQueue: kind === 'backfill' ? engine.backfillQueue : engine.taskQueue,
    args: [input],
    staticSummary: `${kind} of installation ${installation} (${options.trigger})`,
    staticDetails: staticDetails(installation),
  });
  const cancel = () => {
    handle.cancel().catch((error: unknown) => app.log.warn({ err: error }, 'window not cancelled'));
  };
  if (options.signal.aborted) cancel();
  options.signal.addEventListener('abort', cancel, { once: true });
  try {
    return (await Promise.race([handle.result(), engine.failed, graceAfter(options.signal)])) as WindowOutcome;
  } catch (error) {
    return failedReport(installation, error);
  } finally {
    options.signal.removeEventListener('abort', cancel);
  }
}

function graceAfter(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = () => {
      const timer = setTimeout(
        () => reject(new Error('stopped before the window could note its end; the next one covers it')),
        cancelGraceMs,
      );
      timer.unref();
    };
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}

function failedReport(installation: number, error: unknown): WindowReport {
  const cause = error instanceof WorkflowFailedError ? error.cause : error;
  if (cause instanceof ApplicationFailure) {
    const detail = cause.details?.[0];
    if (cause.type === failureTypes.failed) return detail as WindowOutcome;
    if (cause.type === failureTypes.notOpened) {
      return notOpened(installation, detail as PlainError);
    }
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  return notOpened(installation, {
    code: 'window_interrupted',
    message: `the window of installation ${installation} did not end by itself: ${message}`,
    todo: 'nothing is lost: run it again, or wait for the next one',
  });
}

function notOpened(installation: number, error: PlainError): WindowReport {
  return {
    installation,
    window: null,
    from: null,
    to: null,
    outcome: 'failed',
    error,
    failedToOpen: error,
    ...noCounts,
  };
}

export interface DaemonOptions {
  signal: AbortSignal;
  onWindow?: (report: WindowReport) => void;
  onProgress?: (progress: StepProgress) => void;
  progress?: (line: string) => void;
  /** Told where webhooks are received, where they are. */
  onListening?: (url: string) => void;
}

/** The daemon: workers and a schedule per installation, until the signal. Its schedules stay: another daemon may be at work. */
export async function runDaemon(app: App, options: DaemonOptions): Promise<void> {
  const engine = await startEngine(app, hooksOf(options), options.progress ?? ((line) => app.log.info(line)));
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
 * Sets the schedules going, receives webhooks where the configuration says so, and waits for the signal or for a worker to
 * fail. Throws ConfigError, before a schedule is touched, where webhooks cannot be received.
 */
export async function runSchedules(
  app: App,
  engine: Engine,
  { signal, onListening }: Pick<DaemonOptions, 'signal' | 'onListening'>,
): Promise<void> {
  const nudger = nudgerOf(app, engine);
  const receiver = await receiverOf(app, nudger);
  try {
    if (receiver) onListening?.(receiver.url);
    for (const installation of app.config.installations) await ensureSchedule(app, engine, installation.id);
    await pauseOrphans(app, engine);
    if (signal.aborted) return;
    await Promise.race([
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
      engine.failed,
    ]);
  } finally {
    await receiver?.close();
    await nudger.stop();
  }
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
    trigger: (installation, webhooks) => nudgeSchedule(app, engine, installation, webhooks),
    failed: (installation, err) =>
      app.log.warn({ err, installation }, 'webhooks could not open a window; the next scheduled one covers them'),
    clock: systemClock,
  });
}

/** A window now by the installation's schedule, or, while one is under way, one more after it. A paused schedule stays so. */
async function nudgeSchedule(app: App, engine: Engine, installation: number, webhooks: number): Promise<void> {
  await engine.client.withDeadline(Date.now() + nudgeTimeoutMs, async () => {
    const schedule = engine.client.schedule.getHandle(scheduleId(app, installation));
    const { paused } = (await schedule.describe()).state;
    app.log.info(
      { installation, webhooks },
      paused ? 'webhooks came, and the schedule is paused' : 'nudged by webhooks',
    );
    if (paused) return;
    await noteNudge(app.db, installation);
    await schedule.trigger(ScheduleOverlapPolicy.BUFFER_ONE);
  });
}

function scheduleId(app: App, installation: number): string {
  return `sync-window/${installation}-${app.databaseId}`;
}

/** One schedule per installation; runs never overlap, one more is kept waiting at most. */
async function ensureSchedule(app: App, engine: Engine, installation: number): Promise<void> {
  const id = scheduleId(app, installation);
  const policies = { overlap: ScheduleOverlapPolicy.BUFFER_ONE, catchupWindow } as const;
  const spec = { intervals: [{ every: app.config.schedule.everySeconds * 1000 }] };
  const action = {
    type: 'startWorkflow' as const,
    workflowType: 'syncWindow',
    workflowId: id,
    taskQueue: engine.taskQueue,
    args: [windowInput(app, engine, installation, 'window', 'schedule', null)],
    staticSummary: `window of installation ${installation}`,
    staticDetails: staticDetails(installation),
  };
  try {
    await engine.client.schedule.create({
      scheduleId: id,
      spec,
      policies,
      action,
      state: { triggerImmediately: true },
    });
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ScheduleAlreadyRunning') throw error;
    const handle = engine.client.schedule.getHandle(id);
    let paused = false;
    await handle.update((previous) => {
      // The program takes back a pause of its own; the operator's stays.
      const { note } = previous.state;
      paused = previous.state.paused && note !== orphanNote;
      return {
        ...previous,
        spec,
        policies,
        action,
        state: paused ? { paused, ...(note ? { note } : {}) } : { paused },
      };
    });
    if (paused)
      app.log.warn({ schedule: id }, 'the schedule was paused in Temporal and opens no windows until resumed there');
    else await handle.trigger(ScheduleOverlapPolicy.BUFFER_ONE);
  }
}

const orphanNote = 'the installation is no longer configured';

/** Schedules of this database whose installation is no longer configured. */
async function pauseOrphans(app: App, engine: Engine): Promise<void> {
  const known = new Set(app.config.installations.map((installation) => scheduleId(app, installation.id)));
  for await (const schedule of engine.client.schedule.list()) {
    const ours = schedule.scheduleId.startsWith('sync-window/') && schedule.scheduleId.endsWith(`-${app.databaseId}`);
    if (!ours || known.has(schedule.scheduleId) || schedule.state.paused) continue;
    await engine.client.schedule.getHandle(schedule.scheduleId).pause(orphanNote);
    app.log.warn(
      { schedule: schedule.scheduleId },
      'paused the schedule of an installation that is no longer configured',
    );
  }
}

function windowInput(
  app: App,
  engine: Engine,
  installation: number,
  kind: WindowInput['kind'],
  trigger: string,
  fromDate: string | null,
): WindowInput {
  return {
    installation,
    trigger,
    kind,
    windowTimeoutSeconds: kind === 'backfill' ? null : app.config.windowTimeoutMinutes * 60,
    searchAttributes: engine.searchAttributes,
    fromDate,
  };
}

function staticDetails(installation: number): string {
  return `Pulls what changed in the practice software of installation **${installation}**, posts it, and writes the entry ids back. Failed windows are covered by the next one; see \`vetledger windows --failed\`.`;
}

function stamp(instant: Date): string {
  return instant
    .toISOString()
    .replaceAll(/[-:]/g, '')
    .replace(/\.(\d+)Z/, '$1Z');
}
