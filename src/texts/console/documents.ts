import { catalogue } from '../catalogue.ts';

/** The screens Documents and Document. */
export const documentsTexts = catalogue('console/documents.documentsTexts', {
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
