import { patched, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { WindowInput, WindowOutcome } from './messages.ts';
import { working } from './options.ts';
import { allOrCancel, runSteps } from './steps.ts';

const { pullInvoices, pullPrepayments, pullPayments, pullRows, scanRows } = proxyActivities<Activities>(working);

/**
 * One window of one installation: everything that has changed in the source since the last closed window is pulled, posted and
 * written back. The lists are pulled at once, since each has its own budget. The rows of changed invoices are pulled last, so
 * that they are no older than their invoices (proof P2). A first load scans all rows beside the other lists, and then pulls
 * only the row sets that the scan did not cover.
 */
export async function syncWindow(input: WindowInput): Promise<WindowOutcome> {
  return runSteps(input, async (window, add) => {
    const rowsBeside = window.from === null && patched('rows-beside');
    const reports = await allOrCancel(() => [
      pullInvoices(input, window),
      pullPrepayments(input, window),
      pullPayments(input, window),
      ...(rowsBeside ? [scanRows(input, window)] : []),
    ]);
    for (const report of reports) add(report);
    add(await pullRows(input, window));
  });
}
