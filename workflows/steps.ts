import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  patched,
  proxyActivities,
  rootCause,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { PullReport } from '../activities/pull.ts';
import type { PlainError } from '../src/domain/errors.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import { WindowView } from './health.ts';
import {
  type ApiUse,
  failureTypes,
  noCounts,
  type WindowCounts,
  type WindowInput,
  type WindowOutcome,
} from './messages.ts';
import { closing, opening, working } from './options.ts';

const open = proxyActivities<Activities>(opening);
const work = proxyActivities<Activities>(working);
const close = proxyActivities<Activities>(closing);

/** How often a window fetches documents' parts again after failed proofs; documents that still fail then are held. */
const refetchRounds = 4;

/**
 * The steps of a window or backfill (DESIGN "One way through"): open, pull, post, summarise, write back, count, close. Only
 * `pull` differs between the two.
 */
export async function runSteps(
  input: WindowInput,
  pull: (window: OpenWindow, add: (report: PullReport) => void) => Promise<void>,
): Promise<WindowOutcome> {
  const view = new WindowView(input);
  let counts: WindowCounts = noCounts;
  let window: OpenWindow;
  try {
    const opened = await open.openWindow(input);
    window = opened.window;
    counts = { ...counts, api: opened.api };
  } catch (error) {
    const plain = isCancellation(error) ? cancelledError(input) : plainError(error);
    view.ended('failed', 'not opened', counts, plain.message);
    throw ApplicationFailure.nonRetryable(plain.message, failureTypes.notOpened, plain);
  }
  view.opened(window.from, window.to);
  const add = (report: PullReport) => {
    counts = addReport(counts, report);
    view.at('pulling', counts);
  };

  const steps = async () => {
    view.at('pulling', counts);
    await pull(window, add);
    view.at('posting', counts);
    await post(window, input, add, (posted, held) => {
      counts = { ...counts, posted: counts.posted + posted, held };
    });
    if (patched('summarise')) await work.summarise(input, window);
    view.at('writing back', counts);
    const written = await work.writeBack(input, window);
    counts = { ...counts, written_back: written.written, api: addUse(counts.api, written.api) };
    const census = await work.takeCensus(input, window);
    counts = { ...counts, api: addUse(counts.api, census.api) };
  };

  try {
    if (input.windowTimeoutSeconds === null) await steps();
    else await CancellationScope.withTimeout(input.windowTimeoutSeconds * 1000, steps);
    await close.closeWindow(input, window, counts);
    view.ended(counts.held > 0 ? 'held' : 'ok', 'closed', counts);
    return {
      installation: input.installation,
      window: window.id,
      from: window.from,
      to: window.to,
      outcome: 'closed',
      ...remarksOf(window),
      ...counts,
    };
  } catch (error) {
    const plain = isCancellation(error) ? cancelledError(input) : plainError(error);
    await CancellationScope.nonCancellable(() => close.failWindow(input, window, counts, plain));
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
    };
    throw ApplicationFailure.nonRetryable(plain.message, failureTypes.failed, outcome);
  }
}

function remarksOf({ remarks = [] }: OpenWindow): Pick<WindowOutcome, 'remarks'> {
  return remarks.length === 0 ? {} : { remarks };
}

/**
 * Judges every document that waits. The parts of documents whose proofs failed are fetched again, for some rounds; the last
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
    if (result.refetch === 0 || last) return;
    add(await work.pullParts(input, window));
  }
}

/**
 * Runs activities at once, like `Promise.all`. When one fails, the others are cancelled and awaited before this rejects, so that
 * nothing of a failed window still runs when the next one opens.
 */
export function allOrCancel<T>(start: () => Promise<T>[]): Promise<T[]> {
  return CancellationScope.cancellable(async () => {
    const started = start();
    try {
      return await Promise.all(started);
    } catch (error) {
      CancellationScope.current().cancel();
      await Promise.allSettled(started);
      throw error;
    }
  });
}

function cancelledError(input: WindowInput): PlainError {
  return {
    code: 'window_given_up',
    message: `the ${input.kind} of installation ${input.installation} was stopped before it was done${
      input.windowTimeoutSeconds === null ? '' : ` or took longer than ${input.windowTimeoutSeconds} s`
    }`,
    todo:
      input.kind === 'backfill'
        ? 'nothing is lost: `vetledger backfill` goes on where it was'
        : 'nothing is lost: the next window covers it; raise window_timeout_minutes if this happens again',
  };
}

/** The domain error that failed an activity, as data. */
function plainError(error: unknown): PlainError {
  const root = error instanceof ActivityFailure ? error.cause : error;
  if (root instanceof ApplicationFailure) {
    const detail: unknown = root.details?.[0];
    if (isPlainError(detail)) return { code: detail.code, message: detail.message, todo: detail.todo };
    const { type, message } = root;
    return { code: type ?? 'unexpected', message, todo: 'run `vetledger doctor`; the next window covers this one' };
  }
  return {
    code: 'unexpected',
    message: rootCause(error) ?? 'an activity stopped without saying why',
    todo: 'run `vetledger doctor`; the next window covers this one',
  };
}

function isPlainError(value: unknown): value is PlainError {
  return typeof value === 'object' && value !== null && 'code' in value && 'message' in value && 'todo' in value;
}

function addReport(counts: WindowCounts, report: PullReport): WindowCounts {
  const key = { invoice: 'invoices', row: 'rows', payment: 'payments', prepayment: 'prepayments' } as const;
  const seen = { ...counts.seen };
  const pulled = { ...counts.pulled };
  for (const stream of report.streams) {
    seen[key[stream.stream]] += stream.seen;
    pulled[key[stream.stream]] += stream.pulled;
  }
  return { ...counts, seen, pulled, api: addUse(counts.api, report.api) };
}

function addUse(a: ApiUse, b: ApiUse): ApiUse {
  return {
    requests: a.requests + b.requests,
    weight: a.weight + b.weight,
    throttled: a.throttled + b.throttled,
    waited_seconds: Math.round((a.waited_seconds + b.waited_seconds) * 1000) / 1000,
  };
}
