import { condition, continueAsNew, defineSignal, isCancellation, rootCause, setHandler } from '@temporalio/workflow';
import { windowErrors } from '../src/texts/errors/windows.ts';
import { activitiesAs } from './activities.ts';
import { DeliveryView } from './delivery-view.ts';
import { checkDeliveryInput } from './inputs.ts';
import {
  type DeliveryInput,
  type DeliveryReport,
  dueSignalName,
  type HoldNote,
  holdNoteOf,
  holdSignalNames,
  longRuns,
} from './messages.ts';
import { closing, delivering, isToContinue } from './options.ts';

const { deliverSlice } = activitiesAs(delivering);
const { holdDelivery } = activitiesAs(closing);

const dueSignal = defineSignal(dueSignalName);
const pauseSignal = defineSignal<[unknown?]>(holdSignalNames.pause);
const resumeSignal = defineSignal<[unknown?]>(holdSignalNames.resume);
/** Pause limits after slices that settled nothing. */
const shortestPauseMs = 1_000;
const longestPauseMs = 300_000;
/** Pause after the first failed slice; it doubles with each further failure. */
const failedPauseMs = 5_000;
/** Limit of the pause while units are due but slices settle nothing. The pause doubles with each such slice. */
const longestIdlePauseMs = 60_000;

/**
 * Delivers the due units of one installation to its ERP, slice after slice, and ends when nothing is due. Code that
 * makes units due sends a signal, and starts the workflow if it is not running. While the ERP is down, the workflow
 * waits: a signal, or the time that the slice returned, starts the next slice.
 */
export async function deliver(input: DeliveryInput): Promise<void> {
  checkDeliveryInput(input);
  const view = new DeliveryView(input);
  let isSignalled = false;
  setHandler(dueSignal, () => {
    isSignalled = true;
  });
  const holds: { isPause: boolean; note: HoldNote }[] = [];
  const hold = (isPause: boolean) => (input?: unknown) => {
    const note = holdNoteOf(input);
    if (note) holds.push({ isPause, note });
    else view.ignore(isPause ? holdSignalNames.pause : holdSignalNames.resume);
    isSignalled = true;
  };
  setHandler(pauseSignal, hold(true));
  setHandler(resumeSignal, hold(false));
  const applyHolds = async () => {
    for (let next = holds.shift(); next; next = holds.shift()) await holdDelivery(input, next.isPause, next.note);
  };
  let failures = 0;
  let idleSlices = 0;
  while (isToContinue(longRuns.deliver.renewedAfterMs)) {
    await applyHolds();
    // A signal that arrives later may concern units that this slice does not see.
    isSignalled = false;
    let pauseMs: number | null;
    try {
      const report = await deliverSlice(input);
      failures = 0;
      idleSlices = report.settled > 0 ? 0 : idleSlices + 1;
      pauseMs = pauseAfter(report, idleSlices);
      view.report(report);
    } catch (error) {
      if (isCancellation(error)) throw error;
      failures += 1;
      pauseMs = Math.min(longestPauseMs, failedPauseMs * 2 ** Math.min(failures - 1, 10));
      view.failed(rootCause(error) ?? windowErrors.activityStopped, failures);
    }
    if (isSignalled) continue;
    // If a signal arrives together with the completion, Temporal refuses the completion, and the loop continues here.
    if (pauseMs === null) return;
    if (pauseMs > 0) await condition(() => isSignalled, pauseMs);
  }
  await applyHolds();
  // The next run begins with a slice, so a signal that arrives now is not lost.
  await continueAsNew<typeof deliver>(input);
}

/**
 * Milliseconds until the next slice; null if none is needed. `idleSlices` is the number of slices in a row that settled
 * nothing.
 */
function pauseAfter({ nextDueMs, settled }: DeliveryReport, idleSlices: number): number | null {
  if (nextDueMs === null) return null;
  if (nextDueMs === 0 && settled > 0) return 0;
  const idlePauseMs = Math.min(longestIdlePauseMs, shortestPauseMs * 2 ** Math.min(10, Math.max(0, idleSlices - 1)));
  return Math.min(longestPauseMs, Math.max(idlePauseMs, nextDueMs));
}
