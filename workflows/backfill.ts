import { activitiesAs } from './activities.ts';
import { checkWindowInput } from './inputs.ts';
import type { PausedOutcome, WindowInput, WindowOutcome } from './messages.ts';
import { working } from './options.ts';
import { allOrCancel } from './side-by-side.ts';
import { runSteps } from './steps.ts';

const { backfillStream, completeRows, scanRows } = activitiesAs(working);

/**
 * Reads every list of one installation from its beginning, all lists in parallel. It runs beside the live windows with
 * lower priority, and never moves their cursors. After a stopped backfill, the next one resumes at the same pages.
 */
export async function backfill(input: WindowInput): Promise<WindowOutcome | PausedOutcome> {
  checkWindowInput('backfill', input);
  return runSteps(input, async (window, add) => {
    await allOrCancel(
      () => [
        backfillStream(input, window, 'invoice'),
        backfillStream(input, window, 'prepayment'),
        backfillStream(input, window, 'payment'),
        scanRows(input, window),
      ],
      add,
    );
    add(await completeRows(input, window));
  });
}
