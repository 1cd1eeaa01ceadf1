import { ActivityCancellationType, type ActivityOptions, workflowInfo } from '@temporalio/workflow';

/**
 * Named time-out profiles. An activity without a heartbeat for `heartbeatTimeout` is retried on another worker, so this is the
 * delay that a killed worker costs. Activities send a heartbeat every 5 seconds (activities/heartbeat.ts).
 */
const heartbeatTimeout = '30 seconds';

/** Whether a workflow without an end goes on in its run; a new run begins after so long, or when Temporal suggests it. */
export function isToGoOn(renewedAfterMs: number): boolean {
  const { continueAsNewSuggested, runStartTime } = workflowInfo();
  return !continueAsNewSuggested && Date.now() - runStartTime.getTime() < renewedAfterMs;
}

/** Attempts to record how a window ended. */
const closingAttempts = 20;

/**
 * Opening a window. A source that does not answer fails it after a few attempts (activities/attempts.ts); the time-out leaves room to wait for another
 * window of the installation.
 */
export const opening: ActivityOptions = {
  startToCloseTimeout: '12 hours',
  heartbeatTimeout,
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '5 seconds',
  },
};

/**
 * Opening a window that also pulls its lists. The workflow waits until the activity has stopped when it is cancelled: the window may
 * be open by then, and ends as cancelled.
 */
export const openingAndPulling: ActivityOptions = {
  ...opening,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};

/**
 * The work of a window: retried until the window itself is cancelled, where a domain error says that it may succeed later; for
 * any other reason as often as activities/attempts.ts says. The workflow waits until a cancelled activity has
 * stopped, so that nothing works on for a window that has ended.
 */
export const working: ActivityOptions = {
  startToCloseTimeout: '12 hours',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '60 seconds' },
};

/** Reading from the database what a replay is to ask. Several attempts may come to processes that do not serve the installation. */
export const planning: ActivityOptions = {
  startToCloseTimeout: '5 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds', maximumAttempts: 20 },
};

/** A slice of the scrub, which waits for the rate budget for half an hour at most. A failed one is tried again after a pause. */
export const scrubbing: ActivityOptions = {
  startToCloseTimeout: '12 hours',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { maximumAttempts: 1 },
};

/**
 * A slice of delivery: some minutes of sending, then matching and writing back, each with a limit of its own. A failed one is
 * tried again by the workflow, after a pause: what was sent is in the outbox.
 */
export const delivering: ActivityOptions = {
  startToCloseTimeout: '1 hour',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { maximumAttempts: 1 },
};

/** Recording how a window ended: short, with many attempts, because a lost record leaves the window open. */
export const closing: ActivityOptions = {
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout,
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '30 seconds',
    maximumAttempts: closingAttempts,
  },
};
