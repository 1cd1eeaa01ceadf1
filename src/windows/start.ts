import { sleep } from '../domain/concurrency.ts';
import { intervalSeconds } from '../domain/intervals.ts';
import type { App } from '../runtime/app.ts';
import type { Engine } from '../runtime/worker.ts';
import { endedSince, type WindowPace, windowPaces } from '../sync/schedule-state.ts';
import { eachInstallation } from './each-installation.ts';
import { openNow, setSchedule } from './schedules.ts';

/** Parallel calls to Temporal. Each takes some milliseconds, and 300 in sequence would take a minute. */
const schedulesAtATime = 8;
/** Windows that a starting daemon runs in parallel. More would share the cores, and none would end sooner. */
const startsAtATime = 8;
/**
 * The next window starts after this time even if the limit is reached, because a large first load takes hours and
 * mostly waits for its rate budget.
 */
const startsApartMs = 1_000;
const lookEveryMs = 100;

/** The interval in seconds of each installation's Schedule. */
export type Intervals = Map<number, number>;

export function idleAtMost({ config }: App): number {
  return config.schedule.idle?.afterWindows ?? 0;
}

/** Seconds between two windows of an installation; longer if its last windows found nothing. */
export function intervalSecondsOf({ config, clock }: App, { installation, idleWindows }: WindowPace): number {
  const timezone = config.installations.find(({ id }) => id === installation)?.timezone ?? 'UTC';
  return intervalSeconds(config.schedule, { timezone, at: clock(), idleWindows });
}

/**
 * Creates or updates the Schedule of each installation. Returns their intervals, and the installations with a running
 * Schedule whose window is due now. An installation that is not due waits for its next tick.
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
    // A single installation gets its window at once, as the user who starts the daemon expects.
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
 * Starts the windows that are due when a daemon starts, longest wait first. The next one starts when fewer than the
 * limit are running, or after `apartMs`. An installation whose Schedule has started one meanwhile is skipped.
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

/** Waits until fewer windows than the limit are running, for at most `apartMs`. Removes ended ones from `underWay`. */
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
