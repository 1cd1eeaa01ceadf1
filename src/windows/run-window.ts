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
import type { PlainError } from '../texts/plain-error.ts';
import { withDelivered } from './wait-for-deliveries.ts';

/** One element of `windows` in `sync --json`; `failedToOpen` is set when the source never answered. */
export interface WindowReport extends Omit<WindowOutcome, 'window' | 'to'> {
  window: number | null;
  to: string | null;
  failedToOpen?: PlainError;
}

export interface SyncOptions {
  installations: number[];
  /** `retry`: asks the source nothing, and judges what is marked. */
  trigger: 'sync' | 'backfill' | 'retry';
  /** Backfill only: invoices dated from this day on. */
  from?: string | null;
  onProgress?: (progress: StepProgress) => void;
  /** Awaited once everything is ready to open the windows. */
  beforeWindows?: () => Promise<void>;
  /** Awaited once the windows have ended, while the workers still run. */
  afterWindows?: (engine: Engine) => Promise<void>;
  signal: AbortSignal;
}

/** How long a cancelled window may take to record that it was cancelled. */
const cancelGraceMs = 15_000;

/** Runs one window now for each installation and waits for them; the workers run for that long only. */
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

/** Starts the workflow of one window and waits for its outcome. A failed window is reported, not thrown. */
export async function runWindowNow(
  app: App,
  engine: Engine,
  installation: number,
  options: { trigger: string; from?: string | null; signal: AbortSignal },
): Promise<WindowReport> {
  const { trigger, from = null, signal } = options;
  // Another process may open the window, by its own configuration: one that differs from the books is told here.
  const wrong = await changedIdentity(app.db, installationOf(app.config, installation));
  if (wrong !== null) return notOpened(installation, wrong);
  const handle = await startWindow(app, engine, installation, trigger, from);
  const cancel = () => {
    handle.cancel().catch((error: unknown) => app.log.warn({ err: error }, 'window not cancelled'));
  };
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const result = await withGrace(
      cancelGraceMs,
      Promise.race([handle.result(), engine.failed]),
      signal,
      () => new Error('stopped before the window could note its end; the next one covers it'),
    );
    if (result.outcome !== 'paused') return result;
    // Only windows of the schedule heed a pause.
    const todo = `Run \`vetledger resume --installation ${installation}\` when they may go on.`;
    return notOpened(installation, { code: failureTypes.paused, message: result.message, todo });
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
    staticSummary: `${windowSummary(kind, configured)} (${trigger})`,
    staticDetails:
      kind === 'replay'
        ? 'Judges again what the mirror holds, and asks the source nothing.'
        : staticDetails(configured),
  };
  const { workflow } = engine.client;
  switch (kind) {
    case 'backfill':
      return workflow.start<typeof backfill>('backfill', {
        ...described,
        workflowId: `backfill/${run}`,
        taskQueue: engine.backfillQueue,
      });
    case 'replay':
      return workflow.start<typeof replayWindow>('replayWindow', {
        ...described,
        workflowId: `replay/${run}`,
        taskQueue: engine.backfillQueue,
        workflowRunTimeout: runTimeoutMs(app),
      });
    case 'window': {
      const started = { ...described, workflowId: `sync-window/${run}`, taskQueue: engine.taskQueue };
      // A window of a Schedule goes on as the first load only a second later: Temporal lets no run follow another one sooner.
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

/** After which Temporal ends the run of a live window. */
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

/** What the Temporal UI calls a window's workflow. */
export function windowSummary(kind: WindowInput['kind'], installation: Named): string {
  return `${kind} of installation ${labelOf(installation)}`;
}

/** What the Temporal UI says about a window's workflow. */
export function staticDetails(installation: Named): string {
  return `Pulls what changed in the practice software of installation **${labelOf(installation)}**, posts it, and writes the entry ids back. Failed windows are covered by the next one; see \`vetledger windows --failed\`.`;
}

function failedReport(installation: number, error: unknown): WindowReport {
  const cause = error instanceof WorkflowFailedError ? error.cause : error;
  if (cause instanceof ApplicationFailure) {
    const detail: unknown = cause.details?.[0];
    if (cause.type === failureTypes.failed && isOutcome(detail)) return detail;
    if (cause.type === failureTypes.notOpened && isPlainError(detail)) return notOpened(installation, detail);
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  return notOpened(installation, {
    code: 'window_interrupted',
    message: `the window of installation ${installation} did not end by itself: ${message}`,
    todo: 'nothing is lost: run it again, or wait for the next one',
  });
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

/** `20260131T235959999Z`, for workflow ids. */
function compactTime(instant: Date): string {
  return instant
    .toISOString()
    .replaceAll(/[-:]/g, '')
    .replace(/\.(\d+)Z/, '$1Z');
}
