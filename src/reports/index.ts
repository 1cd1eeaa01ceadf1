import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import type { DocumentKind } from '../terms.ts';
import { reportDescriptions } from '../texts/reports/reports.ts';
import { accountLines, balanceSheet, income, journal, trialBalance } from './books.ts';
import { clearing } from './clearing.ts';
import { cutover } from './cutover.ts';
import { euSales } from './eu-sales.ts';
import { prepayments } from './prepayments.ts';
import { receivables } from './receivables.ts';
import type { Asked, Period, Section } from './report-sections.ts';
import { vat } from './vat.ts';
import { vouchers } from './vouchers.ts';

export interface ReportKind {
  description: string;
  /**
   * The report shows the events of a month, the state after a day, the state at `start_date`, or the accounts before,
   * in and after a span of days.
   */
  of: 'month' | 'day' | 'start' | 'span';
  /** Whether the lines are always printed, because they are the content of the report. */
  isOfLines?: true;
  /**
   * The kinds of documents in the figures of the report. If a document of these kinds is not in the books, the figures
   * lack it.
   */
  documents: readonly DocumentKind[];
  /** The table that `--csv` must name in an example, if the report has several. */
  table?: string;
  make(db: Connection, input: InstallationConfig, period: Period, asked: Asked): Promise<Section[]>;
}

const everyKind: readonly DocumentKind[] = ['invoice', 'payment', 'prepayment'];

/** The reports by name (`vetledger report NAME`). */
export const reports = {
  'trial-balance': {
    description: reportDescriptions.trialBalance,
    of: 'span',
    documents: everyKind,
    make: trialBalance,
  },
  income: {
    description: reportDescriptions.income,
    of: 'span',
    documents: everyKind,
    make: income,
  },
  'balance-sheet': {
    description: reportDescriptions.balanceSheet,
    of: 'span',
    documents: everyKind,
    make: balanceSheet,
  },
  account: {
    description: reportDescriptions.account,
    of: 'span',
    isOfLines: true,
    documents: everyKind,
    make: accountLines,
  },
  journal: {
    description: reportDescriptions.journal,
    of: 'span',
    isOfLines: true,
    documents: everyKind,
    make: journal,
  },
  vat: {
    description: reportDescriptions.vat,
    of: 'month',
    documents: ['invoice', 'prepayment'],
    table: 'vat',
    make: vat,
  },
  'eu-sales': {
    description: reportDescriptions.euSales,
    of: 'month',
    documents: ['invoice'],
    table: 'eu_sales',
    make: euSales,
  },
  receivables: {
    description: reportDescriptions.receivables,
    of: 'day',
    documents: ['invoice', 'payment'],
    make: receivables,
  },
  prepayments: {
    description: reportDescriptions.prepayments,
    of: 'day',
    documents: ['payment', 'prepayment'],
    table: 'prepayments',
    make: prepayments,
  },
  vouchers: {
    description: reportDescriptions.vouchers,
    of: 'day',
    documents: ['invoice', 'payment'],
    table: 'vouchers',
    make: vouchers,
  },
  clearing: {
    description: reportDescriptions.clearing,
    of: 'month',
    documents: ['payment', 'prepayment'],
    table: 'clearing',
    make: clearing,
  },
  cutover: {
    description: reportDescriptions.cutover,
    of: 'start',
    documents: [],
    table: 'receivables',
    make: cutover,
  },
} as const satisfies Record<string, ReportKind>;

export type ReportName = keyof typeof reports;
