/**
 * Watches that every installation gets its windows. Two rounds run beside each other. One reads lag and pauses from the database, so that
 * nothing of Temporal keeps them from being seen. The other looks after Temporal: it sets Schedules to their interval and to the pause of
 * their installation, makes one again that is gone, pauses one whose installation no process serves, and notes the end of windows that
 * could not note it. Temporal drops a tick that comes too late, or while two windows are pending, without a word; the watch logs it once,
 * and once when it is over, and notes it for `status`.
 */

import type { ScheduleSummary } from '@temporalio/client';
import { closeEnded } from '../../activities/taking-over.ts';
import { sleep } from '../domain/concurrency.ts';
import { lateAfterSeconds } from '../domain/intervals.ts';
import type { App } from '../runtime/app.ts';
import { ensureBound } from '../runtime/binding/bind.ts';
import type { Engine } from '../runtime/worker.ts';
import { type PauseState, pauseStates } from '../sync/pauses.ts';
import { noteSchedule, type ScheduleCounters, type WindowPace, windowPaces } from '../sync/schedule-state.ts';
import { answered, eachInstallation, hasOutage } from './each-installation.ts';
import { isPausedByOthers, ToldPauses, wantedState } from './pausing.ts';
import { scheduleId } from './schedule-names.ts';
import { pauseUnserved, scheduleCounters, setSchedule } from './schedules.ts';
import { type Intervals, idleAtMost, intervalSecondsOf } from './start.ts';

/** What the watch knows of an installation. */
export interface Watched {
  installation: number;
  /** Age of the source state that the books reflect; null before the first window closed. */
  lagSeconds: number | null;
  intervalSeconds: number;
  /** Whether somebody has paused its windows. */
  paused: boolean;
  /** Whether the lag, and the time for which the installation is watched, are more than two intervals. Never while it is paused. */
  late: boolean;
  /** Counters of its Schedule; null until they were read. */
  counters: Pick<ScheduleCounters, 'missed' | 'skipped' | 'dropped' | 'paused'> | null;
}

export interface Watch {
  /** The newest round, for metrics; no I/O. */
  watched(): Watched[];
  stop(): Promise<void>;
}

const watchEveryMs = 15_000;
/** Schedules that a round asks Temporal about: each question makes the server wake a workflow of its own. */
const askedAtMost = 10;
/** Installations that a line of the log names. */
const namedAtMost = 20;
const notLookedAfter = 'its schedule could not be looked after; it is tried again';

export function startWatch(app: App, engine: Engine, intervals: Intervals, everyMs = watchEveryMs): Watch {
  const stopping = new AbortController();
  const { signal } = stopping;
  const watcher = new Watcher(app, engine, intervals);
  const repeat = async (what: string, round: () => Promise<void>) => {
    for (; !signal.aborted; await sleep(everyMs, signal).catch(() => undefined)) {
      try {
        await round();
      } catch (err) {
        // An outage is logged by itself.
        app.log[hasOutage(app) ? 'debug' : 'warn']({ err }, `${what}; it is tried again`);
      }
    }
  };
  const running = [
    repeat('the windows could not be watched', () => watcher.look()),
    repeat('the schedules could not be looked after', () => watcher.tend(signal)),
  ];
  return {
    watched: () => watcher.watched,
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/** The rounds of the watch; without a clock of its own, so that tests begin them when they want. */
export class Watcher {
  readonly #app: App;
  readonly #engine: Engine;
  readonly #intervals: Intervals;
  /** Since when each installation is watched: from the start on, or from the reload that brought it. */
  #watchedSince: ReadonlyMap<number, number> = new Map();
  /** What the newest look saw. */
  #seen: Watched[] = [];
  #paces: WindowPace[] = [];
  #pauses: ReadonlyMap<number, PauseState> = new Map();
  readonly #late = new Set<number>();
  /** When an installation's Schedule was last seen to miss a tick. */
  readonly #missedAt = new Map<number, number>();
  readonly #counters = new Map<number, ScheduleCounters>();
  /** Whether an installation's Schedule was paused when Temporal last listed it. */
  readonly #listedPaused = new Map<number, boolean>();
  /** Installations whose Schedule was paused in Temporal. */
  readonly #pausedByOthers = new Set<number>();
  readonly #told: ToldPauses;
  #next = 0;

  constructor(app: App, engine: Engine, intervals: Intervals) {
    this.#app = app;
    this.#engine = engine;
    this.#intervals = intervals;
    this.#noteBeginnings(app.clock().getTime());
    this.#told = new ToldPauses(app);
  }

  get watched(): Watched[] {
    return this.#seen.map((one) => ({ ...one, counters: this.#counters.get(one.installation) ?? null }));
  }

  /** Reads lag and pauses from the database. Temporal is not asked. */
  async look(): Promise<void> {
    const app = this.#app;
    const installations = app.config.installations.map(({ id }) => id);
    this.#paces = await windowPaces(app.db, installations, idleAtMost(app));
    this.#pauses = await pauseStates(app.db, installations);
    const now = app.clock().getTime();
    this.#noteBeginnings(now);
    this.#seen = this.#paces.map((pace) => this.#watch(pace, this.#isPaused(pace.installation), now));
    this.#tellLate(this.#seen);
    await this.#told.look(installations, this.#pauses);
  }

  /** Looks after Temporal by what the newest look saw. What one step cannot do keeps none of the others; an outage ends the round. */
  async tend(signal: AbortSignal): Promise<void> {
    const { db, clock, log, events } = this.#app;
    const { workflow: workflows } = this.#engine.client;
    const onEvent: Parameters<typeof closeEnded>[0]['onEvent'] = (event) => events.emit(event);
    const steps: Record<string, () => Promise<unknown>> = {
      'schedules could not be set': () => this.#setSchedules(signal),
      'the counters of schedules could not be read': () => this.#ask(signal),
      'schedules without a process could not be paused': () => pauseUnserved(this.#app, this.#engine),
      'windows that have ended could not be noted': () => closeEnded({ db, clock, log, workflows, onEvent }),
    };
    for (const [failure, step] of Object.entries(steps)) {
      if (signal.aborted) return;
      try {
        await step();
      } catch (err) {
        if (hasOutage(this.#app)) throw err;
        log.warn({ err }, `${failure}; it is tried again`);
      }
    }
    this.#tellMissed(clock().getTime());
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
      // A lag from before is made up for first.
      late: !paused && Math.min(lagMs ?? Number.POSITIVE_INFINITY, watchedMs) > lateAfterMs,
      counters: null,
    };
  }

  /**
   * Gives each Schedule the interval and the pause that hold now, and makes one again that Temporal lacks: in the namespace that the database
   * is bound to, and in no other. Temporal's list may lack a Schedule that was made some seconds ago: it is set once more.
   */
  async #setSchedules(signal: AbortSignal): Promise<void> {
    const app = this.#app;
    const { client } = this.#engine;
    const listed = await answered(client, () => this.#listed());
    const shownOf = (installation: number) => listed.get(scheduleId(app, installation));
    if (this.#paces.some(({ installation }) => shownOf(installation) === undefined)) {
      await answered(client, () => ensureBound(app, client, { renews: false }));
    }
    await eachInstallation(app, this.#engine, this.#paces, { failure: notLookedAfter, signal }, async (pace) => {
      const { installation } = pace;
      const shown = shownOf(installation);
      const row = this.#isPaused(installation) ? (this.#pauses.get(installation) ?? null) : null;
      this.#listedPaused.set(installation, shown?.paused ?? false);
      if (shown !== undefined) this.#nameOthers(installation, row === null && isPausedByOthers(shown), shown.note);
      const every = intervalSecondsOf(app, pace);
      const isSet = shown !== undefined && wantedState(row, shown).paused === shown.paused;
      if (isSet && this.#intervals.get(installation) === every) return;
      const { isNew } = await setSchedule(app, this.#engine, installation, every);
      if (isNew) app.log.warn({ installation }, 'its schedule was gone from Temporal, and was made again');
      this.#intervals.set(installation, every);
      app.log.debug({ installation, interval_seconds: every }, 'the schedule was set');
    });
  }

  async #listed(): Promise<Map<string, ScheduleSummary['state']>> {
    const listed = new Map<string, ScheduleSummary['state']>();
    for await (const { scheduleId: id, state } of this.#engine.client.schedule.list()) listed.set(id, state);
    return listed;
  }

  /** Tells once of a Schedule that was paused in Temporal, and once when that is over. */
  #nameOthers(installation: number, isPaused: boolean, note = ''): void {
    if (isPaused === this.#pausedByOthers.has(installation)) return;
    if (isPaused) {
      this.#pausedByOthers.add(installation);
      this.#app.log.warn(
        { installation, reason: note },
        'the schedule was paused in Temporal: no windows open until it is resumed there, or with `vetledger resume`',
      );
    } else {
      this.#pausedByOthers.delete(installation);
      this.#app.log.info({ installation }, 'the schedule, which was paused in Temporal, opens windows again');
    }
  }

  /** Reads the counters of Schedules: of those that are behind first, and of the others in turns. */
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
      { failure: notLookedAfter, signal },
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
      'windows do not open in time: Temporal was down or too busy to start them; the next ones cover them. See Temporal and its database. Told once; more installations may follow',
    );
  }

  #tellMissed(now: number): void {
    if (this.#missedAt.size === 0) return;
    const longestMs = Math.max(...this.#intervals.values(), this.#app.config.schedule.everySeconds) * 1000;
    // Each Schedule is asked in turns: only a whole turn without another miss tells that it is over.
    const turnMs = (this.#seen.length / (askedAtMost / 2)) * watchEveryMs;
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
