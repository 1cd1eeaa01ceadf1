import { type Client, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import type { App } from '../runtime/app.ts';
import { windowPause } from '../sync/pauses.ts';
import { isPausedByOthers } from './pausing.ts';
import { scheduleId } from './schedule-names.ts';

const callTimeoutMs = 10_000;

export interface Nudged {
  installation: number;
  /** `asked` means that a window opens. `no schedule` means that no daemon has run yet. */
  state: 'asked' | 'paused' | 'no schedule';
}

/**
 * Starts a window through the installation's Schedule, unless windows are paused. If a window is running, the new one
 * follows it.
 */
export async function nudgeNow(
  app: Pick<App, 'db' | 'temporalName' | 'config'>,
  client: Pick<Client, 'schedule' | 'withDeadline'>,
  installation: number,
): Promise<Nudged> {
  if (await windowPause(app.db, installation)) return { installation, state: 'paused' };
  const schedule = client.schedule.getHandle(scheduleId(app, installation));
  try {
    return await client.withDeadline(Date.now() + callTimeoutMs, async () => {
      // After a resumption the Schedule has our pause until the watch of the daemon removes it. It can be triggered meanwhile.
      if (isPausedByOthers((await schedule.describe()).state)) return { installation, state: 'paused' };
      await schedule.trigger(ScheduleOverlapPolicy.BUFFER_ONE);
      return { installation, state: 'asked' };
    });
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return { installation, state: 'no schedule' };
    throw error;
  }
}
