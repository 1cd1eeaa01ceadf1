import { sleep } from '../domain/concurrency.ts';
import { intervalSeconds } from '../domain/intervals.ts';
import type { App } from '../runtime/app.ts';
import type { Engine } from '../runtime/worker.ts';
import { endedSince, type WindowPace, windowPaces } from '../sync/schedule-state.ts';
import { eachInstallation } from './each-installation.ts';
import { openNow, setSchedule } from './schedules.ts';

/** Calls to Temporal at a time: each takes some milliseconds, and 300 one after the other would take a minute. */
const schedulesAtATime = 8;
/** Windows that the start of a daemon opens and lets work side by side: more would share the cores, and none would be sooner. */
const startsAtATime = 8;
/** After so long the next one opens all the same: a large first load takes hours, and waits for its rate budget nearly all the time. */
const startsApartMs = 1_000;
const lookEveryMs = 100;

/** The interval of each installation, as its Schedule has it. */
export type Intervals = Map<number, number>;

export function idleAtMost({ config }: App): number {
  return config.schedule.idle?.afterWindows ?? 0;
}

/** Seconds between two windows of an installation, by what its windows found. */
export function intervalSecondsOf({ config, clock }: App, { installation, idleWindows }: WindowPace): number {
  const timezone = config.installations.find(({ id }) => id === installation)?.timezone ?? 'UTC';
  return intervalSeconds(config.schedule, { timezone, at: clock(), idleWindows });
}

/**
 * Creates the Schedule of each installation, or sets it to the configuration. Returns their intervals, and the installations whose
 * Schedule opens windows and whose window is due: one whose next tick is to come anyway is left to it.
 */
export async function startSchedules(app: App, engine: Engine): Promise<{ intervals: Intervals; due: number[] }> {
  const installations = app.config.installations.map(({ id }) => id);
  const paces = await windowPaces(app.db, installations, idleAtMost(app));
  const intervals: Intervals = new Map();
  const opening = new Set<number>();
  const failure = 'its schedule could not be set; the watch sets it';
  await eachInstallation(app, engine, paces, { failure, atATime: schedulesAtATime }, async (pace) => {
    const every = intervalSecondsOf(app, pace);
    const { paused } = await setSchedule(app, engine, pace.installation, every);
    intervals.set(pace.installation, every);
    const isDue = pace.openedAt === null || app.clock().getTime() - pace.openedAt.getTime() >= every * 1000;
    // One installation alone gets its window at once, as whoever starts the daemon expects.
    if (!paused && (isDue || installations.length === 1)) opening.add(pace.installation);
  });
  const waited = ({ openedAt }: WindowPace) => openedAt?.getTime() ?? 0;
  const due = paces
    .filter(({ installation }) => opening.has(installation))
    .sort((a, b) => waited(a) - waited(b))
    .map(({ installation }) => installation);
  return { intervals, due };
}

/**
 * Opens the windows that are due when a daemon starts, those that have waited longest first: the next one once there is room beside those
 * under way, or after `apartMs`. An installation whose Schedule has opened one meanwhile is passed over.
 */
export async function openDue(
  app: App,
  engine: Engine,
  due: readonly number[],
  signal: AbortSignal,
  apartMs = startsApartMs,
): Promise<void> {
  const since = app.clock();
  const underWay = new Set<number>();
  for (const installation of due) {
    try {
      const [pace] = await windowPaces(app.db, [installation], 0);
      if (pace?.openedAt && pace.openedAt >= since) continue;
      await roomBeside(app, underWay, since, { signal, apartMs });
      if (signal.aborted) return;
      await openNow(app, engine, installation);
      underWay.add(installation);
    } catch (err) {
      app.log.warn({ err, installation }, 'no window was opened at the start; the schedule opens the next one');
    }
  }
}

/** Waits until fewer windows than may work side by side are under way, for `apartMs` at most. Takes out those that have ended. */
async function roomBeside(
  { db }: App,
  underWay: Set<number>,
  since: Date,
  { signal, apartMs }: { signal: AbortSignal; apartMs: number },
): Promise<void> {
  for (let waitedMs = 0; underWay.size >= startsAtATime && !signal.aborted; waitedMs += lookEveryMs) {
    for (const ended of await endedSince(db, [...underWay], since)) underWay.delete(ended);
    if (underWay.size < startsAtATime || waitedMs >= apartMs) return;
    await sleep(lookEveryMs, signal).catch(() => undefined);
  }
}
