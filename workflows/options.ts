import { ActivityCancellationType, type ActivityOptions } from '@temporalio/workflow';

/**
 * Named time-out profiles. An activity that stops heartbeating is tried again elsewhere after `heartbeatTimeout`: what a killed
 * worker costs. It beats every 5 seconds, so that half a dozen beats have to fail to come.
 */
const heartbeatTimeout = '30 seconds';

/** Opening: the source is there within seconds, or the window does not open; another window is waited for until it has ended. */
export const opening: ActivityOptions = {
  startToCloseTimeout: '12 hours',
  heartbeatTimeout,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '5 seconds', maximumAttempts: 3 },
};

/** Work of a window: tried again until the window itself is given up. A window ends when its work has stopped, not before. */
export const working: ActivityOptions = {
  startToCloseTimeout: '12 hours',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '60 seconds' },
};

/** Noting how a window ended: short, and never given up lightly. */
export const closing: ActivityOptions = {
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds', maximumAttempts: 20 },
};
