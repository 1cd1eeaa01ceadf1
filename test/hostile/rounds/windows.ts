// Runs windows and backfills through their activities as workflows/steps.ts does, without Temporal: a window takes a fraction of
// a second. Attempts are few and pauses short, so that a window gives up in seconds.

import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { type Activities, createActivities } from '../../../activities/index.ts';
import type { PlainError } from '../../../src/domain/errors.ts';
import type { OpenWindow } from '../../../src/sync/sync-windows.ts';
import { noCounts, type WindowInput } from '../../../workflows/messages.ts';

export interface WindowEnd {
  /** `died`: its process did, and nothing was recorded. */
  outcome: 'closed' | 'failed' | 'not opened' | 'died';
  error: PlainError | null;
}

export interface WindowOptions {
  kind?: WindowInput['kind'];
  /** It is given up after so long. */
  limitMs?: number;
  /** Its process dies after so long. */
  diesAfterMs?: number | null;
}

/** Attempts of an activity whose error says that it may succeed later; a window in service has as many as fit into half an hour. */
const attemptsAtMost = 3;
/** The same for errors that nothing explains (activities/attempts.ts counts them itself). */
const unexplainedAtMost = 12;
const retryPauseMs = 30;
const refetchRounds = 4;
const windowLimitMs = 20_000;

/** The SDK tells of each activity that fails; the round's story does that. */
const logger = new DefaultLogger('ERROR');

class GivenUp extends Error {}

export class WindowRunner {
  readonly #activities: Activities;
  readonly #installation: number;

  constructor(deps: ActivityDeps, installation: number) {
    this.#activities = createActivities(deps);
    this.#installation = installation;
  }

  async run({ kind = 'window', limitMs = windowLimitMs, diesAfterMs = null }: WindowOptions = {}): Promise<WindowEnd> {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new GivenUp()), diesAfterMs ?? limitMs);
    const workflow = { workflowId: `hostile-${this.#installation}`, runId: randomUUID() };
    const input: WindowInput = {
      ...{ installation: this.#installation, trigger: 'sync', kind, windowTimeoutSeconds: 60 },
      ...{ searchAttributes: false, fromDate: null },
    };
    const perform = <Name extends keyof Activities>(
      name: Name,
      signal: AbortSignal | null,
      ...args: Parameters<Activities[Name]>
    ) => this.#perform(name, workflow, signal, args);
    let window: OpenWindow | null = null;
    try {
      window = (await perform('openWindow', stop.signal, input)).window;
      await this.#steps(kind, input, window, (name, ...args) => perform(name, stop.signal, ...args));
      await perform('closeWindow', null, input, window, noCounts);
      return { outcome: 'closed', error: null };
    } catch (error) {
      if (stop.signal.aborted && diesAfterMs !== null) return { outcome: 'died', error: null };
      const plain = stop.signal.aborted ? givenUp : plainError(error);
      if (window === null) return { outcome: 'not opened', error: plain };
      await perform('failWindow', null, input, window, noCounts, plain);
      return { outcome: 'failed', error: plain };
    } finally {
      clearTimeout(timer);
    }
  }

  async #steps(kind: WindowInput['kind'], input: WindowInput, window: OpenWindow, perform: Perform): Promise<void> {
    if (kind === 'window') {
      await allOrNone([
        () => perform('pullInvoices', input, window),
        () => perform('pullPrepayments', input, window),
        () => perform('pullPayments', input, window),
        ...(window.from === null ? [() => perform('scanRows', input, window)] : []),
      ]);
      await perform('pullRows', input, window);
    } else {
      await allOrNone([
        () => perform('backfillStream', input, window, 'invoice'),
        () => perform('backfillStream', input, window, 'prepayment'),
        () => perform('backfillStream', input, window, 'payment'),
        () => perform('scanRows', input, window),
      ]);
      await perform('completeRows', input, window);
    }
    for (let round = 0; ; round++) {
      const last = round >= refetchRounds;
      const { refetch } = await perform('post', input, window, last);
      if (refetch === 0 || last) break;
      await perform('pullParts', input, window);
    }
    await perform('summarise', input, window);
    await perform('writeBack', input, window);
    await perform('takeCensus', input, window);
  }

  async #perform<Name extends keyof Activities>(
    name: Name,
    workflowExecution: { workflowId: string; runId: string },
    signal: AbortSignal | null,
    args: Parameters<Activities[Name]>,
  ): Promise<Awaited<ReturnType<Activities[Name]>>> {
    let heartbeatDetails: unknown;
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const info = { attempt, activityType: name, heartbeatDetails, workflowExecution };
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

/** As workflows/steps.ts: nothing of a failed window still runs when the next one opens. */
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
