// Runs the activities of windows and backfills in the order of workflows/steps.ts, without Temporal: a window takes a fraction of
// a second. Attempts are few and pauses short, so that a window gives up in seconds.

import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { ActivityDeps } from '../../activities/deps.ts';
import { type Activities, createActivities } from '../../activities/index.ts';
import type { ClosedReport, OpenReport } from '../../activities/window.ts';
import type { OpenWindow } from '../../src/sync/sync-windows.ts';
import type { PlainError } from '../../src/texts/plain-error.ts';
import { failureTypes, noCounts, type WindowInput } from '../../workflows/messages.ts';

export interface WindowEnd {
  /** `died`: the process of the window died, and nothing was recorded. */
  outcome: 'closed' | 'failed' | 'not opened' | 'died';
  error: PlainError | null;
}

export interface WindowOptions {
  kind?: WindowInput['kind'];
  /** The window fails after this time. */
  limitMs?: number;
  /** The window's process dies when this promise resolves. */
  death?: Promise<unknown>;
}

/** The number of attempts of an activity whose error says that it may succeed later. In service, attempts continue for half an hour. */
const attemptsAtMost = 3;
/** The number of attempts after errors without an explanation (activities/attempts.ts counts them separately). */
const unexplainedAtMost = 12;
const retryPauseMs = 30;
const refetchRounds = 4;
const windowLimitMs = 20_000;

/** The SDK would log each failed activity, but the life has a separate log. */
const logger = new DefaultLogger('ERROR');

class GivenUp extends Error {}

/** Performs an activity with its retries, like Temporal. The signal ends it. */
export type PerformUntil = <Name extends keyof Activities>(
  name: Name,
  signal: AbortSignal | null,
  ...args: Parameters<Activities[Name]>
) => Promise<Awaited<ReturnType<Activities[Name]>>>;

/** The control flow of workflows/steps.ts. If `dies` returns true, the signal means the death of the process, and nothing is recorded. */
export async function runWindow({
  kind,
  installation,
  signal,
  dies,
  perform,
  pause,
}: {
  kind: WindowInput['kind'];
  installation: number;
  signal: AbortSignal;
  dies: () => boolean;
  perform: PerformUntil;
  /** Called between two passes of the steps that run beside a first load's pull. */
  pause: () => Promise<void>;
}): Promise<WindowEnd> {
  const input: WindowInput = {
    ...{ installation, trigger: 'sync', kind, windowTimeoutSeconds: 60 },
    ...{ searchAttributes: false, fromDate: null },
  };
  let window: OpenWindow | null = null;
  try {
    const opened = await openAs(kind, (pulls) => perform('openWindow', signal, input, pulls));
    if ('closed' in opened) return { outcome: 'closed', error: null };
    window = opened.window;
    await windowSteps(kind, input, opened, pause, (name, ...args) => perform(name, signal, ...args));
    await perform('closeWindow', null, input, window, noCounts);
    return { outcome: 'closed', error: null };
  } catch (error) {
    if (signal.aborted && dies()) return { outcome: 'died', error: null };
    const plain = signal.aborted ? givenUp : plainError(error);
    if (window === null) {
      await perform('noteNotOpened', null, input, noCounts, plain, new Date().toISOString());
      return { outcome: 'not opened', error: plain };
    }
    await perform('failWindow', null, input, window, noCounts, plain);
    return { outcome: 'failed', error: plain };
  }
}

/** Opens the window like its workflow does. If everything has to be read, it continues as a first load. */
async function openAs(
  kind: WindowInput['kind'],
  open: (pulls: boolean) => Promise<OpenReport | ClosedReport>,
): Promise<OpenReport | ClosedReport> {
  try {
    return await open(kind === 'window');
  } catch (error) {
    if (plainError(error).code !== failureTypes.firstLoad) throw error;
    return open(false);
  }
}

async function windowSteps(
  kind: WindowInput['kind'],
  input: WindowInput,
  { window, streams, idle }: OpenReport,
  pause: () => Promise<void>,
  perform: Perform,
): Promise<void> {
  if (idle !== null) {
    if (idle.censusDue) await perform('takeCensus', input, window);
    return;
  }
  const done = new Set(streams.map(({ stream }) => stream));
  const pullAndPost = async () => {
    await pullLists(kind, input, window, done, perform);
    for (let round = 0; ; round++) {
      const last = round >= refetchRounds;
      const { refetch } = await perform('post', input, window, last);
      if (refetch === 0 || last) break;
      await perform('pullParts', input, window);
    }
  };
  if (kind === 'window' && window.from === null) await streamed(pullAndPost, input, window, pause, perform);
  else await pullAndPost();
  await perform('summarise', input, window);
  await perform('writeBack', input, window);
  if (kind === 'window' && window.from !== null) await perform('takeCensus', input, window);
}

/** Does what workflows/side-by-side.ts does: passes of posting run until the pull ends. */
async function streamed(
  work: () => Promise<void>,
  input: WindowInput,
  window: OpenWindow,
  pause: () => Promise<void>,
  perform: Perform,
): Promise<void> {
  let isOver = false;
  const passes = async (pass: () => Promise<void>) => {
    for (; !isOver; await pause()) {
      try {
        await pass();
      } catch {
        return;
      }
    }
  };
  const post = async () => {
    await perform('postInLoad', input, window);
  };
  const writeBack = async () => {
    await perform('writeBack', input, window);
  };
  const main = async () => {
    try {
      await work();
    } finally {
      isOver = true;
    }
  };
  await allOrNone([main, () => passes(post), () => passes(writeBack)]);
}

async function pullLists(
  kind: WindowInput['kind'],
  input: WindowInput,
  window: OpenWindow,
  done: ReadonlySet<string>,
  perform: Perform,
): Promise<void> {
  if (kind === 'window') {
    await allOrNone([
      ...(done.has('invoice') ? [] : [() => perform('pullInvoices', input, window)]),
      ...(done.has('prepayment') ? [] : [() => perform('pullPrepayments', input, window)]),
      ...(done.has('payment') ? [] : [() => perform('pullPayments', input, window)]),
      ...(window.from === null ? [() => perform('scanRows', input, window)] : []),
    ]);
    if (!done.has('row')) await perform('pullRows', input, window);
  } else {
    await allOrNone([
      () => perform('backfillStream', input, window, 'invoice'),
      () => perform('backfillStream', input, window, 'prepayment'),
      () => perform('backfillStream', input, window, 'payment'),
      () => perform('scanRows', input, window),
    ]);
    await perform('completeRows', input, window);
  }
}

export class WindowRunner {
  readonly #activities: Activities;
  readonly #installation: number;

  constructor(deps: ActivityDeps, installation: number) {
    this.#activities = createActivities(deps);
    this.#installation = installation;
  }

  async run({ kind = 'window', limitMs = windowLimitMs, death }: WindowOptions = {}): Promise<WindowEnd> {
    const stop = new AbortController();
    let dies = false;
    const timer = setTimeout(() => stop.abort(new GivenUp()), limitMs);
    void death?.then(() => {
      dies = !stop.signal.aborted;
      stop.abort(new GivenUp());
    });
    const workflow = { workflowId: `hostile-${this.#installation}`, runId: randomUUID() };
    try {
      return await runWindow({
        ...{ kind, installation: this.#installation, signal: stop.signal, dies: () => dies },
        perform: (name, signal, ...args) => this.#perform(name, workflow, signal, args),
        pause: () => new Promise((resolve) => void setTimeout(resolve, retryPauseMs)),
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async #perform<Name extends keyof Activities>(
    name: Name,
    workflowExecution: { workflowId: string; runId: string },
    signal: AbortSignal | null,
    args: Parameters<Activities[Name]>,
  ): Promise<Awaited<ReturnType<Activities[Name]>>> {
    const activityId = randomUUID();
    let heartbeatDetails: unknown;
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const info = { attempt, activityId, activityType: name, heartbeatDetails, workflowExecution };
      const environment = new MockActivityEnvironment(info, { logger });
      environment.on('heartbeat', (details: unknown) => {
        heartbeatDetails = details;
      });
      const cancel = () => environment.cancel();
      signal?.addEventListener('abort', cancel, { once: true });
      try {
        const activity = this.#activities[name] as unknown as (...given: unknown[]) => Promise<unknown>;
        const result = await environment.run<unknown[], unknown, typeof activity>(activity, ...args);
        return result as Awaited<ReturnType<Activities[Name]>>;
      } catch (error) {
        const isExplained = error instanceof ApplicationFailure;
        if (signal?.aborted || (isExplained && error.nonRetryable)) throw error;
        if (attempt >= (isExplained ? attemptsAtMost : unexplainedAtMost)) throw error;
        await new Promise((resolve) => void setTimeout(resolve, retryPauseMs));
      } finally {
        signal?.removeEventListener('abort', cancel);
      }
    }
  }
}

type Perform = <Name extends keyof Activities>(
  name: Name,
  ...args: Parameters<Activities[Name]>
) => Promise<Awaited<ReturnType<Activities[Name]>>>;

const givenUp: PlainError = {
  code: 'window_given_up',
  message: 'the window took longer than it may',
  todo: 'nothing is lost',
};

/** Waits until all work has ended, like workflows/steps.ts, so that no step of a failed window runs during the next one. */
async function allOrNone(works: (() => Promise<unknown>)[]): Promise<void> {
  const ended = await Promise.allSettled(works.map((work) => work()));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

function plainError(error: unknown): PlainError {
  const detail: unknown = error instanceof ApplicationFailure ? error.details?.[0] : null;
  if (typeof detail === 'object' && detail !== null && 'code' in detail && 'message' in detail && 'todo' in detail) {
    return { code: String(detail.code), message: String(detail.message), todo: String(detail.todo) };
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { code: 'unexpected', message, todo: '' };
}
