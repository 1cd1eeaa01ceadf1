import { activitiesAs } from './activities.ts';
import { checkWindowInput } from './inputs.ts';
import type { PausedOutcome, WindowInput, WindowOutcome } from './messages.ts';
import { working } from './options.ts';
import { allOrCancel, runSteps } from './steps.ts';

const { pullInvoices, pullPrepayments, pullPayments, pullRows, scanRows } = activitiesAs(working);

/**
 * One window of one installation: everything that has changed in the source since the last closed window is pulled, posted and
 * written back. The lists are pulled at once, since each has its own budget. The rows of changed invoices are pulled last, so
 * that they are no older than their invoices (proof P2). A first load scans all rows beside the other lists, and then pulls
 * only the row sets that the scan did not cover. What the opening of the window has pulled already is left out.
 */
export async function syncWindow(input: WindowInput): Promise<WindowOutcome | PausedOutcome> {
  checkWindowInput('window', input);
  return runSteps(input, async (window, add, done) => {
    await allOrCancel(
      () => [
        ...(done.has('invoice') ? [] : [pullInvoices(input, window)]),
        ...(done.has('prepayment') ? [] : [pullPrepayments(input, window)]),
        ...(done.has('payment') ? [] : [pullPayments(input, window)]),
        ...(window.from === null ? [scanRows(input, window)] : []),
      ],
      add,
    );
    if (!done.has('row')) add(await pullRows(input, window));
  });
}
