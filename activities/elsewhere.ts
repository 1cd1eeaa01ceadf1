/**
 * Processes on one task queue may serve different installations, and Temporal may give a step to any of them. A process
 * that does not serve the step's installation leaves the step to another one: the attempt fails, is repeated soon, and
 * does not count.
 */

import { activityInfo, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { backoffMs } from '../src/domain/backoff.ts';
import { workflowTexts } from '../src/texts/temporal.ts';
import type { ActivityDeps } from './deps.ts';
import { numberIn } from './log-ids.ts';

type Served = Pick<ActivityDeps, 'installations' | 'isServed'>;

/** Whether another running process serves an installation, and this one does not. */
export async function isServedElsewhere({ installations, isServed }: Served, installation: number): Promise<boolean> {
  if (installations.has(installation) || isServed === undefined) return false;
  // If the database does not answer, the next attempt checks again.
  return isServed(installation).catch(() => true);
}

/**
 * Activities that run in any process: they need no configuration, or they return that another process must take the
 * next slice.
 */
const runAnywhere: ReadonlySet<string> = new Set(['holdDelivery', 'scrubSlice', 'deliverSlice']);
/**
 * Activities that record how a window ended. They need no configuration either, but the process of the installation
 * gets ten attempts first. After that any process runs them, since a lost record would leave the window open.
 */
const endingActivities: ReadonlySet<string> = new Set(['closeWindow', 'failWindow', 'noteNotOpened']);
const attemptsWhereServed = 10;

type Activity = (...args: never[]) => Promise<unknown>;

/** Wraps the activities: an activity fails at once if only other processes serve its installation. */
export function onlyWhereServed<Activities extends Record<string, Activity>>(
  activities: Activities,
  deps: Served,
): Activities {
  const wrapped = Object.entries(activities).map(([name, activity]) => [
    name,
    async (...args: never[]) => {
      const installation = numberIn(args[0], 'installation');
      const isToRun =
        runAnywhere.has(name) || (endingActivities.has(name) && activityInfo().attempt > attemptsWhereServed);
      if (isToRun || installation === null || !(await isServedElsewhere(deps, installation))) return activity(...args);
      throw leftToOther(installation);
    },
  ]);
  return Object.fromEntries(wrapped) as Activities;
}

/**
 * Pauses between attempts that a process leaves to others. They are short, so that the serving process gets the step
 * soon.
 */
const pauses = { firstMs: 100, longestMs: 5_000 };

/** Fails this attempt. The heartbeat carries the number of such attempts, so that they do not count. */
function leftToOther(installation: number): ApplicationFailure {
  const { attempt, elsewhere } = attemptsBefore();
  Context.current().heartbeat({ elsewhere: elsewhere + 1 });
  return ApplicationFailure.create({
    type: 'installation_elsewhere',
    message: workflowTexts.servedElsewhere({ installation, attempt }),
    nextRetryDelay: backoffMs(elsewhere + 1, pauses),
  });
}

/**
 * The number of this attempt without those that a process left to another one, and the number of these. Every heartbeat
 * carries the latter.
 */
export function attemptsBefore(): { attempt: number; elsewhere: number } {
  const { attempt, heartbeatDetails } = activityInfo();
  const elsewhere = attempt > 1 ? (numberIn(heartbeatDetails, 'elsewhere') ?? 0) : 0;
  return { attempt: attempt - elsewhere, elsewhere };
}
