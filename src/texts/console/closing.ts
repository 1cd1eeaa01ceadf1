import { catalogue } from '../catalogue.ts';

/** The forms that close and reopen the books, and file a VAT return. */
export const closingTexts = catalogue('console/closing.closingTexts', {
  closeTitle: 'Close the books',
  reopenTitle: 'Reopen the books',
  fileTitle: 'Mark the VAT return as filed',
  until: 'Closed through until now',
  through: 'Last closed day',
  openFrom: 'First open day',
  entries: 'Entries that the close locks',
  debit: ({ currency }: { currency: string }) => `Sum of their debits, ${currency}`,
  tax: ({ period, currency }: { period: string; currency: string }) =>
    `VAT of the return ${period} by the present books, ${currency}`,
  lateStay: 'Late documents are not posted automatically: decide about each of them.',
  needsSecond:
    'A second person must approve this request from another user account. Without approval, it expires after 24 hours.',
  close: 'Close',
  reopen: 'Reopen',
  file: 'Mark as filed',
  waits: ({ action, by }: { action: string; by: string }) => `${action}, requested by ${by}: waits for a second person`,
});

/** The approval of a request by a second person. */
export const approvalTexts = catalogue('console/closing.approvalTexts', {
  second: 'Approved by',
  approve: 'Approve',
  own: 'You made this request, so another user must approve it.',
  over: 'The request no longer waits for approval. Nothing was changed.',
  changed: 'The effects have changed since the request, so it cannot be approved. Ask again with the form.',
});
