/**
 * Ends workflows that can end by themselves no more. A window's own time-out runs in its workflow, so it does not come where the
 * workflow's task fails: Temporal repeats the task for ever, and the Schedule lets no further window begin. What is ended here is
 * told once, and noted in the window's row; whatever follows it goes on from the tables.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { summed } from '../../activities/ending.ts';
import { noCounts } from '../../workflows/messages.ts';
import { freeLease, leaseHolders } from '../db/lease.ts';
import type { DaemonEvent } from '../domain/events.ts';
import { endCodes, explainedEnd } from '../domain/trouble.ts';
import type { App } from '../runtime/app.ts';
import type { Engine } from '../runtime/worker.ts';
import { endWindowRow, insertFailedWindow, openWindowOfRun, stepTroubles } from '../sync/sync-windows.ts';
import { triggerOf } from './schedule-names.ts';
import { startScrubs } from './scrubs.ts';
import { UnopenedWatch } from './unopened.ts';

export interface StuckTimes {
  everyMs: number;
  /** A task must be found failing for so long: a busy worker, or one that was killed, fails a task once. */
  failingMs: number;
  /** A window must be found without its lease for so long. Its activities renew it, and are tried again within a minute. */
  idleMs: number;
}

/** `everyMs` and `failingMs` are less than a minute together: the next window begins within `window_timeout_minutes` and 60 s. */
export const usualTimes: StuckTimes = { everyMs: 15_000, failingMs: 25_000, idleMs: 120_000 };
/** A window may wait so much longer than its time-out for another one (activities/taking-over.ts). */
const openingGraceMs = 180_000;
/** Scrubs and deliveries live for long: so many are asked in a round, in turns. */
const askedAtMost = 10;
/** Workflows that a round looks at; more are looked at once these have ended. */
const listedAtMost = 1_000;
/** Windows that ended before they opened are looked for in one of so many rounds: nothing waits for their rows. */
const unopenedEveryRounds = 4;
/** Longest wait for an answer of Temporal. */
const callTimeoutMs = 10_000;

export interface Seen {
  kind: 'sync-window' | 'scrub' | 'deliver';
  ageMs: number;
  /** Of the workflow task that waits; null where none does. */
  taskAttempt: number | null;
  /** The window's row is there and open. */
  isOpen: boolean;
  /** It loads everything, which takes as long as it takes. */
  isFirstLoad: boolean;
  /** An activity of it works, or did lately. */
  holdsLease: boolean;
}

export type Stuck = 'failing' | 'idle';

/** Whether a workflow stands still as it was found now; whether it does so for long enough is told by the next looks. */
export function stuckNow(seen: Seen, timeoutMs: number): Stuck | null {
  const isFailing = (seen.taskAttempt ?? 0) > 1;
  if (seen.kind !== 'sync-window') return isFailing ? 'failing' : null;
  if (seen.isFirstLoad && seen.holdsLease) return null;
  if (isFailing) return 'failing';
  if (seen.holdsLease) return null;
  return seen.isOpen || seen.ageMs > 2 * timeoutMs + openingGraceMs ? 'idle' : null;
}

/**
 * Whether a workflow that was found so at every look for so long is ended: once it is older than a window may be. What stands still is
 * looked at for some minutes before that, so that nobody waits for them afterwards.
 */
export function isToEnd(
  stuck: Stuck,
  { ageMs, foundForMs }: { ageMs: number; foundForMs: number },
  { failingMs, idleMs }: StuckTimes,
  timeoutMs: number,
): boolean {
  return ageMs >= timeoutMs && foundForMs >= (stuck === 'failing' ? failingMs : idleMs);
}

interface Run {
  kind: Seen['kind'];
  installation: number;
  workflowId: string;
  runId: string;
  startedAt: Date;
}

export function startStuckWatch(app: App, engine: Engine, times: StuckTimes = usualTimes): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const round = new StuckWatch(app, engine, times);
  const unopened = new UnopenedWatch(app, engine);
  const running = (async () => {
    for (let rounds = 0; ; rounds += 1) {
      await sleep(times.everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      try {
        await round.look(stopping.signal);
        if (rounds % unopenedEveryRounds === 0) await unopened.look();
      } catch (err) {
        const isKnown = app.outages.of('temporal') !== null || app.outages.of('postgres') !== null;
        app.log[isKnown ? 'debug' : 'warn'](
          { err },
          'workflows that stand still were not looked for; it is tried again',
        );
      }
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** One look after another; without a clock of its own, so that tests look when they want. */
export class StuckWatch {
  readonly #app: App;
  readonly #engine: Engine;
  readonly #times: StuckTimes;
  /** By run: since when it was found so at every look. */
  readonly #found = new Map<string, { stuck: Stuck; since: number }>();
  #next = 0;

  constructor(app: App, engine: Engine, times: StuckTimes) {
    this.#app = app;
    this.#engine = engine;
    this.#times = times;
  }

  async look(signal: AbortSignal): Promise<void> {
    const runs = await this.#runs();
    const ids = new Set(runs.map(({ runId }) => runId));
    for (const runId of this.#found.keys()) if (!ids.has(runId)) this.#found.delete(runId);
    for (const run of this.#inTurn(runs)) {
      if (signal.aborted) return;
      await this.#lookAt(run);
    }
  }

  /** Windows, scrubs and deliveries of this daemon's queues that are older than a window may be, or are so within some looks. */
  async #runs(): Promise<Run[]> {
    const { client, taskQueue, backfillQueue, deliveryQueue } = this.#engine;
    const { idleMs, everyMs } = this.#times;
    const soonMs = idleMs + 2 * everyMs;
    const latest = new Date(this.#now() - Math.max(0, this.#timeoutMs() - soonMs)).toISOString();
    const queues = [taskQueue, backfillQueue, deliveryQueue].map((queue) => `'${queue}'`).join(', ');
    const query =
      `ExecutionStatus = 'Running' and TaskQueue in (${queues}) ` +
      `and WorkflowType in ('syncWindow', 'scrub', 'deliver') and StartTime < '${latest}'`;
    const runs: Run[] = [];
    await client.withDeadline(Date.now() + callTimeoutMs, async () => {
      for await (const { workflowId, runId, startTime } of client.workflow.list({ query })) {
        const [, kind, installation] = /^(sync-window|scrub|deliver)\/(\d+)-/.exec(workflowId) ?? [];
        if (kind === undefined) continue;
        runs.push({
          kind: kind as Run['kind'],
          installation: Number(installation),
          ...{ workflowId, runId, startedAt: startTime },
        });
        if (runs.length === listedAtMost) break;
      }
    });
    return runs;
  }

  /** All windows, and what was found standing still; of the others some. */
  #inTurn(runs: readonly Run[]): Run[] {
    const isFirst = ({ kind, runId }: Run) => kind === 'sync-window' || this.#found.has(runId);
    const others = runs.filter((run) => !isFirst(run)).toSorted((a, b) => a.workflowId.localeCompare(b.workflowId));
    const turn = others.map((_, place) => others[(this.#next + place) % others.length] as Run).slice(0, askedAtMost);
    this.#next = others.length === 0 ? 0 : (this.#next + askedAtMost) % others.length;
    return [...runs.filter(isFirst), ...turn];
  }

  async #lookAt(run: Run): Promise<void> {
    const stuck = await this.#stuckNow(run);
    const found = this.#found.get(run.runId);
    if (stuck === null) {
      this.#found.delete(run.runId);
      return;
    }
    const now = this.#now();
    if (found?.stuck !== stuck) {
      this.#found.set(run.runId, { stuck, since: now });
      return;
    }
    const times = { ageMs: now - run.startedAt.getTime(), foundForMs: now - found.since };
    if (!isToEnd(stuck, times, this.#times, this.#timeoutMs())) return;
    await this.#end(run, stuck);
    this.#found.delete(run.runId);
  }

  async #stuckNow(run: Run): Promise<Stuck | null> {
    const { client } = this.#engine;
    const { kind, installation, workflowId, runId, startedAt } = run;
    const isWindow = kind === 'sync-window';
    const handle = client.workflow.getHandle(workflowId, runId);
    const { status, raw } = await client.withDeadline(Date.now() + callTimeoutMs, () => handle.describe());
    if (status.name !== 'RUNNING') return null;
    const { db } = this.#app;
    const open = isWindow ? await openWindowOfRun(db, run) : null;
    const holders = isWindow ? await leaseHolders(db, installation) : [];
    const seen: Seen = {
      kind,
      ageMs: this.#now() - startedAt.getTime(),
      taskAttempt: raw.pendingWorkflowTask?.attempt ?? null,
      isOpen: open !== null,
      isFirstLoad: open !== null && open.from === null,
      holdsLease: holders.some(({ holder }) => holder === holderOf(run)),
    };
    return stuckNow(seen, this.#timeoutMs());
  }

  async #end(run: Run, stuck: Stuck): Promise<void> {
    const { client, requestDelivery } = this.#engine;
    const { kind, installation, workflowId, runId, startedAt } = run;
    const minutes = Math.max(1, Math.round((this.#now() - startedAt.getTime()) / 60_000));
    const why = `${reasons[stuck]}; vetledger has ended it after ${minutes} min`;
    try {
      const handle = client.workflow.getHandle(workflowId, runId);
      await client.withDeadline(Date.now() + callTimeoutMs, () => handle.terminate(why));
    } catch (error) {
      // It has ended meanwhile, or another daemon was sooner, which tells it.
      if (error instanceof WorkflowNotFoundError) return;
      throw error;
    }
    const window = kind === 'sync-window' ? await this.#noteEnd(run, why) : null;
    this.#app.log.error(
      { installation, ...(window === null ? {} : { window }), workflow_id: workflowId, run_id: runId, stuck },
      `a workflow stood still and was ended: ${why}. Nothing is lost: what follows goes on from there`,
    );
    if (kind === 'scrub') await startScrubs(this.#app, this.#engine);
    if (kind === 'deliver') await requestDelivery(installation);
  }

  /** Notes the end in the window's row, tells of it, and frees the lease, which the next window would wait for. */
  async #noteEnd(run: Run, why: string): Promise<number> {
    const { db, events, clock } = this.#app;
    const { installation, workflowId, runId, startedAt } = run;
    const ended = {
      code: endCodes.terminated,
      message: `the window of installation ${installation} stood still: ${why}`,
      todo: 'nothing is lost: the next window covers it; its history in Temporal tells more',
    };
    const ids = { workflow_id: workflowId, run_id: runId };
    const event = await db.transaction(async (trx): Promise<DaemonEvent & { window: number }> => {
      await freeLease(trx, { installation, lane: 'live' }, holderOf(run));
      const open = await openWindowOfRun(trx, run);
      if (open === null) {
        const attempt = {
          ...run,
          kind: 'window',
          trigger: triggerOf(run.workflowId),
          counts: noCounts,
          beganAt: startedAt,
        } as const;
        const window = await insertFailedWindow(trx, { ...attempt, error: ended });
        return { event: 'window_not_opened', installation, window, error: ended, ...ids };
      }
      const { id: window, from, to } = open;
      const { counts, trouble } = summed(await stepTroubles(trx, window), noCounts);
      const error = explainedEnd(ended, trouble, { now: clock(), limit: null });
      await endWindowRow(trx, { ...run, id: window }, { outcome: 'failed', counts, error });
      const report = { installation, window, from, to, outcome: 'failed', error, ...counts };
      return { event: 'window_failed', installation, window, report, ...ids };
    });
    events.emit(event);
    return event.window;
  }

  #timeoutMs(): number {
    return this.#app.config.windowTimeoutMinutes * 60_000;
  }

  #now(): number {
    return this.#app.clock().getTime();
  }
}

const reasons: Record<Stuck, string> = {
  failing: 'its workflow task fails again and again',
  idle: 'none of its activities works any more',
};

/** As whom a run holds a lease (activities/heartbeat.ts). */
function holderOf({ workflowId, runId }: Run): string {
  return `${workflowId}/${runId}`;
}
