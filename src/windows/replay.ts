import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { StepProgress } from '../../activities/deps.ts';
import type { replay } from '../../workflows/index.ts';
import { failureTypes, noCounts, type ReplayOutcome, type ReplayRequest } from '../../workflows/messages.ts';
import { withGrace } from '../domain/concurrency.ts';
import { isPlainError } from '../domain/trouble.ts';
import type { App } from '../runtime/app.ts';
import { type Engine, startEngine } from '../runtime/worker.ts';
import { replayErrors } from '../texts/errors/replays.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { startedTexts } from '../texts/temporal.ts';
import { withDelivered } from './wait-for-deliveries.ts';

export interface ReplayOptions {
  onProgress?: (progress: StepProgress) => void;
  /** The replay awaits this after the replays have ended, while the workers still run. */
  afterWindows?: (engine: Engine) => Promise<void>;
  signal: AbortSignal;
}

/** Time for a cancelled replay to record its end. */
const cancelGraceMs = 15_000;

/** Runs one replay for each request in parallel, and waits for them. The workers run only for that time. */
export async function replayNow(
  app: App,
  requests: readonly ReplayRequest[],
  { onProgress, afterWindows, signal }: ReplayOptions,
): Promise<ReplayOutcome> {
  const engine = await startEngine(app, onProgress ? { onProgress } : {}, (line) => app.log.info(line), {
    only: 'replay',
    command: 'replay',
  });
  try {
    const outcomes = await Promise.all(requests.map((request) => runReplay(app, engine, request, signal)));
    await afterWindows?.(engine);
    const windows = await withDelivered(
      app,
      outcomes.flatMap((outcome) => outcome.windows),
    );
    return { windows, leftOut: outcomes.flatMap(({ leftOut }) => leftOut) };
  } finally {
    await engine.stop();
  }
}

/** Starts the workflow of one replay and waits for its outcome. A failed replay is returned, not thrown. */
export async function runReplay(
  app: App,
  engine: Engine,
  request: ReplayRequest,
  signal: AbortSignal,
): Promise<ReplayOutcome> {
  const { installation } = request;
  const handle = await startReplay(app, engine, request, app.clock().toISOString().replaceAll(/[-:.]/g, ''));
  const cancel = () => {
    handle.cancel().catch((error: unknown) => app.log.warn({ err: error }, 'the replay could not be cancelled'));
  };
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await withGrace(
      cancelGraceMs,
      Promise.race([handle.result(), engine.failed]),
      signal,
      () => new Error(replayErrors.stoppedEarly),
    );
  } catch (error) {
    return failedOutcome(installation, error);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Starts the workflow of a replay. A name is used once: with a second start, Temporal throws WorkflowExecutionAlreadyStartedError. */
export function startReplay(app: App, engine: Engine, request: ReplayRequest, name: string) {
  return engine.client.workflow.start<typeof replay>('replay', {
    workflowId: replayId(app, request.installation, name),
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    taskQueue: engine.backfillQueue,
    args: [request],
    staticSummary: startedTexts.replay(request),
    staticDetails: startedTexts.replayDetails,
  });
}

export function replayId({ temporalName }: Pick<App, 'temporalName'>, installation: number, name: string): string {
  return `replay/${installation}-${temporalName}/${name}`;
}

function failedOutcome(installation: number, error: unknown): ReplayOutcome {
  const cause = error instanceof WorkflowFailedError ? error.cause : error;
  const detail: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : null;
  if (cause instanceof ApplicationFailure && cause.type === failureTypes.failed && isOutcome(detail)) return detail;
  const plain: PlainError =
    cause instanceof ApplicationFailure && cause.type === failureTypes.notOpened && isPlainError(detail)
      ? detail
      : replayErrors.didNotEnd({ installation, reason: cause instanceof Error ? cause.message : String(cause) });
  return {
    windows: [
      {
        ...{ installation, window: null, from: null, to: null, outcome: 'failed', error: plain, failedToOpen: plain },
        ...noCounts,
        replayed: [],
      },
    ],
    leftOut: [],
  };
}

function isOutcome(detail: unknown): detail is ReplayOutcome {
  return typeof detail === 'object' && detail !== null && 'windows' in detail && 'leftOut' in detail;
}
