import { catalogue } from '../catalogue.ts';

/** The screen Reports. */
export const reportsTexts = catalogue('console/reports.reportsTexts', {
  report: 'Report',
  content: 'Content',
  documents: 'documents',
  whole: 'The whole report',
  chooseAccount: 'Enter the number of an account. This report lists all accounts:',
});

/** The names of reports, as titles of pages. */
export const reportNames = catalogue('console/reports.reportNames', {
  'trial-balance': 'Trial balance',
  income: 'Income statement',
  'balance-sheet': 'Balance sheet',
  account: 'General ledger account',
  journal: 'Journal',
  vat: 'VAT',
  'eu-sales': 'EU sales list',
  receivables: 'Receivables',
  prepayments: 'Prepayments',
  vouchers: 'Gift cards and vouchers',
  clearing: 'Clearing accounts',
  cutover: 'Opening balances',
});

/** The fields of the form of a report. */
export const reportFields = catalogue('console/reports.reportFields', {
  month: 'Month',
  asOf: 'At the end of',
  yearTo: 'Fiscal year up to',
  from: 'From',
  to: 'To',
  split: 'Split by',
  recordedBy: 'Recorded by',
  timeHint: 'A day, or a time such as 2026-02-03 14:30',
  account: 'Account',
  form: 'Boxes of the return form',
});

/** The faults of the form of a report. */
export const reportFaults = catalogue('console/reports.reportFaults', {
  days: 'These days do not fit together, so the report has its usual days. Give a month, one day, or a first and a last day in this order.',
  time: 'The time of recording is neither a day nor a time, so the report has all entries. Give a day such as 2026-02-03, or 2026-02-03 14:30.',
  tooLong: ({ lines }: { lines: number }) =>
    `The file has more than ${lines} lines. Choose fewer days. \`vetledger report --csv\` makes files of any length.`,
});
