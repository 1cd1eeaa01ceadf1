import { catalogue } from '../catalogue.ts';

/** The screen Delivery. */
export const deliveryScreen = catalogue('console/delivery.deliveryScreen', {
  none: 'The entries of this clinic are not delivered to an ERP.',
  lastDay: ({ entries }: { entries: string }) => `${entries} delivered in the last 24 hours`,
  pace: 'pace',
  units: 'Entries and daily summaries',
  unit: 'Unit',
  state: 'State',
  from: 'From',
  through: 'Through',
  amountNote: 'Amounts are the debits of what is not settled yet.',
  attempts: 'attempts',
  sent: 'sent',
  settled: 'settled',
  erpNumber: 'Number in the ERP',
  erpDate: 'Date in the ERP',
  batch: 'Batch',
  batches: 'Files',
  file: 'file',
  written: 'written',
  withdrawn: 'withdrawn',
  acknowledged: 'acknowledged',
  acknowledge: 'Acknowledge',
  retry: 'Send again',
  retryRefused: 'Send the refused entries of this filter again',
  differences: 'Differences to the ERP',
  notRead: 'The ERP was not read back yet. To read it: `vetledger reconcile --erp`',
  equal: 'Each delivered entry is in the ERP as it was sent.',
  balancesNote: 'Balances of accounts are compared only while the ERP is read: `vetledger reconcile --erp`',
});

/** States of a unit in a list. */
export const unitStateNames = catalogue('console/delivery.unitStateNames', {
  pending: 'to deliver',
  unapproved: 'waits for approval',
  sending: 'being sent',
  uncertain: 'in doubt',
  drafted: 'draft in the ERP',
  delivered: 'delivered',
  refused: 'refused',
  handed_over: 'in a file',
  acknowledged: 'in an imported file',
  cancelled_out: 'settled against its reversal',
  excluded: 'excluded',
});
