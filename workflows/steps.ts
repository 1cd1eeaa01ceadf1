import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  rootCause,
  workflowInfo,
} from '@temporalio/workflow';
import type { PullReport, StreamReport } from '../activities/pull.ts';
import type { OpenReport } from '../activities/window.ts';
import { isPlainError } from '../src/domain/trouble.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import { windowErrors } from '../src/texts/errors/windows.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
import { activitiesAs } from './activities.ts';
import { type Health, WindowView } from './health.ts';
import {
  addReport,
  addUse,
  failureTypes,
  noCounts,
  type PausedOutcome,
  type WindowCounts,
  type WindowInput,
  type WindowOutcome,
} from './messages.ts';
import { closing, opening, openingAndPulling, working } from './options.ts';
import { streamLoad } from './side-by-side.ts';

const open = activitiesAs(opening);
const openAndPull = activitiesAs(openingAndPulling);
const work = activitiesAs(working);
const close = activitiesAs(closing);

/** How many times a window fetches parts of documents again after failed proofs. Documents that still fail are held. */
const refetchRounds = 4;

/** The opening found that nothing was loaded before. */
export class FirstLoadNeeded extends Error {}

/**
 * The steps of a window, backfill or replay (DESIGN "One way through"): open, pull, post, summarise, write back, count,
 * close. They differ only in `pull`; `done` are the lists that the opening has already read, with `pullsAtOpen`. If the
 * opening found nothing, the window is already closed. If it found that nothing waits, the window closes at once.
 * Throws FirstLoadNeeded.
 */
export async function runSteps(
  input: WindowInput,
  pull: (
    window: OpenWindow,
    add: (report: PullReport) => void,
    done: ReadonlySet<StreamReport['stream']>,
  ) => Promise<void>,
  { pullsAtOpen = false } = {},
): Promise<WindowOutcome | PausedOutcome> {
  const view = new WindowView(input);
  let counts: WindowCounts = noCounts;
  let opened: OpenReport;
  try {
    const report = await (pullsAtOpen ? openAndPull : open).openWindow(input, pullsAtOpen);
    if ('closed' in report) {
      const { closed, trigger } = report;
      view.opened(closed.window, closed.from, closed.to, trigger);
      view.ended(healthOf(closed), 'closed', closed);
      return closed;
    }
    opened = report;
  } catch (error) {
    const plain = isCancellation(error) ? stoppedError(input) : plainError(error);
    if (plain.code === failureTypes.firstLoad) throw new FirstLoadNeeded();
    if (plain.code === failureTypes.paused) {
      view.ended('ok', 'paused', counts, plain.message);
      return { installation: input.installation, outcome: 'paused', message: plain.message };
    }
    const beganAt = workflowInfo().runStartTime.toISOString();
    const noted = await CancellationScope.nonCancellable(() => close.noteNotOpened(input, counts, plain, beganAt));
    counts = { ...counts, api: noted.api };
    // Absent in runs that began before numbers were shown.
    if (noted.window !== undefined) view.failedAs(noted.window);
    view.ended('failed', 'not opened', counts, plain.message);
    throw ApplicationFailure.nonRetryable(plain.message, failureTypes.notOpened, plain);
  }
  const { window, streams, idle } = opened;
  counts = addReport(counts, opened);
  view.opened(window.id, window.from, window.to, opened.trigger);
  const add = (report: PullReport) => {
    counts = addReport(counts, report);
    view.count(counts);
  };

  const postSome = async () => {
    const { posted, isMore, left, api } = await work.postInLoad(input, window);
    counts = { ...counts, posted: counts.posted + posted };
    view.isLeft(left);
    add({ streams: [], api });
    return { posted, isMore };
  };
  const writeBack = async () => {
    const { written, unconfirmed, api } = await work.writeBack(input, window);
    // The next pass looks again for ids that this pass left unconfirmed.
    const { written_back_unconfirmed: _, ...others } = counts;
    counts = { ...others, written_back: counts.written_back + written, api: addUse(counts.api, api) };
    if (unconfirmed > 0) counts = { ...counts, written_back_unconfirmed: unconfirmed };
    view.count(counts);
    return written > 0;
  };
  const census = async () => {
    const { api } = await work.takeCensus(input, window);
    counts = { ...counts, api: addUse(counts.api, api) };
  };

  const steps = async () => {
    if (idle !== null) {
      counts = { ...counts, held: idle.held };
      if (idle.censusDue) await census();
      return;
    }
    view.at('pulling', counts);
    const pullLists = (pulled?: () => void) => {
      const addPulled = (report: PullReport) => {
        add(report);
        pulled?.();
      };
      return pull(window, addPulled, new Set(streams.map(({ stream }) => stream)));
    };
    const postAll = async () => {
      view.at('posting', counts);
      await post(window, input, add, (posted, held) => {
        counts = { ...counts, posted: counts.posted + posted, held };
      });
    };
    if (isFirstLoad(input, window)) {
      await streamLoad({ pullLists, postAll, postSome, writeBack });
      view.isLeft(null);
    } else {
      await pullLists();
      await postAll();
    }
    await work.summarise(input, window);
    view.at('writing back', counts);
    if (input.span !== null) await writeBack();
    // A first load has just read all lists and checked them against the same counts, so only later windows take the
    // census.
    if (input.kind === 'window' && window.from !== null) await census();
  };
  const { windowTimeoutSeconds } = input;
  // A first load has no time-out: its activities fail if they have no success for too long (activities/heartbeat.ts).
  const isUnlimited = windowTimeoutSeconds === null || isFirstLoad(input, window);
  const scope = isUnlimited ? null : new CancellationScope({ cancellable: true, timeout: windowTimeoutSeconds * 1000 });
  try {
    if (scope === null) await steps();
    else await scope.run(steps);
    const { api, ...head } = await close.closeWindow(input, window, counts);
    counts = { ...counts, api };
    view.ended(healthOf(counts), 'closed', counts);
    return {
      installation: input.installation,
      window: window.id,
      from: window.from,
      to: window.to,
      outcome: 'closed',
      ...remarksOf(window),
      ...counts,
      ...head,
    };
  } catch (error) {
    // A step that fails while it is being stopped is not retried, so its error is not the reason for the window's
    // failure.
    const isStopped = isCancellation(error) || (scope?.consideredCancelled === true && !isFinal(error));
    const why = isStopped ? stoppedError(input) : plainError(error);
    const ending = await CancellationScope.nonCancellable(() => close.failWindow(input, window, counts, why));
    const { api, error: plain, ...head } = ending;
    counts = { ...counts, api };
    view.ended('failed', 'failed', counts, plain.message);
    const outcome: WindowOutcome = {
      installation: input.installation,
      window: window.id,
      from: window.from,
      to: window.to,
      outcome: 'failed',
      error: plain,
      ...remarksOf(window),
      ...counts,
      ...head,
    };
    throw ApplicationFailure.nonRetryable(plain.message, failureTypes.failed, outcome);
  }
}

function healthOf({ held }: WindowCounts): Health {
  return held > 0 ? 'held' : 'ok';
}

function remarksOf({ remarks }: OpenWindow): Pick<WindowOutcome, 'remarks'> {
  return remarks.length === 0 ? {} : { remarks };
}

/**
 * Judges every waiting document. Parts of documents whose proofs failed are fetched again, for some rounds. The last
 * round decides about every document.
 */
async function post(
  window: OpenWindow,
  input: WindowInput,
  add: (report: PullReport) => void,
  count: (posted: number, held: number) => void,
): Promise<void> {
  for (let round = 0; ; round++) {
    const last = round >= refetchRounds;
    const result = await work.post(input, window, last);
    count(result.posted, result.held);
    add({ streams: [], api: result.api });
    // The next live window requests the missing parts.
    if (result.refetch === 0 || last || input.span === null) return;
    add(await work.pullParts(input, window));
  }
}

/** Whether the window reads everything, because nothing was read before. */
function isFirstLoad({ kind }: WindowInput, { from }: OpenWindow): boolean {
  return kind === 'window' && from === null;
}

/** The reason why a window was stopped: its workflow was cancelled, or its time-out passed. */
function stoppedError({ kind, installation, windowTimeoutSeconds }: WindowInput): PlainError {
  const isCancelled = windowTimeoutSeconds === null || CancellationScope.current().consideredCancelled;
  if (isCancelled) return windowErrors.cancelled({ kind, installation });
  return windowErrors.tookTooLong({ kind, installation, seconds: windowTimeoutSeconds });
}

/** Whether an activity failed for good, and would not be retried. */
function isFinal(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.nonRetryable === true;
}

/** The domain error that failed an activity, as data. */
function plainError(error: unknown): PlainError {
  const root = error instanceof ActivityFailure ? error.cause : error;
  if (root instanceof ApplicationFailure) {
    const detail: unknown = root.details?.[0];
    if (isPlainError(detail)) return { code: detail.code, message: detail.message, todo: detail.todo };
    const { type, message } = root;
    return windowErrors.failed({ code: type ?? 'unexpected', reason: message });
  }
  return windowErrors.failed({ code: 'unexpected', reason: rootCause(error) ?? windowErrors.activityStopped });
}
