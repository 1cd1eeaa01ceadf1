import { createHash } from 'node:crypto';
import {
  ScheduleAlreadyRunning,
  type ScheduleHandle,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { Duration } from '@temporalio/common';
import { spreadShare } from '../domain/intervals.ts';
import { storeNudge } from '../mirror/installation-state.ts';
import { type App, installationOf } from '../runtime/app.ts';
import { servedInstallations } from '../runtime/presence.ts';
import type { Engine } from '../runtime/worker.ts';
import { windowPause } from '../sync/pauses.ts';
import { nameSchedule, noteResting, otherSchedules, type ScheduleCounters } from '../sync/schedule-state.ts';
import { eachInstallation } from './each-installation.ts';
import { isPausedByOthers, wantedState } from './pausing.ts';
import { runTimeoutMs, staticDetails, windowInput, windowSummary } from './run-window.ts';
import { orphanNote, scheduleId } from './schedule-names.ts';

/**
 * Minimum time in which a late tick still starts its window, so that a busy or restarted server can catch up. Later
 * ticks start none: the next tick comes within an interval, and the cursors cover the gap.
 */
const shortestCatchupSeconds = 600;
/** Limit of the time to pass webhooks on to Temporal. */
const triggerTimeoutMs = 10_000;

export function scheduleHandle(app: App, engine: Engine, installation: number): ScheduleHandle {
  return engine.client.schedule.getHandle(scheduleId(app, installation));
}

interface Timing {
  spec: { intervals: { every: number; offset: number }[]; jitter: number };
  policies: { overlap: ScheduleOverlapPolicy; catchupWindow: Duration };
}

/**
 * The offset of an installation's windows in the interval. Each installation has a different offset, so that windows do
 * not all start at once. Temporal uses whole seconds. If there are more installations than seconds, jitter separates
 * those of one second.
 */
function timingOf(app: App, installation: number, everySeconds: number): Timing {
  const ids = app.config.installations.map(({ id }) => id).sort((a, b) => a - b);
  const share = spreadShare(Math.max(0, ids.indexOf(installation)), ids.length, turnOf(app));
  const every = Math.max(1, Math.floor(everySeconds));
  return {
    spec: {
      intervals: [{ every: every * 1000, offset: Math.floor(share * every) * 1000 }],
      jitter: ids.length > every ? Math.min(1_000, every * 100) : 0,
    },
    policies: {
      overlap: ScheduleOverlapPolicy.BUFFER_ONE,
      catchupWindow: Math.max(shortestCatchupSeconds, 2 * every) * 1000,
    },
  };
}

/**
 * An offset from 0 to 1 that differs for each database and task queue, so that installations on shared servers do not
 * start at the same second.
 */
function turnOf(app: App): number {
  const name = `${app.databaseId}/${app.config.temporal.taskQueue}`;
  return createHash('sha256').update(name).digest().readUInt32BE(0) / 2 ** 32;
}

/**
 * Creates the schedule of an installation, or updates it to the current configuration and to the pause of its windows.
 * Starts no window. Windows never overlap; at most one waits for the running one. Returns whether the schedule is
 * paused, and whether it is new.
 */
export async function setSchedule(
  app: App,
  engine: Engine,
  installation: number,
  everySeconds: number,
): Promise<{ paused: boolean; isNew: boolean }> {
  const { id, name } = installationOf(app.config, installation);
  const scheduled = scheduleId(app, installation);
  const timing = timingOf(app, installation, everySeconds);
  const action: ScheduleOptions['action'] = {
    type: 'startWorkflow',
    workflowType: 'syncWindow',
    workflowId: scheduled,
    taskQueue: engine.taskQueue,
    workflowRunTimeout: runTimeoutMs(app),
    args: [windowInput(app, engine, { installation, kind: 'window', trigger: 'schedule', fromDate: null })],
    staticSummary: windowSummary('window', { id, name }),
    staticDetails: staticDetails({ id, name }),
  };
  const pause = await windowPause(app.db, installation);
  let state = wantedState(pause, { paused: false });
  await nameSchedule(app.db, scheduleRows(app), installation);
  try {
    await engine.client.schedule.create({ scheduleId: scheduled, ...timing, action, state });
    return { paused: state.paused, isNew: true };
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await scheduleHandle(app, engine, installation).update((now) => {
      state = wantedState(pause, now.state);
      return { ...now, ...timing, action: action as typeof now.action, state };
    });
    return { paused: state.paused, isNew: false };
  }
}

/** Starts a window now. If a window is running, the new one follows it. */
export async function openNow(app: App, engine: Engine, installation: number): Promise<void> {
  await scheduleHandle(app, engine, installation).trigger(ScheduleOverlapPolicy.BUFFER_ONE);
}

/** Temporal's counters of an installation's schedule. */
export async function scheduleCounters(app: App, engine: Engine, installation: number): Promise<ScheduleCounters> {
  const { raw, info, state } = await scheduleHandle(app, engine, installation).describe();
  return {
    installation,
    missed: info.numActionsMissedCatchupWindow,
    skipped: info.numActionsSkippedOverlap,
    dropped: Number(raw.info?.bufferDropped ?? 0),
    paused: state.paused,
    note: state.note ?? null,
  };
}

/**
 * Pauses the Schedules of this database and task queue whose installation no running process serves, since their
 * windows could not open. A process that serves the installation again resumes its Schedule.
 */
export async function pauseUnserved(app: App, engine: Engine): Promise<void> {
  const { db, config, log } = app;
  const own = config.installations.map(({ id }) => id);
  const others = await otherSchedules(db, scheduleRows(app), own);
  if (others.length === 0) return;
  const served = await servedInstallations(db, config.temporal.taskQueue);
  const unserved = others.filter((id) => !served.has(id)).map((installation) => ({ installation }));
  const failure = 'its schedule could not be paused; this is retried';
  await eachInstallation(app, engine, unserved, { failure }, async ({ installation }) => {
    try {
      const handle = scheduleHandle(app, engine, installation);
      // A Schedule that was paused in Temporal stays paused, with its note.
      if (isPausedByOthers((await handle.describe()).state)) return;
      await handle.pause(orphanNote);
      log.warn({ installation }, `its schedule was paused: ${orphanNote} any more`);
    } catch (error) {
      // The Schedule was deleted in Temporal, or never created.
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    }
    await noteResting(db, scheduleRows(app), installation);
  });
}

/** Selects the database rows of this task queue's Schedules. */
function scheduleRows({ config }: App): { taskQueue: string; restNote: string } {
  return { taskQueue: config.temporal.taskQueue, restNote: orphanNote };
}

/**
 * Starts a window now through the installation's schedule. If a window is running, the new one follows it. Does nothing
 * while the schedule is paused. `webhooks` is the number of webhooks behind this trigger.
 */
export async function triggerSchedule(app: App, engine: Engine, installation: number, webhooks: number): Promise<void> {
  await engine.client.withDeadline(Date.now() + triggerTimeoutMs, async () => {
    const schedule = scheduleHandle(app, engine, installation);
    const { paused } = (await schedule.describe()).state;
    app.log.info(
      { installation, webhooks },
      paused ? 'webhooks arrived, but the schedule is paused' : 'nudged by webhooks',
    );
    if (paused) return;
    await storeNudge(app.db, installation);
    await schedule.trigger(ScheduleOverlapPolicy.BUFFER_ONE);
  });
}
