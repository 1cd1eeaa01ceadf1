import { patched, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { WindowInput, WindowOutcome } from './messages.ts';
import { working } from './options.ts';
import { runWindow, together } from './steps.ts';

const { pullInvoices, pullPrepayments, pullPayments, pullRows, scanRows } = proxyActivities<Activities>(working);

/**
 * One window of one installation: everything that changed in the source since the last closed one is pulled, posted,
 * written back. Lists run side by side, since each has its own budget. Rows of changed invoices come last, so that they are no
 * older than these (proof P2); a first load scans all of them beside the others, and completes the rest then.
 */
export async function syncWindow(input: WindowInput): Promise<WindowOutcome> {
  return runWindow(input, async (window, add) => {
    const rowsBeside = window.from === null && patched('rows-beside');
    const side = await together(() => [
      pullInvoices(input, window),
      pullPrepayments(input, window),
      pullPayments(input, window),
      ...(rowsBeside ? [scanRows(input, window)] : []),
    ]);
    for (const report of side) add(report);
    add(await pullRows(input, window));
  });
}
