import { makeContinueAsNewFunc } from '@temporalio/workflow';
import { activitiesAs } from './activities.ts';
import { checkWindowInput } from './inputs.ts';
import { firstLoadRunTimeout, type PausedOutcome, type WindowInput, type WindowOutcome } from './messages.ts';
import { working } from './options.ts';
import { allOrCancel } from './side-by-side.ts';
import { FirstLoadNeeded, runSteps } from './steps.ts';

const { pullInvoices, pullPrepayments, pullPayments, pullRows, scanRows } = activitiesAs(working);

/**
 * One window of one installation: pulls, posts and writes back everything that changed in the source since the last
 * closed window. The lists are pulled in parallel, since each has its own rate budget. The rows of changed invoices are
 * pulled last, so that they are no older than their invoices (proof P2). Lists that the opening has pulled are left
 * out. Before the first load, the run continues as `firstLoad`, so that Temporal can limit the run time of windows.
 */
export async function syncWindow(input: WindowInput): Promise<WindowOutcome | PausedOutcome> {
  checkWindowInput('window', input);
  try {
    return await runSteps(
      input,
      async (window, add, done) => {
        await allOrCancel(
          () => [
            ...(done.has('invoice') ? [] : [pullInvoices(input, window)]),
            ...(done.has('prepayment') ? [] : [pullPrepayments(input, window)]),
            ...(done.has('payment') ? [] : [pullPayments(input, window)]),
          ],
          add,
        );
        if (!done.has('row')) add(await pullRows(input, window));
      },
      { pullsAtOpen: true },
    );
  } catch (error) {
    if (!(error instanceof FirstLoadNeeded)) throw error;
    return makeContinueAsNewFunc<typeof firstLoad>({
      workflowType: 'firstLoad',
      workflowRunTimeout: firstLoadRunTimeout,
    })(input);
  }
}

/**
 * The first window of an installation, which reads everything. It scans all rows in parallel to the other lists, and
 * then pulls only the row sets that the scan did not cover. If another window has loaded everything meanwhile, it reads
 * only later changes.
 */
export async function firstLoad(input: WindowInput): Promise<WindowOutcome | PausedOutcome> {
  checkWindowInput('window', input);
  return runSteps(input, async (window, add) => {
    await allOrCancel(
      () => [
        pullInvoices(input, window),
        pullPrepayments(input, window),
        pullPayments(input, window),
        ...(window.from === null ? [scanRows(input, window)] : []),
      ],
      add,
    );
    add(await pullRows(input, window));
  });
}
