import { patched, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { WindowInput, WindowOutcome } from './messages.ts';
import { working } from './options.ts';
import { runWindow, together } from './steps.ts';

const { backfillStream, completeRows, scanRows } = proxyActivities<Activities>(working);

/**
 * Walks every list of one installation from its beginning, side by side, beside the live windows and behind them in the
 * budget; never touches their cursors. A stopped one goes on at the pages where it was.
 */
export async function backfill(input: WindowInput): Promise<WindowOutcome> {
  return runWindow(input, async (window, add) => {
    const rowsBeside = patched('rows-beside');
    const side = await together(() => [
      backfillStream(input, window, 'invoice'),
      backfillStream(input, window, 'prepayment'),
      backfillStream(input, window, 'payment'),
      ...(rowsBeside ? [scanRows(input, window)] : []),
    ]);
    for (const report of side) add(report);
    add(await (rowsBeside ? completeRows(input, window) : backfillStream(input, window, 'row')));
  });
}
