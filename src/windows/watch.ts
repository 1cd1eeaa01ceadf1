/**
 * Checks that every installation gets its windows. Two rounds run in parallel. One reads lag and pauses from the
 * database, independently of Temporal. The other maintains Temporal: it sets each Schedule to its interval and pause,
 * creates missing ones, pauses those whose installation no process serves, and records the end of windows that could
 * not do so. Temporal silently drops a tick that is too late, or that comes while two windows are pending. The watch
 * logs such misses once, and once when they are over, and stores them for `status`.
 */

import type { ScheduleSummary } from '@temporalio/client';
import { closeEnded } from '../../activities/taking-over.ts';
import { sleep } from '../domain/concurrency.ts';
import { lateAfterSeconds } from '../domain/intervals.ts';
import type { App } from '../runtime/app.ts';
import { ensureBound } from '../runtime/binding/bind.ts';
import type { Engine } from '../runtime/worker.ts';
import { type PauseState, pauseStates } from '../sync/pauses.ts';
import {
  noteListed,
  noteSchedule,
  type ScheduleCounters,
  type WindowPace,
  windowPaces,
} from '../sync/schedule-state.ts';
import { answered, eachInstallation, hasOutage } from './each-installation.ts';
import { isPausedByOthers, PauseEvents, wantedState } from './pausing.ts';
import { scheduleId } from './schedule-names.ts';
import { pauseUnserved, scheduleCounters, setSchedule } from './schedules.ts';
import { type Intervals, idleAtMost, intervalSecondsOf } from './start.ts';

export interface Watched {
  installation: number;
  /** Age of the source state that the books reflect; null before the first window closed. */
  lagSeconds: number | null;
  intervalSeconds: number;
  /** Whether the installation's windows are paused. */
  paused: boolean;
  /** Whether both the lag and the watched time exceed two intervals; false while the windows are paused. */
  late: boolean;
  /** Counters of the installation's Schedule; null before they were read. */
  counters: Pick<ScheduleCounters, 'missed' | 'skipped' | 'dropped' | 'paused'> | null;
}

export interface Watch {
  /** The result of the latest round, for metrics; without I/O. */
  watched(): Watched[];
  stop(): Promise<void>;
}

const watchEveryMs = 15_000;
/**
 * Number of Schedules that a round reads from Temporal. It is limited, because each request makes the server wake a
 * workflow.
 */
const askedAtMost = 10;
/** Limit of installations in a log line. */
const namedAtMost = 20;
const checkFailed = 'its schedule could not be checked; this is retried';

export function startWatch(app: App, engine: Engine, intervals: Intervals, everyMs = watchEveryMs): Watch {
  const stopping = new AbortController();
  const { signal } = stopping;
  const watcher = new Watcher(app, engine, intervals);
  const repeat = async (what: string, round: () => Promise<void>) => {
    for (; !signal.aborted; await sleep(everyMs, signal).catch(() => undefined)) {
      try {
        await round();
      } catch (err) {
        // An outage is logged separately.
        app.log[hasOutage(app) ? 'debug' : 'warn']({ err }, `${what}; this is retried`);
      }
    }
  };
  const running = [
    repeat('the windows could not be checked', () => watcher.look()),
    repeat('the schedules could not be checked', () => watcher.tend(signal)),
  ];
  return {
    watched: () => watcher.watched,
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/** The rounds of the watch. It has no timer, so that tests can start a round at any time. */
export class Watcher {
  readonly #app: App;
  readonly #engine: Engine;
  readonly #intervals: Intervals;
  /**
   * The time from which each installation is watched: the start of the daemon, or the reload that added the
   * installation.
   */
  #watchedSince: ReadonlyMap<number, number> = new Map();
  /** The result of the latest look. */
  #seen: Watched[] = [];
  #paces: WindowPace[] = [];
  #pauses: ReadonlyMap<number, PauseState> = new Map();
  readonly #late = new Set<number>();
  /** When a missed tick of an installation's Schedule was last seen. */
  readonly #missedAt = new Map<number, number>();
  readonly #counters = new Map<number, ScheduleCounters>();
  /** Whether an installation's Schedule was paused when Temporal last listed it. */
  readonly #listedPaused = new Map<number, boolean>();
  /** Installations whose Schedule was paused in Temporal. */
  readonly #pausedByOthers = new Set<number>();
  readonly #pauseEvents: PauseEvents;
  #next = 0;

  constructor(app: App, engine: Engine, intervals: Intervals) {
    this.#app = app;
    this.#engine = engine;
    this.#intervals = intervals;
    this.#noteBeginnings(app.clock().getTime());
    this.#pauseEvents = new PauseEvents(app);
  }

  get watched(): Watched[] {
    return this.#seen.map((one) => ({ ...one, counters: this.#counters.get(one.installation) ?? null }));
  }

  /** Reads lag and pauses from the database, without Temporal. */
  async look(): Promise<void> {
    const app = this.#app;
    const installations = app.config.installations.map(({ id }) => id);
    this.#paces = await windowPaces(app.db, installations, idleAtMost(app));
    this.#pauses = await pauseStates(app.db, installations);
    const now = app.clock().getTime();
    this.#noteBeginnings(now);
    this.#seen = this.#paces.map((pace) => this.#watch(pace, this.#isPaused(pace.installation), now));
    this.#logLate(this.#seen);
    await this.#pauseEvents.look(installations, this.#pauses);
  }

  /**
   * Sets the Schedules in Temporal, reads their counters, pauses those without a process, and records ends of windows. If
   * one step fails, the others still run. An outage ends the round.
   */
  async tend(signal: AbortSignal): Promise<void> {
    const { db, clock, log, events } = this.#app;
    const { workflow: workflows } = this.#engine.client;
    const onEvent: Parameters<typeof closeEnded>[0]['onEvent'] = (event) => events.emit(event);
    const steps: Record<string, () => Promise<unknown>> = {
      'schedules could not be set': () => this.#setSchedules(signal),
      'the counters of schedules could not be read': () => this.#ask(signal),
      'schedules without a process could not be paused': () => pauseUnserved(this.#app, this.#engine),
      'the ends of windows could not be recorded': () => closeEnded({ db, clock, log, workflows, onEvent }),
    };
    for (const [failure, step] of Object.entries(steps)) {
      if (signal.aborted) return;
      try {
        await step();
      } catch (err) {
        if (hasOutage(this.#app)) throw err;
        log.warn({ err }, `${failure}; this is retried`);
      }
    }
    this.#logMissed(clock().getTime());
  }

  #noteBeginnings(now: number): void {
    const ids = this.#app.config.installations.map(({ id }) => id);
    this.#watchedSince = new Map(ids.map((id) => [id, this.#watchedSince.get(id) ?? now]));
  }

  #isPaused(installation: number): boolean {
    return this.#pauses.get(installation)?.isPaused ?? false;
  }

  #watch(pace: WindowPace, paused: boolean, now: number): Watched {
    const { installation, syncedTo, idleWindows } = pace;
    const timezone = this.#app.config.installations.find(({ id }) => id === installation)?.timezone ?? 'UTC';
    const situation = { timezone, at: new Date(now), idleWindows };
    const lagMs = syncedTo === null ? null : now - syncedTo.getTime();
    const watchedMs = now - (this.#watchedSince.get(installation) ?? now);
    const lateAfterMs = lateAfterSeconds(this.#app.config.schedule, situation, syncedTo) * 1000;
    return {
      installation,
      lagSeconds: lagMs === null ? null : lagMs / 1000,
      intervalSeconds: intervalSecondsOf(this.#app, pace),
      paused,
      // The daemon may first have to catch up on a lag from the time before the watch.
      late: !paused && Math.min(lagMs ?? Number.POSITIVE_INFINITY, watchedMs) > lateAfterMs,
      counters: null,
    };
  }

  /**
   * Gives each Schedule its current interval and pause, and creates missing ones, but only in the namespace that the
   * database is bound to. Temporal's list may lack a Schedule that was just created; it is then set again.
   */
  async #setSchedules(signal: AbortSignal): Promise<void> {
    const app = this.#app;
    const { client } = this.#engine;
    const listed = await answered(client, () => this.#listed());
    const shownOf = (installation: number) => listed.get(scheduleId(app, installation))?.state;
    await noteListed(
      app.db,
      app.config.temporal.taskQueue,
      this.#paces.map(({ installation }) => {
        const found = listed.get(scheduleId(app, installation));
        const next = found === undefined || found.state.paused ? null : (found.info.nextActionTimes[0] ?? null);
        return { installation, nextAt: next, isMissing: found === undefined };
      }),
    );
    if (this.#paces.some(({ installation }) => shownOf(installation) === undefined)) {
      await answered(client, () => ensureBound(app, client, { renews: false }));
    }
    await eachInstallation(app, this.#engine, this.#paces, { failure: checkFailed, signal }, async (pace) => {
      const { installation } = pace;
      const shown = shownOf(installation);
      const row = this.#isPaused(installation) ? (this.#pauses.get(installation) ?? null) : null;
      this.#listedPaused.set(installation, shown?.paused ?? false);
      if (shown !== undefined)
        this.#logPausedByOthers(installation, row === null && isPausedByOthers(shown), shown.note);
      const every = intervalSecondsOf(app, pace);
      const isSet = shown !== undefined && wantedState(row, shown).paused === shown.paused;
      if (isSet && this.#intervals.get(installation) === every) return;
      const { isNew } = await setSchedule(app, this.#engine, installation, every);
      if (isNew) app.log.warn({ installation }, 'its schedule was missing in Temporal, and was created again');
      this.#intervals.set(installation, every);
      app.log.debug({ installation, interval_seconds: every }, 'the schedule was set');
    });
  }

  async #listed(): Promise<Map<string, ScheduleSummary>> {
    const listed = new Map<string, ScheduleSummary>();
    for await (const summary of this.#engine.client.schedule.list()) listed.set(summary.scheduleId, summary);
    return listed;
  }

  /** Logs once that a Schedule was paused in Temporal, and once when that is over. */
  #logPausedByOthers(installation: number, isPaused: boolean, note = ''): void {
    if (isPaused === this.#pausedByOthers.has(installation)) return;
    if (isPaused) {
      this.#pausedByOthers.add(installation);
      this.#app.log.warn(
        { installation, reason: note },
        'the schedule was paused in Temporal: no window opens until it is resumed there, or by `vetledger resume`',
      );
    } else {
      this.#pausedByOthers.delete(installation);
      this.#app.log.info({ installation }, 'the schedule was resumed after a pause in Temporal');
    }
  }

  /** Reads the counters of Schedules: first of those that are behind, then of the others in turn. */
  async #ask(signal: AbortSignal): Promise<void> {
    const { config, db } = this.#app;
    const seen = this.#seen;
    const isNews = ({ installation }: Watched) =>
      (this.#listedPaused.get(installation) ?? false) !== (this.#counters.get(installation)?.paused ?? false);
    const behind = seen.filter((one) => isNews(one) || (one.lagSeconds ?? Infinity) > 1.5 * one.intervalSeconds);
    const turn = seen.map((_, place) => seen[(this.#next + place) % seen.length] as Watched);
    const asked = [...new Set([...behind.slice(0, askedAtMost / 2), ...turn])].slice(0, askedAtMost);
    this.#next = seen.length === 0 ? 0 : (this.#next + askedAtMost / 2) % seen.length;
    await eachInstallation(
      this.#app,
      this.#engine,
      asked,
      { failure: checkFailed, signal },
      async ({ installation }) => {
        const counters = await scheduleCounters(this.#app, this.#engine, installation);
        this.#counters.set(installation, counters);
        const missed = await noteSchedule(db, config.temporal.taskQueue, counters);
        if (missed > 0) this.#missed(installation);
      },
    );
  }

  #missed(installation: number): void {
    const isNew = this.#missedAt.size === 0;
    this.#missedAt.set(installation, this.#app.clock().getTime());
    if (!isNew) return;
    this.#app.log.warn(
      { installation, missed: this.#counters.get(installation)?.missed },
      'windows do not open in time, because Temporal was down or too busy; the next windows cover them. Check Temporal and its database. This is logged once, although more installations may be affected',
    );
  }

  #logMissed(now: number): void {
    if (this.#missedAt.size === 0) return;
    const longestMs = Math.max(...this.#intervals.values(), this.#app.config.schedule.everySeconds) * 1000;
    // The Schedules are read in turn. So only a complete turn without another miss shows that the misses are over.
    const turnMs = (this.#seen.length / (askedAtMost / 2)) * watchEveryMs;
    const latest = Math.max(...this.#missedAt.values());
    if (now - latest <= longestMs + turnMs) return;
    this.#app.log.info(
      { installations: [...this.#missedAt.keys()].slice(0, namedAtMost), of: this.#missedAt.size },
      'windows open in time again',
    );
    this.#missedAt.clear();
  }

  #logLate(seen: readonly Watched[]): void {
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

/** Log fields: one installation as a number, several as a list. */
function forLog(some: readonly Watched[]): { installation?: number; installations?: number[]; of?: number } {
  const [only, ...more] = some;
  if (only !== undefined && more.length === 0) return { installation: only.installation };
  return { installations: some.slice(0, namedAtMost).map(({ installation }) => installation), of: some.length };
}
