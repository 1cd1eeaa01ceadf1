import { ActivityCancellationType, type ActivityOptions, workflowInfo } from '@temporalio/workflow';

/**
 * Time-outs of activities. Temporal retries an activity without a heartbeat for `heartbeatTimeout` on another worker,
 * so this is the delay after a worker was killed. Activities send a heartbeat every 5 seconds
 * (activities/heartbeat.ts).
 */
const heartbeatTimeout = '30 seconds';

/**
 * Whether an endless workflow stays in its run. A new run begins after `renewedAfterMs`, or if Temporal suggests it.
 */
export function isToContinue(renewedAfterMs: number): boolean {
  const { continueAsNewSuggested, runStartTime } = workflowInfo();
  return !continueAsNewSuggested && Date.now() - runStartTime.getTime() < renewedAfterMs;
}

/** Attempts to record how a window ended. */
const closingAttempts = 20;

/**
 * Opens a window. If the source does not answer, it fails after a few attempts (activities/attempts.ts). The time-out
 * leaves room to wait for another window of the installation.
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
 * Opens a window and pulls its lists. On cancellation, the workflow waits until the activity has stopped: the window
 * may be open by then, and must end as cancelled.
 */
export const openingAndPulling: ActivityOptions = {
  ...opening,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};

/**
 * The work of a window. A retryable domain error is retried until the window is cancelled; any other error within the
 * limits of activities/attempts.ts. The workflow waits until a cancelled activity has stopped, so that no activity
 * works for an ended window.
 */
export const working: ActivityOptions = {
  startToCloseTimeout: '12 hours',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '60 seconds' },
};

/**
 * Reads from the database what a replay must request. Several attempts may reach processes that do not serve the
 * installation.
 */
export const planning: ActivityOptions = {
  startToCloseTimeout: '5 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds', maximumAttempts: 20 },
};

/**
 * A slice of the scrub, which waits for the rate budget for at most half an hour. The workflow retries a failed slice
 * after a pause.
 */
export const scrubbing: ActivityOptions = {
  startToCloseTimeout: '12 hours',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { maximumAttempts: 1 },
};

/**
 * A slice of delivery: some minutes of sending, then matching and writing back, each with its own limit. The workflow
 * retries a failed slice after a pause; the outbox knows what was sent.
 */
export const delivering: ActivityOptions = {
  startToCloseTimeout: '1 hour',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { maximumAttempts: 1 },
};

/**
 * Options for storing how a window ended. The activity is short and has many attempts, because the window stays open if
 * it fails.
 */
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
