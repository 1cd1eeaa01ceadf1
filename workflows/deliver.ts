import {
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  rootCause,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { DeliveryView } from './delivery-view.ts';
import { type DeliveryInput, type DeliveryReport, dueSignalName } from './messages.ts';
import { delivering } from './options.ts';

const { deliverSlice } = proxyActivities<Activities>(delivering);

const dueSignal = defineSignal(dueSignalName);
/** Between slices that settle nothing. */
const shortestPauseMs = 1_000;
const longestPauseMs = 300_000;
/** After the first slice that failed; twice as long after each further one. */
const failedPauseMs = 5_000;

/**
 * Delivers what is due of one installation to its ERP, slice after slice, and ends when nothing is due and nobody has said
 * otherwise. Whoever makes due work signals it, and starts it where it does not run. While the ERP is down it waits; a signal, or
 * the time that the slice named, begins the next slice.
 */
export async function deliver(input: DeliveryInput): Promise<void> {
  let isSignalled = false;
  setHandler(dueSignal, () => {
    isSignalled = true;
  });
  const view = new DeliveryView(input);
  let failures = 0;
  while (!workflowInfo().continueAsNewSuggested) {
    // A signal that comes from here on may tell of work that the slice does not see any more.
    isSignalled = false;
    let pauseMs: number | null;
    try {
      const report = await deliverSlice(input);
      failures = 0;
      pauseMs = pauseAfter(report);
      view.report(report);
    } catch (error) {
      if (isCancellation(error)) throw error;
      failures += 1;
      pauseMs = Math.min(longestPauseMs, failedPauseMs * 2 ** Math.min(failures - 1, 10));
      view.failed(rootCause(error) ?? 'an activity stopped without saying why', failures);
    }
    if (isSignalled) continue;
    // A signal that comes with the completion makes Temporal refuse it: the workflow goes on here with `isSignalled`.
    if (pauseMs === null) return;
    if (pauseMs > 0) await condition(() => isSignalled, pauseMs);
  }
  // The next run begins with a slice, so a signal of this moment is not lost.
  await continueAsNew<typeof deliver>(input);
}

/** Milliseconds until the next slice; null: none is needed. */
function pauseAfter({ nextDueMs, settled }: DeliveryReport): number | null {
  if (nextDueMs === null) return null;
  if (nextDueMs === 0 && settled > 0) return 0;
  return Math.min(longestPauseMs, Math.max(shortestPauseMs, nextDueMs));
}
