import { catalogue } from '../catalogue.ts';

/** Asking for an action, and its page. */
export const actionTexts = catalogue('console/actions.actionTexts', {
  askedBy: 'Requested by',
  askedAt: 'Requested at',
  reason: 'Reason',
  reasonHint: 'The reason is recorded with your name.',
  reasonMissing: 'Enter a reason of at most 1000 characters. Nothing was changed.',
  formOld: 'The form is incomplete. Nothing was changed. Check the effect below and send the form again.',
  changed: 'The effect changed after this page was opened. Nothing was requested. Check the present effect below.',
  pending: 'The action is requested. The daemon performs it in a few seconds, and this page then shows the result.',
  noDaemon:
    'No daemon runs for this installation. The action expires 15 minutes after the request. An operator starts the daemon with `vetledger run`.',
  daemonGone: ({ at }: { at: string }) =>
    `No daemon runs since ${at}. The action expires 15 minutes after the request. An operator starts the daemon with \`vetledger run\`.`,
  done: 'The action is done.',
  waiting: 'The action is requested. It waits for the approval of a second person, at most 24 hours.',
  expired: 'The action expired, because it was not performed in time. Nothing was changed.',
  expiredPartly:
    'The action expired. Corrections that were posted before stay. Ask for a new preview to post the others.',
  withdrawn: 'The person who asked withdrew the request. Nothing was changed.',
  withdraw: 'Withdraw the request',
  request: 'Request',
  refused: 'The action was refused.',
  again: 'Open the form again',
});

/** The form for decisions about late documents. */
export const decideTexts = catalogue('console/actions.decideTexts', {
  title: 'Decide about late documents',
  decision: 'Decision',
  documents: 'Documents',
  month: 'Month of the documents',
  problem: 'Problem',
  kind: 'Kind',
  count: ({ documents }: { documents: number }) => (documents === 1 ? '1 document' : `${documents} documents`),
  tooMany: ({ documents, most }: { documents: number; most: number }) =>
    `The filter selects ${documents} documents. One request decides about at most ${most}. Narrow the filter.`,
  malformed: 'The decision or the documents are not valid. Choose again.',
  date: 'Date',
  amount: 'Amount',
  vat: 'VAT',
  postedOn: 'Posted on',
  notPosted: 'not now',
  account: 'Account',
  vatPeriod: 'VAT period',
  late: ({ period }: { period: string }) => `${period}, late`,
  change: 'Change',
  submit: 'Decide',
  left: 'Problem afterwards',
});

/** The form that asks for a new judgement of documents. */
export const retryTexts = catalogue('console/actions.retryTexts', {
  title: 'Judge documents again',
  about:
    'The next window judges these documents again. Below is the result with the records as they were last read. If the source sends new records, the result may differ.',
  malformed: ({ most }: { most: number }) =>
    `The documents are not valid, or more than ${most}. Choose them on the screen To decide.`,
  submit: 'Judge again',
});

/** The form that matches a payment with prepayments. */
export const matchFormTexts = catalogue('console/actions.matchFormTexts', {
  title: 'Match a payment with prepayments',
  about:
    'The next window reverses what is posted under another client, and posts it again. With several prepayments, each covers the part that was used from it, in their order. The last one covers the rest. State in the reason how you know the match.',
  payment: 'Payment',
  used: 'Used prepayments',
  others: 'Those with the ids beside',
  otherIds: 'Ids of other prepayments',
  unknown: 'unknown, without a match',
  candidate: ({ prepayment, client, left, day }: Record<'client' | 'left' | 'day', string> & { prepayment: number }) =>
    `prepayment ${prepayment} of ${client}: ${left}, received ${day}`,
  malformed: 'The payment or the prepayments are not valid. Choose again.',
  unmatched: 'Payments without a match',
  allMatched: 'Every payment from a prepayment has its match.',
  usedOn: 'Day',
  client: 'Client',
  amount: 'Amount',
  present: 'Present match',
  prepayment: 'Prepayment',
  left: 'Used without a match',
  submit: 'Set the match',
});

/** The form that posts one document again with the mapping in force. */
export const repostTexts = catalogue('console/actions.repostTexts', {
  title: 'Post again with the present mapping',
  about:
    'If the mapping in force gives other lines, the entry is reversed, and the document is posted again. If its period is closed, the correction is held.',
  same: 'The mapping in force gives the same entry. There is nothing to post.',
  left: 'The document has changed in the source, so the next window posts it.',
  malformed: 'The document is not valid. Open the form from the page of the document.',
  submit: 'Post again',
});

/** The names of actions, as titles of pages. */
export const actionNames = catalogue('console/actions.actionNames', {
  decide_late: 'Decision about late documents',
  retry_documents: 'New judgement of documents',
  match_prepayment: 'Match of a payment with prepayments',
  repost_document: 'New posting of a document',
  propose_mapping: 'Proposal of a mapping',
  apply_mapping: 'Approval of a mapping',
  preview_repost: 'Preview of corrections',
  repost_books: 'Posting of corrections',
  close_books: 'Close of the books',
  reopen_books: 'Reopening of the books',
  file_vat_return: 'VAT return marked as filed',
  approve_action: 'Approval',
  withdraw_action: 'Withdrawal of a request',
  pause_windows: 'Pause of the windows',
  resume_windows: 'Resumption of the windows',
  pause_delivery: 'Pause of the delivery',
  resume_delivery: 'Resumption of the delivery',
  approve_delivery: 'Approval of entries',
  retry_delivery: 'Retry of entries',
  undo_delivery: 'Undo of a delivery',
  acknowledge_batch: 'Acknowledgement of a file',
  price_windows: 'Price of reading again',
  replay_windows: 'Replay',
  backfill_windows: 'Backfill',
  cancel_windows: 'Cancellation of running work',
  nudge_windows: 'Window opened now',
  nudge_delivery: 'Delivery started now',
  cancel_delivery: 'Cancellation of the running delivery',
  reconcile_books: 'Reconciliation',
});

/** The forms that pause and resume windows and delivery. */
export const pauseTexts = catalogue('console/actions.pauseTexts', {
  titles: {
    pause_windows: 'Pause the windows',
    resume_windows: 'Resume the windows',
    pause_delivery: 'Pause the delivery',
    resume_delivery: 'Resume the delivery',
  },
  running: 'Not paused.',
  paused: ({ by, at }: { by: string; at: string }) => `Paused by ${by}, ${at}.`,
  effects: {
    pause_windows: 'No scheduled window opens until the windows are resumed. A running window ends normally.',
    resume_windows: 'The next scheduled window covers the time of the pause.',
    pause_delivery:
      'Nothing is sent to the ERP until the delivery is resumed. A batch that is being sent ends normally.',
    resume_delivery: 'The delivery continues within five minutes with the units that wait.',
  },
});
