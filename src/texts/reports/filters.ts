import { catalogue } from '../catalogue.ts';

/** The effect if the source does not honour a filter. Each text continues "without it …". */
export const filterTexts = catalogue('reports/filters.filterTexts', {
  pagesByNumber: 'its pages are read by number, and the list may have at most 10,000 records',
  otherOrder: 'pages in another order than by id are read by number',
  wholeList: 'each window reads the whole list',
  upToPresent: 'an interval of the past is read up to the present',
  backfillReadsAll: '`backfill --from` reads the whole list',
  heldInvoicesAgain: 'the rows of held invoices are read again, to find rows that arrive after their invoice',
  invoicesOneByOne: 'rows are read invoice by invoice, or all together if that has less weight',
  rowsWithWholeList: 'if `invoice__in` is not honoured either, the rows of an invoice are read with the whole list',
  paymentsWithWholeList: 'the payments of an invoice with failed proofs are read with the whole list',
});

/** The reason why a filter counts as ignored, or could not be probed. */
export const probeTexts = catalogue('reports/filters.probeTexts', {
  excludedRecords: 'its answer contains records that the filter should leave out',
  wholeCount: 'with the filter, the count is still that of the whole list',
  matchesMissing: 'its answer lacks records that match',
  refused: 'the server refuses it',
  noRecords: 'the list has no records',
  oneRecord: 'the list has only one record',
  tooSimilar: ({ field }: { field: string }): string => `its first records differ too little in ${field}`,
});
