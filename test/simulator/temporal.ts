// Does what Temporal does for windows and deliveries, in simulated time. It gives each activity to a worker. After a failure or a
// heartbeat time-out it starts another attempt, even if the first one has ended or still runs.

import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { Activities } from '../../activities/index.ts';
import type { Rng } from '../../sandbox/src/rng.ts';
import type { DeliveryReport, WindowInput } from '../../workflows/messages.ts';
import type { SimulatedTime } from '../erp/fake/time.ts';
import type { WorkerProcess } from './process.ts';
import { runWindow, type WindowEnd } from './windows.ts';

const heartbeatTimeoutMs = 30_000;
/** The time-out of activities that send no heartbeats: those that record a window's end. */
const silentTimeoutMs = 120_000;
const watchEveryMs = 5_000;
const longestRetryMs = 60_000;
const windowTimeoutMs = 1_800_000;
const openingAttempts = 3;
const longestPauseMs = 300_000;
const failedPauseMs = 5_000;
const passPauseMs = 300;

export interface TemporalOptions {
  time: SimulatedTime;
  rng: Rng;
  installation: number;
  /** The living worker processes. */
  workers(): WorkerProcess[];
  tell(line: string): void;
  /** The share of completions that do not reach Temporal. */
  lostCompletions(): number;
}

export interface WindowOptions {
  kind?: WindowInput['kind'];
  timeoutMs?: number;
}

/** An activity, with the details of its last heartbeat. */
interface Note {
  activityId: string;
  details: unknown;
}

class TimedOut extends Error {}

const logger = new DefaultLogger('ERROR');

export class SimulatedTemporal {
  readonly #options: TemporalOptions;
  #runs = 0;
  #activities = 0;
  #delivery: Promise<void> | null = null;
  #isDue = false;
  #wake: () => void = () => undefined;
  /** The number of duplicate and outdated attempts so far. */
  repeated = 0;

  constructor(options: TemporalOptions) {
    this.#options = options;
  }

  /** Runs one window from its opening to its end, like workflows/steps.ts. It fails `timeoutMs` after it was opened. */
  async window({ kind = 'window', timeoutMs = windowTimeoutMs }: WindowOptions = {}): Promise<WindowEnd> {
    const { time, installation } = this.#options;
    const stop = new AbortController();
    const workflow = this.#workflow(kind === 'window' ? 'sync-window' : kind);
    let cancel: () => void = () => undefined;
    try {
      return await runWindow({
        ...{ kind, installation, signal: stop.signal, dies: () => false },
        pause: () => time.sleep(passPauseMs),
        perform: (name, signal, ...args) => {
          const performed = this.#perform(name, workflow, args, { signal });
          const begin = () => {
            cancel = time.at(time.nowMs + timeoutMs, () => stop.abort(new Error('given up')));
          };
          // A window's time-out begins when it is open.
          if (name === 'openWindow') performed.then(begin, () => undefined);
          return performed;
        },
      });
    } finally {
      cancel();
    }
  }

  /** Runs a pass of the scrub. */
  async scrub(): Promise<void> {
    const { installation, time } = this.#options;
    const workflow = this.#workflow('scrub');
    const input = { installation } as Parameters<Activities['scrubSlice']>[0];
    for (let hasRead = false; ; ) {
      const { state, pauseMs } = await this.#perform('scrubSlice', workflow, [input], { signal: null });
      if (hasRead && (state === 'finished' || state === 'waiting')) return;
      hasRead ||= state === 'reading' || state === 'finished';
      await time.sleep(Math.max(1_000, pauseMs));
    }
  }

  /** Starts the delivery, or signals the running one that there is work. */
  requestDelivery(): void {
    this.#isDue = true;
    this.#wake();
    this.#delivery ??= this.#deliver().finally(() => {
      this.#delivery = null;
    });
  }

  /** True if a delivery is running. */
  get isDelivering(): boolean {
    return this.#delivery !== null;
  }

  /** Does what workflows/deliver.ts does. */
  async #deliver(): Promise<void> {
    const { installation, time, tell } = this.#options;
    const workflow = this.#workflow('deliver');
    for (let failures = 0; ; ) {
      this.#isDue = false;
      let pauseMs: number | null;
      try {
        const args: [{ installation: number; searchAttributes: boolean }] = [{ installation, searchAttributes: false }];
        const report = await this.#perform('deliverSlice', workflow, args, { signal: null, attemptsAtMost: 1 });
        failures = 0;
        pauseMs = pauseAfter(report);
        tell(`a slice: ${JSON.stringify(report)}`);
      } catch (error) {
        tell(`the slice failed: ${String(error)}`);
        failures += 1;
        pauseMs = Math.min(longestPauseMs, failedPauseMs * 2 ** (failures - 1));
      }
      if (this.#isDue) continue;
      if (pauseMs === null) return;
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([woken, time.sleep(pauseMs)]);
    }
  }

  #workflow(kind: string): { workflowId: string; runId: string } {
    const { installation } = this.#options;
    this.#runs += 1;
    return { workflowId: `${kind}/${installation}`, runId: `run ${this.#runs} of ${installation}` };
  }

  async #perform<Name extends keyof Activities>(
    name: Name,
    workflow: { workflowId: string; runId: string },
    args: Parameters<Activities[Name]>,
    { signal, attemptsAtMost }: { signal: AbortSignal | null; attemptsAtMost?: number },
  ): Promise<Awaited<ReturnType<Activities[Name]>>> {
    const { time, rng } = this.#options;
    const most = attemptsAtMost ?? (name === 'openWindow' ? openingAttempts : Number.POSITIVE_INFINITY);
    const note: Note = { activityId: `activity ${++this.#activities}`, details: undefined };
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const worker = await this.#worker();
      await time.sleep(rng.int(1, 30));
      try {
        return await this.#attempt(name, worker, { workflow, attempt, signal, note }, args);
      } catch (error) {
        signal?.throwIfAborted();
        const isFinal = error instanceof ApplicationFailure && error.nonRetryable;
        if (isFinal || attempt >= most) throw error;
        const asked = error instanceof ApplicationFailure ? error.nextRetryDelay : undefined;
        await time.sleep(
          typeof asked === 'number' ? asked : Math.min(longestRetryMs, 1_000 * 2 ** Math.min(attempt - 1, 10)),
        );
      }
    }
  }

  async #worker(): Promise<WorkerProcess> {
    const { time, rng, workers } = this.#options;
    for (;;) {
      const alive = workers();
      if (alive.length > 0) return rng.pick(alive);
      await time.sleep(1_000);
    }
  }

  /** Runs one attempt. Returns its result as Temporal receives it. */
  async #attempt<Name extends keyof Activities>(
    name: Name,
    worker: WorkerProcess,
    {
      workflow,
      attempt,
      signal,
      note,
    }: {
      workflow: { workflowId: string; runId: string };
      attempt: number;
      signal: AbortSignal | null;
      note: Note;
    },
    args: Parameters<Activities[Name]>,
  ): Promise<Awaited<ReturnType<Activities[Name]>>> {
    const { time, rng, tell, lostCompletions } = this.#options;
    const { activityId, details: heartbeatDetails } = note;
    const info = { attempt, activityId, activityType: name, heartbeatDetails, workflowExecution: workflow };
    const environment = new MockActivityEnvironment(info, { logger });
    const beatsAtAll = name !== 'closeWindow' && name !== 'failWindow' && name !== 'noteNotOpened';
    let heardMs = time.nowMs;
    environment.on('heartbeat', (details: unknown) => {
      heardMs = time.nowMs;
      note.details = details;
    });
    const cancel = () => environment.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    const over = new AbortController();
    const activity = worker.activities[name] as unknown as (...given: unknown[]) => Promise<unknown>;
    const work = worker.run(() => environment.run<unknown[], unknown, typeof activity>(activity, ...args));
    const told = work.then(
      (result) => this.#heard(name, lostCompletions()).then(() => result),
      (error) => this.#heard(name, lostCompletions()).then(() => Promise.reject(error)),
    );
    told.catch(() => undefined);
    const watch = async (): Promise<never> => {
      const timeoutMs = beatsAtAll ? heartbeatTimeoutMs : silentTimeoutMs;
      while (time.nowMs - heardMs < timeoutMs) await time.sleep(watchEveryMs, over.signal);
      this.repeated += 1;
      tell(`${name} of ${worker.holder} timed out${worker.isDead ? '' : ', though the process lives'}`);
      // A living worker learns of the time-out from the answer to its next heartbeat.
      if (!worker.isDead) time.at(time.nowMs + rng.int(1, 20_000), cancel);
      throw new TimedOut(`${name} timed out`);
    };
    const watching = watch();
    watching.catch(() => undefined);
    try {
      const result = await Promise.race([told, watching]);
      return result as Awaited<ReturnType<Activities[Name]>>;
    } finally {
      over.abort();
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Resolves when Temporal receives a completion. If the completion is lost, it never resolves. */
  async #heard(name: string, lost: number): Promise<void> {
    const { rng, time, tell } = this.#options;
    await time.sleep(rng.int(1, 10));
    if (!rng.chance(lost)) return;
    tell(`the completion of ${name} is lost`);
    await new Promise(() => undefined);
  }
}

function pauseAfter({ nextDueMs, settled }: DeliveryReport): number | null {
  if (nextDueMs === null) return null;
  if (nextDueMs === 0 && settled > 0) return 0;
  return Math.min(longestPauseMs, Math.max(1_000, nextDueMs));
}
