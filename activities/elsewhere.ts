/**
 * Processes on one task queue may serve different installations, and Temporal gives a step to any of them. One that does not serve the
 * step's installation leaves it to another one: the attempt fails, is repeated soon, and counts for nothing.
 */

import { activityInfo, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { backoffMs } from '../src/domain/backoff.ts';
import type { ActivityDeps } from './deps.ts';
import { numberIn } from './log-ids.ts';

type Served = Pick<ActivityDeps, 'installations' | 'isServed'>;

/** Whether another process at work serves an installation, and this one does not. */
export async function isServedElsewhere({ installations, isServed }: Served, installation: number): Promise<boolean> {
  if (installations.has(installation) || isServed === undefined) return false;
  // Where the database does not answer, the next attempt finds out.
  return isServed(installation).catch(() => true);
}

/** These are not left: they need no configuration, or answer that another process has to take the next slice. */
const notLeft: ReadonlySet<string> = new Set(['holdDelivery', 'scrubSlice', 'deliverSlice']);
/** These need no configuration, either. They are left for a while; then any process does them: a lost record leaves the window open. */
const endings: ReadonlySet<string> = new Set(['closeWindow', 'failWindow', 'noteNotOpened']);
const endingsLeftAtMost = 10;

type Activity = (...args: never[]) => Promise<unknown>;

/** The same activities; each leaves the work of an installation that only other processes serve to them. */
export function leavingElsewhere<Activities extends Record<string, Activity>>(
  activities: Activities,
  deps: Served,
): Activities {
  const leaving = Object.entries(activities).map(([name, activity]) => [
    name,
    async (...args: never[]) => {
      const installation = numberIn(args[0], 'installation');
      const isToRun = notLeft.has(name) || (endings.has(name) && activityInfo().attempt > endingsLeftAtMost);
      if (isToRun || installation === null || !(await isServedElsewhere(deps, installation))) return activity(...args);
      throw leave(installation);
    },
  ]);
  return Object.fromEntries(leaving) as Activities;
}

/** Between attempts that a process leaves: the process that serves the installation is to take the next one soon. */
const leavingPauses = { firstMs: 100, longestMs: 5_000 };

/** Fails this attempt, and has the next one know that it counts for nothing. */
function leave(installation: number): ApplicationFailure {
  const { attempt, elsewhere } = attemptsBefore();
  Context.current().heartbeat({ elsewhere: elsewhere + 1 });
  return ApplicationFailure.create({
    type: 'installation_elsewhere',
    message: `this process does not serve installation ${installation}: another one takes over attempt ${attempt}`,
    nextRetryDelay: backoffMs(elsewhere + 1, leavingPauses),
  });
}

/** Which attempt this is, without those that a process left to another one, and how many these were: every heartbeat carries their number. */
export function attemptsBefore(): { attempt: number; elsewhere: number } {
  const { attempt, heartbeatDetails } = activityInfo();
  const elsewhere = attempt > 1 ? (numberIn(heartbeatDetails, 'elsewhere') ?? 0) : 0;
  return { attempt: attempt - elsewhere, elsewhere };
}
