import { catalogue } from '../catalogue.ts';

/** The screens Documents and Document. */
export const documentsTexts = catalogue('console/documents.documentsTexts', {
  searched: 'Id, invoice number or code of an entry',
  hint: 'Examples: 1001, H-1001, payment 12, 4711/invoice/1001/1. Reports and the ERP show these codes.',
  several: ({ text, count }: { text: string; count: number }) => `${text} names ${count} documents.`,
  none: ({ text }: { text: string }) => `No document of this clinic has the id, number or code ${text}.`,
  versions: 'Versions in the practice software',
  modified: 'changed',
  read: 'last read',
  changed: 'what changed',
  rows: 'Rows',
  payments: 'Payments',
  payment: 'payment',
  proof: 'proof',
  verdict: 'result',
  figures: 'figures',
  openSummary: 'Open the daily summary',
});

/** What the posting rule of a line posts. */
export const ruleNames = catalogue('console/documents.ruleNames', {
  R1: 'sale',
  R2: 'credit note',
  R4: 'payment',
  R5: 'prepayment received',
  R6: 'prepayment refunded',
  R7: 'prepayment used',
  R10: 'consolidated invoice',
  R13: 'VAT due on payment',
});
