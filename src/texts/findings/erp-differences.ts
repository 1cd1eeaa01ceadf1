import { catalogue } from '../catalogue.ts';

/** Differences between an entry as it was sent and as the ERP holds it. */
export const differenceTexts = catalogue('findings/erp-differences.differenceTexts', {
  voided: 'the entry is void in the ERP',
  date: ({ sent, held }: { sent: string; held: string }): string =>
    `the entry was sent with the date ${sent}; the ERP has ${held}`,
  journal: ({ sent, held }: { sent: string; held: string }): string =>
    `the entry was sent to the journal ${sent}; the ERP has ${held}`,
  origin: ({ sent, held }: { sent: string; held: string }): string =>
    `the entry reverses the ERP’s entry with the id ${sent}; the ERP names ${held} as its origin`,
  lineMissing: ({ line }: { line: string }): string => `the line ${line} was sent; the ERP has no such line`,
  lineAdded: ({ line }: { line: string }): string => `the ERP has a line ${line} that was not sent`,
  linesCancelOut: ({ place }: { place: string }): string =>
    `the ERP has lines on ${place} that were not sent; they cancel each other out`,
  vat: ({ place, sent, held }: { place: string; sent: string; held: string }): string =>
    `${place} was sent as ${sent}; the ERP has ${held}`,
  party: ({ sent, held }: { sent: string; held: string }): string =>
    `the entry was sent with the party ${sent}; the ERP has ${held}`,
  description: ({ sent, held }: { sent: string; held: string }): string =>
    `the entry was sent with the description ${sent}; the ERP has ${held}`,
  label: ({ sent, held, line }: { sent: string; held: string; line: string }): string =>
    `the label ${sent} of the line on ${line} was sent; the ERP has ${held}`,
  dueDate: ({ sent, held, line }: { sent: string; held: string; line: string }): string =>
    `the due date ${sent} of the line on ${line} was sent; the ERP has ${held}`,
  none: 'none',

  // Places in an entry
  account: ({ account }: { account: string }): string => `account ${account}`,
  partyOf: ({ party }: { party: string }): string => `party ${party}`,
  base: ({ code }: { code: string }): string => `the base of the tax code ${code}`,
  baseOnAccount: ({ code, account }: { code: string; account: string }): string =>
    `the base of the tax code ${code} on account ${account}`,
  tax: ({ code, account }: { code: string; account: string }): string =>
    `the amount of the tax code ${code} on account ${account}`,
  or: ' or ',
});
