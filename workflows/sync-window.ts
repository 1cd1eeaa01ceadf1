import { makeContinueAsNewFunc } from '@temporalio/workflow';
import { activitiesAs } from './activities.ts';
import { checkWindowInput } from './inputs.ts';
import { firstLoadRunTimeout, type PausedOutcome, type WindowInput, type WindowOutcome } from './messages.ts';
import { working } from './options.ts';
import { allOrCancel } from './side-by-side.ts';
import { FirstLoadNeeded, runSteps } from './steps.ts';

const { pullInvoices, pullPrepayments, pullPayments, pullRows, scanRows } = activitiesAs(working);

/**
 * One window of one installation: everything that has changed in the source since the last closed window is pulled, posted and
 * written back. The lists are pulled at once, since each has its own budget. The rows of changed invoices are pulled last, so
 * that they are no older than their invoices (proof P2). What the opening of the window has pulled already is left out. Before the
 * first load the run goes on as `firstLoad`, so that Temporal bounds the runs of windows.
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
 * The first window of an installation, which reads everything. It scans all rows beside the other lists, and then pulls only the row
 * sets that the scan did not cover. Where another window has loaded everything meanwhile, it reads what has changed since.
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
