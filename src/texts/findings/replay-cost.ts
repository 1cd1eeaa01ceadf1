import { catalogue } from '../catalogue.ts';

/** Remarks on the estimated cost of a replay. */
export const replayCostRemarks = catalogue('findings/replay-cost.replayCostRemarks', {
  notCounted: 'the source did not return the number of records; this is the number in the mirror',
  wholeList: ({ list }: { list: string }) => `the server ignores modified__gte for ${list}: the whole list is read`,
  noUpperBound: ({ list }: { list: string }) =>
    `the server accepts no upper bound of modified for ${list}: they are read up to the present`,
  noUpperId: 'the server accepts no upper bound of ids for payments: they are read up to the present',
  allRows: 'the server cannot return the rows of single invoices: all rows are read',
  rowsOneByOne: 'the server returns the rows of only one invoice at a time',
});
