import { catalogue } from '../catalogue.ts';

/** Every form that shows the effect of an action. */
export const effectTexts = catalogue('console/operating.effectTexts', {
  choose: 'Show the effect',
  malformed: 'The choice is not valid. Choose again.',
  askOperator: 'Ask an operator to run the command.',
});

/** The forms about deliveries. */
export const deliveryActionTexts = catalogue('console/operating.deliveryActionTexts', {
  titles: {
    approve_delivery: 'Approve entries',
    retry_delivery: 'Send entries again',
    undo_delivery: 'Undo a delivery',
    acknowledge_batch: 'Acknowledge a file',
    nudge_delivery: 'Deliver now',
    cancel_delivery: 'Cancel the running delivery',
  },
  effects: {
    approve_delivery:
      'These entries of a first load or backfill are then sent to the ERP. Entries that the ERP has posted cannot be removed.',
    retry_delivery: 'vetledger looks up each entry in the ERP first, so that none is sent twice.',
    undo_delivery:
      'Each entry in the ERP is reversed there by a new entry on the same date. Entries that were not sent yet are excluded. Our own books do not change.',
    acknowledge_batch: 'The entries of the file then count as imported by the accountants.',
    nudge_delivery: 'The entries that wait are sent to the ERP now. If a delivery runs, it continues.',
    cancel_delivery:
      'The running delivery ends. The next one first looks up in the ERP what was being sent. Nothing is lost or sent twice.',
  },
  paused: 'The delivery is paused. Resume it first.',
  none: 'There is no entry for this action.',
  noBatch: 'There is no such file.',
  allRefused: 'all refused ones',
  file: 'File',
  wasAcknowledged: ({ at }: { at: string }) => `The file was acknowledged ${at}.`,
  tooMany: ({ most }: { most: number }) =>
    `The filter selects more than ${most} entries. Narrow it, or choose no filter for all refused entries.`,
  through: 'Through',
  from: 'From',
  to: 'To',
  batch: 'Number of the file',
  units: 'Entries by id, separated by commas; empty for all refused ones',
  entries: 'Entries',
  dates: 'Dates',
  debit: 'Sum of the debits',
  reversed: 'Reversed in the ERP',
  withheld: 'Excluded, not sent yet',
  more: ({ count }: { count: number }) => `and ${count} more`,
});

/** What came of an action that is done. */
export const resultTexts = catalogue('console/operating.resultTexts', {
  result: 'Result',
  approved: ({ entries }: { entries: string }) => `${entries} approved`,
  retried: ({ entries }: { entries: string }) => `${entries} sent again`,
  undone: ({ reversed, withheld }: Record<'reversed' | 'withheld', string>) =>
    `${reversed} reversed in the ERP, ${withheld} excluded`,
  acknowledged: ({ entries, file }: Record<'entries' | 'file', string>) => `${entries} acknowledged, in ${file}`,
});

/** The form that reconciles now, and its result. */
export const reconcileTexts = catalogue('console/operating.reconcileTexts', {
  title: 'Reconcile now',
  effect:
    'The daemon compares the books with the practice software, and with the ERP if it can be read. It changes nothing. For a large clinic it takes some minutes.',
  reason: 'a reconciliation before its time',
  notLoaded: 'The first load is not complete. Reconcile after it.',
  result: ({ failing, complete }: { failing: string; complete: boolean }) =>
    `${failing === '' ? 'Reconciled: no difference.' : `Not reconciled: ${failing}. The checklist of the month has the documents.`}${complete ? '' : ' Some documents are not in the books.'}`,
});

/** The forms about windows. */
export const windowActionTexts = catalogue('console/operating.windowActionTexts', {
  titles: {
    price_windows: 'Read again',
    replay_windows: 'Replay',
    backfill_windows: 'Backfill',
    cancel_windows: 'Cancel running work',
    nudge_windows: 'Read now',
  },
  what: 'What to read',
  reads: {
    failed: 'all failed windows that are not covered',
    windows: 'windows by number',
    times: 'a time',
    backfill: 'everything from an invoice date on',
  },
  windows: 'Numbers of the windows, separated by commas',
  from: 'From: a day or a time',
  to: 'To: a day or a time',
  effects: {
    price_windows:
      'A replay moves no cursor of the live windows, and posts nothing twice. The price needs requests to the practice API, so the daemon finds it first.',
    replay_windows: 'The daemon starts the replay. It uses the rate budget that the live windows leave.',
    backfill_windows:
      'The daemon starts the backfill. It reads beside the live windows and moves no cursor. New entries wait for approval.',
    cancel_windows: 'The next window covers a cancelled one. The Schedule is not paused.',
    nudge_windows: 'The next window opens now. If a window is running, the new one follows it.',
  },
  priceReason: 'the price before a replay or backfill',
  findPrice: 'Find the price',
  price: 'Price',
  intervals: 'Intervals',
  invoicesFrom: ({ from }: { from: string | null }) =>
    from === null
      ? 'all invoices, payments and prepayments'
      : `invoices dated from ${from} on, all payments and prepayments`,
  leftOut: 'Left out',
  allCovered: 'Every failed window is covered.',
  noPrice: 'The practice API did not answer, so the price is not known.',
  notPriced: 'Choose first what to read, so that its price can be shown.',
  changed: 'What would be read has changed since the price was found. Choose again.',
  nothingRuns: 'No window, backfill or replay runs.',
  paused: 'The windows are paused. Resume them first.',
  lastWindow: 'Last window',
  workflow: 'Workflow in Temporal',
  opening: 'The window has not opened yet.',
  ofWindow: ({ window, outcome }: { window: number; outcome: string }) => `window ${window}: ${outcome}`,
  cancelled: 'Asked to end',
  ended: 'The work had ended already.',
  inTemporal: 'show in Temporal',
});

/** The steps of a window, a backfill, a replay or a delivery, for readers who do not know the workflows. */
export const runningStepNames = catalogue('console/operating.runningStepNames', {
  openWindow: 'open the window',
  openAndPull: 'open the window and read the lists',
  pullInvoices: 'read changed invoices',
  pullPrepayments: 'read changed prepayments',
  pullPayments: 'read new payments',
  pullRows: 'read the rows of changed invoices',
  scanRows: 'read all rows',
  completeRows: 'read the missing rows',
  pullParts: 'read documents again whose proofs failed',
  backfillStream: 'read the list of the backfill',
  post: 'judge and post documents',
  postInLoad: 'post what has been read so far',
  summarise: 'summarise days that are over',
  writeBack: 'write entry ids back',
  takeCensus: 'count the records of the source',
  closeWindow: 'close the window',
  failWindow: 'record the failure of the window',
  noteNotOpened: 'record why the window did not open',
  deliverSlice: 'deliver entries to the ERP',
  holdDelivery: 'pause or resume the delivery',
  planReplay: 'plan the replay',
  scrubSlice: 'read the next part of all records again',
});
