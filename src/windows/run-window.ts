import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { StepProgress } from '../../activities/deps.ts';
import type { backfill, firstLoad, replayWindow, syncWindow } from '../../workflows/index.ts';
import {
  failureTypes,
  firstLoadRunTimeout,
  noCounts,
  runTimeoutSeconds,
  type WindowInput,
  type WindowOutcome,
} from '../../workflows/messages.ts';
import { changedIdentity } from '../bookkeeping/identity.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { withGrace } from '../domain/concurrency.ts';
import { labelOf } from '../domain/installation-name.ts';
import { isPlainError } from '../domain/trouble.ts';
import { type App, installationOf } from '../runtime/app.ts';
import { type Engine, startEngine } from '../runtime/worker.ts';
import { isNothingRead, readCursors } from '../sync/cursors.ts';
import { windowErrors } from '../texts/errors/windows.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { startedTexts } from '../texts/temporal.ts';
import { withDelivered } from './wait-for-deliveries.ts';

/** One element of `windows` in `sync --json`. `failedToOpen` is set if the window did not open. */
export interface WindowReport extends Omit<WindowOutcome, 'window' | 'to'> {
  window: number | null;
  to: string | null;
  failedToOpen?: PlainError;
}

export interface SyncOptions {
  installations: number[];
  /** `retry` sends no request to the source, and judges the marked documents. */
  trigger: 'sync' | 'backfill' | 'retry';
  /** Backfill only: reads invoices dated from this day. */
  from?: string | null;
  onProgress?: (progress: StepProgress) => void;
  /** The run awaits this when everything is ready to open the windows. */
  beforeWindows?: () => Promise<void>;
  /** The run awaits this after the windows have ended, while the workers still run. */
  afterWindows?: (engine: Engine) => Promise<void>;
  signal: AbortSignal;
}

/** Time for a cancelled window to record its end. */
const cancelGraceMs = 15_000;

/** Runs one window for each installation now, and waits for them. The workers run only for that time. */
export async function syncNow(app: App, options: SyncOptions): Promise<WindowReport[]> {
  const hooks = options.onProgress ? { onProgress: options.onProgress } : {};
  const engine = await startEngine(app, hooks, (line) => app.log.info(line), {
    only: kindOf(options.trigger),
    command: options.trigger,
  });
  try {
    await options.beforeWindows?.();
    const reports = await Promise.all(
      options.installations.map((installation) => runWindowNow(app, engine, installation, options)),
    );
    await options.afterWindows?.(engine);
    return await withDelivered(app, reports);
  } finally {
    await engine.stop();
  }
}

/** Starts the workflow of one window and waits for its outcome. A failed window is returned, not thrown. */
export async function runWindowNow(
  app: App,
  engine: Engine,
  installation: number,
  options: { trigger: string; from?: string | null; signal: AbortSignal },
): Promise<WindowReport> {
  const { trigger, from = null, signal } = options;
  // Another process may open the window with its own configuration, so this process checks its configuration against
  // the books.
  const wrong = await changedIdentity(app.db, installationOf(app.config, installation));
  if (wrong !== null) return notOpened(installation, wrong);
  const handle = await startWindow(app, engine, installation, trigger, from);
  const cancel = () => {
    handle.cancel().catch((error: unknown) => app.log.warn({ err: error }, 'the window could not be cancelled'));
  };
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const result = await withGrace(
      cancelGraceMs,
      Promise.race([handle.result(), engine.failed]),
      signal,
      () => new Error(windowErrors.stoppedEarly),
    );
    if (result.outcome !== 'paused') return result;
    // A pause applies only to windows of the schedule.
    const { message } = result;
    return notOpened(installation, windowErrors.pausedWith({ code: failureTypes.paused, installation, message }));
  } catch (error) {
    return failedReport(installation, error);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

async function startWindow(app: App, engine: Engine, installation: number, trigger: string, fromDate: string | null) {
  const kind = kindOf(trigger);
  const run = `${installation}-${app.temporalName}/${trigger}-${compactTime(app.clock())}`;
  const configured = installationOf(app.config, installation);
  const input = windowInput(app, engine, { installation, kind, trigger, fromDate });
  const args: [WindowInput] = [input];
  const described = {
    args,
    staticSummary: startedTexts.triggered({ summary: windowSummary(kind, configured), trigger }),
    staticDetails: kind === 'replay' ? startedTexts.judgingDetails : staticDetails(configured),
  };
  const { workflow } = engine.client;
  switch (kind) {
    case 'backfill':
      return startBackfill(app, engine, { installation, fromDate }, `${trigger}-${compactTime(app.clock())}`);
    case 'replay':
      return workflow.start<typeof replayWindow>('replayWindow', {
        ...described,
        workflowId: `replay/${run}`,
        taskQueue: engine.backfillQueue,
        workflowRunTimeout: runTimeoutMs(app),
      });
    case 'window': {
      const started = { ...described, workflowId: `sync-window/${run}`, taskQueue: engine.taskQueue };
      // Starts the first load directly. A window of a Schedule continues as the first load a second later, since
      // Temporal delays the next run.
      if (isNothingRead(await readCursors(app.db, installation))) {
        return workflow.start<typeof firstLoad>('firstLoad', {
          ...started,
          workflowRunTimeout: firstLoadRunTimeout,
        });
      }
      return workflow.start<typeof syncWindow>('syncWindow', { ...started, workflowRunTimeout: runTimeoutMs(app) });
    }
  }
}

/** Starts the workflow of a backfill. A name is used once: with a second start, Temporal throws WorkflowExecutionAlreadyStartedError. */
export function startBackfill(
  app: App,
  engine: Engine,
  { installation, fromDate }: Pick<WindowInput, 'installation' | 'fromDate'>,
  name: string,
) {
  const trigger = 'backfill';
  const configured = installationOf(app.config, installation);
  return engine.client.workflow.start<typeof backfill>('backfill', {
    args: [windowInput(app, engine, { installation, kind: 'backfill', trigger, fromDate })],
    staticSummary: startedTexts.triggered({ summary: windowSummary('backfill', configured), trigger }),
    staticDetails: staticDetails(configured),
    workflowId: backfillId(app, installation, name),
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    taskQueue: engine.backfillQueue,
  });
}

export function backfillId({ temporalName }: Pick<App, 'temporalName'>, installation: number, name: string): string {
  return `backfill/${installation}-${temporalName}/${name}`;
}

/** Milliseconds after which Temporal ends the run of a live window. */
export function runTimeoutMs({ config }: App): number {
  return runTimeoutSeconds(config.windowTimeoutMinutes * 60) * 1000;
}

function kindOf(trigger: string): WindowInput['kind'] {
  if (trigger === 'backfill') return 'backfill';
  return trigger === 'retry' ? 'replay' : 'window';
}

/** The argument of a window's workflow. */
export function windowInput(
  app: App,
  engine: Engine,
  window: Pick<WindowInput, 'installation' | 'kind' | 'trigger' | 'fromDate'>,
): WindowInput {
  const { installation, kind, trigger, fromDate } = window;
  return {
    installation,
    trigger,
    kind,
    windowTimeoutSeconds: kind === 'backfill' ? null : app.config.windowTimeoutMinutes * 60,
    searchAttributes: engine.searchAttributes,
    fromDate,
    ...(kind === 'replay' ? { span: null } : {}),
  };
}

type Named = Pick<InstallationConfig, 'id' | 'name'>;

/** The name of a window's workflow in the Temporal UI. */
export function windowSummary(kind: WindowInput['kind'], installation: Named): string {
  return startedTexts.window({ kind, label: labelOf(installation) });
}

/** The description of a window's workflow in the Temporal UI. */
export function staticDetails(installation: Named): string {
  return startedTexts.windowDetails({ label: labelOf(installation) });
}

function failedReport(installation: number, error: unknown): WindowReport {
  const cause = error instanceof WorkflowFailedError ? error.cause : error;
  if (cause instanceof ApplicationFailure) {
    const detail: unknown = cause.details?.[0];
    if (cause.type === failureTypes.failed && isOutcome(detail)) return detail;
    if (cause.type === failureTypes.notOpened && isPlainError(detail)) return notOpened(installation, detail);
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  return notOpened(installation, windowErrors.didNotEnd({ installation, reason }));
}

function isOutcome(detail: unknown): detail is WindowOutcome {
  return typeof detail === 'object' && detail !== null && 'window' in detail && 'outcome' in detail;
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

/** Formats a time for workflow ids: `20260131T235959999Z`. */
function compactTime(instant: Date): string {
  return instant
    .toISOString()
    .replaceAll(/[-:]/g, '')
    .replace(/\.(\d+)Z/, '$1Z');
}
