import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { WindowInput, WindowOutcome } from './messages.ts';
import { working } from './options.ts';
import { runWindow, together } from './steps.ts';

const { pullInvoices, pullPrepayments, pullPayments, pullRows } = proxyActivities<Activities>(working);

/**
 * One window of one installation: everything that changed in the source since the last closed one is pulled, posted,
 * written back. Lists run side by side, since each has its own budget; rows come last, so that they are no older than
 * their invoices (proof P2).
 */
export async function syncWindow(input: WindowInput): Promise<WindowOutcome> {
  return runWindow(input, async (window, add) => {
    const side = await together(() => [
      pullInvoices(input, window),
      pullPrepayments(input, window),
      pullPayments(input, window),
    ]);
    for (const report of side) add(report);
    add(await pullRows(input, window));
  });
}
