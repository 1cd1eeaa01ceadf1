import {
  ApplicationFailure,
  ChildWorkflowFailure,
  executeChild,
  isCancellation,
  rootCause,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { PracticeErrorCode } from '../src/domain/practice-error.ts';
import type { EndCode } from '../src/domain/trouble.ts';
import { replayErrors } from '../src/texts/errors/replays.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
import { workflowTexts } from '../src/texts/temporal.ts';
import { activitiesAs } from './activities.ts';
import { checkWindowInput } from './inputs.ts';
import {
  failureTypes,
  noCounts,
  type PlannedReplay,
  type ReplayedWindow,
  type ReplayOutcome,
  type ReplayRequest,
  runTimeoutSeconds,
  type WindowInput,
  type WindowOutcome,
} from './messages.ts';
import { planning, working } from './options.ts';
import { allOrCancel } from './side-by-side.ts';
import { runSteps } from './steps.ts';

const { planReplay } = activitiesAs(planning);
const { backfillStream } = activitiesAs(working);

/**
 * Replays windows or times of one installation. A child workflow replays each interval, one after the other. An
 * operator may start this workflow in the Temporal UI (docs/operators/failures.md); the planning activity refuses a wrong
 * input.
 */
export async function replay(request: ReplayRequest): Promise<ReplayOutcome> {
  const { installation, spans, leftOut, searchAttributes } = await planned(request);
  const windows: ReplayedWindow[] = [];
  for (const [n, { span, timeoutSeconds }] of spans.entries()) {
    const input: WindowInput = {
      installation,
      trigger: 'replay',
      kind: 'replay',
      windowTimeoutSeconds: timeoutSeconds,
      searchAttributes,
      fromDate: null,
      span,
    };
    try {
      const outcome = await executeChild<typeof replayWindow>('replayWindow', {
        workflowId: `${workflowInfo().workflowId}/${n + 1}`,
        args: [input],
        workflowRunTimeout: runTimeoutSeconds(timeoutSeconds) * 1000,
        staticSummary: workflowTexts.replayInterval({ installation, number: n + 1, intervals: spans.length }),
      });
      windows.push({ ...outcome, replayed: span.windows });
    } catch (error) {
      if (isCancellation(error)) throw error;
      windows.push(failedWindow(installation, span.windows, error));
      const rest = spans.length - n - 1;
      if (rest > 0 && stopsTheRest(windows.at(-1)?.error)) {
        leftOut.push(workflowTexts.intervalsLeftOut({ count: rest }));
        break;
      }
    }
    setCurrentDetails(workflowTexts.replayProgress({ installation, done: windows.length, intervals: spans.length }));
  }
  const outcome: ReplayOutcome = { windows, leftOut };
  const failed = windows.find(({ error }) => error);
  if (failed?.error) throw ApplicationFailure.nonRetryable(failed.error.message, failureTypes.failed, outcome);
  return outcome;
}

/**
 * Error codes that would fail every further interval: the source is unreachable, or an operator stopped the replay. Any
 * other failure concerns only its interval. The intervals left out stay uncovered.
 */
const codesThatStopAll: ReadonlySet<string> = new Set<PracticeErrorCode | EndCode>([
  ...(['unreachable', 'timeout', 'unauthorized', 'redirected'] as const),
  ...(['window_cancelled', 'window_terminated'] as const),
]);

function stopsTheRest(error: PlainError | undefined): boolean {
  return error !== undefined && codesThatStopAll.has(error.code);
}

/**
 * Replays one interval beside the live windows, and moves none of their cursors. Without an interval, judges the marked
 * documents again.
 */
export async function replayWindow(input: WindowInput): Promise<WindowOutcome> {
  checkWindowInput('replay', input);
  const outcome = await runSteps(input, async (window, add) => {
    if (!input.span) return;
    await allOrCancel(
      () => [
        backfillStream(input, window, 'invoice'),
        backfillStream(input, window, 'prepayment'),
        backfillStream(input, window, 'payment'),
      ],
      add,
    );
    add(await backfillStream(input, window, 'row'));
  });
  if (outcome.outcome !== 'paused') return outcome;
  // A pause applies only to windows that the Schedule opens.
  throw ApplicationFailure.nonRetryable(outcome.message, 'unexpected');
}

async function planned(request: ReplayRequest): Promise<PlannedReplay> {
  try {
    return await planReplay(request);
  } catch (error) {
    if (isCancellation(error)) throw error;
    const plain = detailOf<PlainError>(error) ?? unexplained(error);
    setCurrentDetails(workflowTexts.error(plain));
    throw ApplicationFailure.nonRetryable(plain.message, failureTypes.notOpened, plain);
  }
}

function failedWindow(installation: number, replayed: number[], error: unknown): ReplayedWindow {
  const failure = error instanceof ChildWorkflowFailure ? error.cause : error;
  const type = failure instanceof ApplicationFailure ? failure.type : null;
  const outcome = type === failureTypes.failed ? detailOf<WindowOutcome>(error) : null;
  if (outcome) return { ...outcome, replayed };
  const plain = (type === failureTypes.notOpened ? detailOf<PlainError>(error) : null) ?? unexplained(error);
  return {
    ...{ installation, window: null, from: null, to: null, outcome: 'failed', error: plain, failedToOpen: plain },
    ...noCounts,
    replayed,
  };
}

/** The first detail of the failure that an activity or a child workflow had. */
function detailOf<Detail>(error: unknown): Detail | null {
  const cause = error instanceof Error && error.cause instanceof ApplicationFailure ? error.cause : error;
  return cause instanceof ApplicationFailure ? ((cause.details?.[0] as Detail | undefined) ?? null) : null;
}

function unexplained(error: unknown): PlainError {
  return replayErrors.failed({ reason: rootCause(error) ?? replayErrors.stopped });
}
