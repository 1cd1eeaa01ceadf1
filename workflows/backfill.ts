import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { WindowInput, WindowOutcome } from './messages.ts';
import { working } from './options.ts';
import { runWindow, together } from './steps.ts';

const { backfillStream } = proxyActivities<Activities>(working);

/**
 * Walks every list of one installation from its beginning, beside the live windows and behind them in the budget; never
 * touches their cursors. A stopped one goes on at the page where it was.
 */
export async function backfill(input: WindowInput): Promise<WindowOutcome> {
  return runWindow(input, async (window, add) => {
    const side = await together(() => [
      backfillStream(input, window, 'invoice'),
      backfillStream(input, window, 'prepayment'),
      backfillStream(input, window, 'payment'),
    ]);
    for (const report of side) add(report);
    add(await backfillStream(input, window, 'row'));
  });
}
