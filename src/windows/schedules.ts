import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { noteNudge } from '../mirror/installation-state.ts';
import type { App } from '../runtime/app.ts';
import { nameOnQueue } from '../runtime/deliveries.ts';
import type { Engine } from '../runtime/worker.ts';
import { staticDetails, windowInput } from './run-window.ts';

/** Temporal catch-up window. Missed runs need no replay: the cursors cover the gap. */
const catchupWindow = '1 minute';
/** Longest time for passing webhooks on to Temporal. */
const triggerTimeoutMs = 10_000;
/** The note of a schedule that pauseOrphanedSchedules paused. */
const orphanNote = 'the installation is no longer configured';

/**
 * The Temporal Schedule that opens an installation's windows on a task queue. Another queue has one of its own, so that daemons
 * with different queues leave each other's alone.
 */
function scheduleId(app: App, installation: number): string {
  return `sync-window/${nameOnQueue(app, installation)}`;
}

/**
 * Creates the schedule of an installation, or updates it to the current configuration, and opens a window. Windows never
 * overlap; at most one waits behind the running one. A schedule that an operator has paused stays paused.
 */
export async function ensureSchedule(app: App, engine: Engine, installation: number): Promise<void> {
  const id = scheduleId(app, installation);
  const policies = { overlap: ScheduleOverlapPolicy.BUFFER_ONE, catchupWindow } as const;
  const spec = { intervals: [{ every: app.config.schedule.everySeconds * 1000 }] };
  const action = {
    type: 'startWorkflow' as const,
    workflowType: 'syncWindow',
    workflowId: id,
    taskQueue: engine.taskQueue,
    args: [windowInput(app, engine, { installation, kind: 'window', trigger: 'schedule', fromDate: null })],
    staticSummary: `window of installation ${installation}`,
    staticDetails: staticDetails(installation),
  };
  try {
    await engine.client.schedule.create({
      scheduleId: id,
      spec,
      policies,
      action,
      state: { triggerImmediately: true },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const handle = engine.client.schedule.getHandle(id);
    let paused = false;
    await handle.update((previous) => {
      const { note } = previous.state;
      // Our own pause of an orphaned schedule ends here; an operator's pause stays.
      paused = previous.state.paused && note !== orphanNote;
      return {
        ...previous,
        spec,
        policies,
        action,
        state: paused ? { paused, ...(note ? { note } : {}) } : { paused },
      };
    });
    if (paused)
      app.log.warn({ schedule: id }, 'the schedule was paused in Temporal and opens no windows until resumed there');
    else await handle.trigger(ScheduleOverlapPolicy.BUFFER_ONE);
  }
}

/** Pauses the schedules of this database and task queue whose installation is no longer configured. */
export async function pauseOrphanedSchedules(app: App, engine: Engine): Promise<void> {
  const configured = new Set(app.config.installations.map((installation) => scheduleId(app, installation.id)));
  for await (const schedule of engine.client.schedule.list()) {
    const ours = new RegExp(`^sync-window/\\d+-${app.databaseId}(-|$)`).test(schedule.scheduleId);
    if (!ours || configured.has(schedule.scheduleId) || schedule.state.paused) continue;
    const handle = engine.client.schedule.getHandle(schedule.scheduleId);
    // Its action tells the owner: the name alone does not, for schedules made before it held the queue.
    if ((await handle.describe()).action.taskQueue !== engine.taskQueue) continue;
    await handle.pause(orphanNote);
    app.log.warn(
      { schedule: schedule.scheduleId },
      'paused the schedule of an installation that is no longer configured',
    );
  }
}

/**
 * Opens a window now through the installation's schedule, or lets one more follow the running window. Does nothing while the
 * schedule is paused. `webhooks` is the number of webhooks behind this trigger.
 */
export async function triggerSchedule(app: App, engine: Engine, installation: number, webhooks: number): Promise<void> {
  await engine.client.withDeadline(Date.now() + triggerTimeoutMs, async () => {
    const schedule = engine.client.schedule.getHandle(scheduleId(app, installation));
    const { paused } = (await schedule.describe()).state;
    app.log.info(
      { installation, webhooks },
      paused ? 'webhooks came, and the schedule is paused' : 'nudged by webhooks',
    );
    if (paused) return;
    await noteNudge(app.db, installation);
    await schedule.trigger(ScheduleOverlapPolicy.BUFFER_ONE);
  });
}
