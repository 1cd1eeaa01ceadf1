/**
 * Watches that every installation gets its windows. Temporal drops a tick that comes too late, or while two windows are pending, and
 * tells nobody; this tells the log once, and once when it is over, and notes it for `status`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { closeEnded } from '../../activities/taking-over.ts';
import { isAdaptive, lateAfterSeconds } from '../domain/intervals.ts';
import type { App } from '../runtime/app.ts';
import type { Engine } from '../runtime/worker.ts';
import { pauseStates } from '../sync/pauses.ts';
import { noteSchedule, type ScheduleCounters, type WindowPace, windowPaces } from '../sync/schedule-state.ts';
import { scheduleCounters, setInterval as setScheduleInterval } from './schedules.ts';
import { type Intervals, idleAtMost, intervalOf } from './start.ts';

/** What the watch knows of an installation. */
export interface Watched {
  installation: number;
  /** Age of the source state that the books reflect; null before the first window closed. */
  lagSeconds: number | null;
  intervalSeconds: number;
  /** Whether somebody has paused its windows. */
  paused: boolean;
  /** Whether the lag, or without a window the time since the watch began, is more than two intervals. Never while it is paused. */
  late: boolean;
  /** Counters of its Schedule; null until they were read. */
  counters: Pick<ScheduleCounters, 'missed' | 'skipped' | 'dropped' | 'paused'> | null;
}

export interface Watch {
  /** The newest round, for metrics; no I/O. */
  watched(): Watched[];
  stop(): Promise<void>;
}

const watchEveryMs = 30_000;
/** Schedules that a round asks Temporal about: each question makes the server wake a workflow of its own. */
const askedAtMost = 20;
/** Installations that a line of the log names. */
const namedAtMost = 20;

export function startWatch(app: App, engine: Engine, intervals: Intervals, everyMs = watchEveryMs): Watch {
  const stopping = new AbortController();
  const round = new Watcher(app, engine, intervals);
  const running = (async () => {
    for (;;) {
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      try {
        await round.look(stopping.signal);
      } catch (err) {
        // An outage is told by itself.
        const isKnown = app.outages.of('temporal') !== null || app.outages.of('postgres') !== null;
        app.log[isKnown ? 'debug' : 'warn']({ err }, 'the windows could not be watched; it is tried again');
      }
    }
  })();
  return {
    watched: () => round.watched,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** One look after another; without a clock of its own, so that tests look when they want. */
export class Watcher {
  watched: Watched[] = [];
  readonly #app: App;
  readonly #engine: Engine;
  readonly #intervals: Intervals;
  readonly #began: number;
  readonly #late = new Set<number>();
  /** When an installation's Schedule was last seen to miss a tick. */
  readonly #missedAt = new Map<number, number>();
  readonly #counters = new Map<number, ScheduleCounters>();
  #next = 0;

  constructor(app: App, engine: Engine, intervals: Intervals) {
    this.#app = app;
    this.#engine = engine;
    this.#intervals = intervals;
    this.#began = app.clock().getTime();
  }

  async look(signal: AbortSignal): Promise<void> {
    const app = this.#app;
    const installations = app.config.installations.map(({ id }) => id);
    const paces = await windowPaces(app.db, installations, idleAtMost(app));
    const now = app.clock().getTime();
    const pauses = await pauseStates(app.db, installations);
    const seen = paces.map((pace) => this.#watch(pace, pauses.get(pace.installation)?.isPaused ?? false, now));
    if (isAdaptive(app.config.schedule)) await this.#adapt(paces, signal);
    await this.#ask(seen, signal);
    this.watched = seen.map((one) => ({ ...one, counters: this.#counters.get(one.installation) ?? null }));
    this.#tellLate(this.watched);
    this.#tellMissed(now);
    await this.#closeEnded();
  }

  /** Notes the end of windows whose workflow has ended without noting it. */
  async #closeEnded(): Promise<void> {
    const { db, clock, log, events } = this.#app;
    const { workflow: workflows } = this.#engine.client;
    await closeEnded({ db, clock, log, workflows, onEvent: (event) => events.emit(event) });
  }

  #watch(pace: WindowPace, paused: boolean, now: number): Watched {
    const { installation, syncedTo, idleWindows } = pace;
    const timezone = this.#app.config.installations.find(({ id }) => id === installation)?.timezone ?? 'UTC';
    const situation = { timezone, at: new Date(now), idleWindows };
    const lagMs = syncedTo === null ? null : now - syncedTo.getTime();
    const lateAfterMs = lateAfterSeconds(this.#app.config.schedule, situation, syncedTo) * 1000;
    return {
      installation,
      lagSeconds: lagMs === null ? null : lagMs / 1000,
      intervalSeconds: intervalOf(this.#app, pace),
      paused,
      // A lag from before the start is made up for first.
      late: !paused && Math.min(lagMs ?? Number.POSITIVE_INFINITY, now - this.#began) > lateAfterMs,
      counters: null,
    };
  }

  /** Gives each Schedule the interval that holds now. */
  async #adapt(paces: readonly WindowPace[], signal: AbortSignal): Promise<void> {
    for (const pace of paces) {
      if (signal.aborted) return;
      const { installation } = pace;
      const every = intervalOf(this.#app, pace);
      if (this.#intervals.get(installation) === every) continue;
      await setScheduleInterval(this.#app, this.#engine, installation, every);
      this.#intervals.set(installation, every);
      this.#app.log.debug({ installation, interval_seconds: every }, 'windows open in another interval');
    }
  }

  /** Reads the counters of Schedules: of those that are behind first, and of the others in turns. */
  async #ask(seen: readonly Watched[], signal: AbortSignal): Promise<void> {
    const { config, db } = this.#app;
    const behind = seen.filter(({ lagSeconds, intervalSeconds }) => (lagSeconds ?? Infinity) > 1.5 * intervalSeconds);
    const turn = seen.map((_, place) => seen[(this.#next + place) % seen.length] as Watched);
    const asked = [...new Set([...behind.slice(0, askedAtMost / 2), ...turn])].slice(0, askedAtMost);
    this.#next = seen.length === 0 ? 0 : (this.#next + askedAtMost / 2) % seen.length;
    for (const { installation } of asked) {
      if (signal.aborted) return;
      const counters = await scheduleCounters(this.#app, this.#engine, installation);
      this.#counters.set(installation, counters);
      const missed = await noteSchedule(db, config.temporal.taskQueue, counters);
      if (missed > 0) this.#missed(installation);
    }
  }

  #missed(installation: number): void {
    const isNew = this.#missedAt.size === 0;
    this.#missedAt.set(installation, this.#app.clock().getTime());
    if (!isNew) return;
    this.#app.log.warn(
      { installation, missed: this.#counters.get(installation)?.missed },
      'windows do not open in time: Temporal was down or too busy to start them; the next ones cover them. See Temporal and its database. Told once; more installations may follow',
    );
  }

  #tellMissed(now: number): void {
    if (this.#missedAt.size === 0) return;
    const longestMs = Math.max(...this.#intervals.values(), this.#app.config.schedule.everySeconds) * 1000;
    // Each Schedule is asked in turns: only a whole turn without another miss tells that it is over.
    const turnMs = (this.watched.length / (askedAtMost / 2)) * watchEveryMs;
    const latest = Math.max(...this.#missedAt.values());
    if (now - latest <= longestMs + turnMs) return;
    this.#app.log.info(
      { installations: [...this.#missedAt.keys()].slice(0, namedAtMost), of: this.#missedAt.size },
      'windows open in time again',
    );
    this.#missedAt.clear();
  }

  #tellLate(seen: readonly Watched[]): void {
    const newly = seen.filter(({ installation, late }) => late && !this.#late.has(installation));
    const again = seen.filter(({ installation, late }) => !late && this.#late.has(installation));
    for (const { installation } of newly) this.#late.add(installation);
    for (const { installation } of again) this.#late.delete(installation);
    const lag = (of: readonly Watched[]) => Math.round(Math.max(...of.map(({ lagSeconds }) => lagSeconds ?? 0)));
    if (newly.length > 0)
      this.#app.log.warn(
        { ...forLog(newly), late: this.#late.size, lag_seconds: lag(newly) },
        'late: no window closed for more than two intervals; `vetledger status --check` names each with its cause',
      );
    if (again.length > 0) this.#app.log.info({ ...forLog(again), late: this.#late.size }, 'no longer late');
  }
}

/** One installation as every line of the log has it; several as a list. */
function forLog(some: readonly Watched[]): { installation?: number; installations?: number[]; of?: number } {
  const [only, ...more] = some;
  if (only !== undefined && more.length === 0) return { installation: only.installation };
  return { installations: some.slice(0, namedAtMost).map(({ installation }) => installation), of: some.length };
}
