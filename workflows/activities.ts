import { type ActivityInterfaceFor, type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

/** The text that the Temporal UI shows beside each activity. If the third argument names a list, the name is added. */
const summaries: Record<keyof Activities, string> = {
  openWindow: 'take the lease, ask the first question, open the window',
  pullInvoices: 'pull changed invoices',
  pullPrepayments: 'pull changed prepayments',
  pullPayments: 'pull new payments',
  pullRows: 'pull the rows of changed invoices',
  scanRows: 'pull all rows, beside the other lists',
  completeRows: 'pull the rows that the scan left',
  pullParts: 'pull the parts of documents in doubt once more',
  backfillStream: 'pull the list beside the live windows',
  post: 'judge and post documents',
  postInLoad: 'post what is read so far',
  summarise: 'sum up days that are over',
  writeBack: 'write entry ids back',
  takeCensus: 'count once a day',
  closeWindow: 'note the end, free the lease, ask for the delivery',
  failWindow: 'note why it failed, free the lease',
  noteNotOpened: 'note why it did not open',
  deliverSlice: 'deliver what is due, match open items, write numbers back',
  holdDelivery: 'pause or resume the delivery',
  planReplay: 'check the request, work out its intervals',
  scrubSlice: 'read a slice of records once more',
};

/** The activities with one set of options. Each one shows its summary. */
export function activitiesAs(options: ActivityOptions): ActivityInterfaceFor<Activities> {
  const plain = proxyActivities<Activities>(options);
  return new Proxy(plain, {
    get(target, name: keyof Activities) {
      const activity = target[name] as {
        executeWithOptions(with_: ActivityOptions, args: unknown[]): Promise<unknown>;
      };
      return (...args: unknown[]) => activity.executeWithOptions({ summary: summaryOf(name, args) }, args);
    },
  });
}

function summaryOf(name: keyof Activities, [, pulls, list]: unknown[]): string {
  if (name === 'openWindow' && pulls === true) return `${summaries[name]}, pull the lists`;
  return typeof list === 'string' ? `${summaries[name]}: ${list}s` : summaries[name];
}
