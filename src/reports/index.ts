import type { Connection } from '../db/rows.ts';
import type { DocumentKind } from '../terms.ts';
import { reportDescriptions } from '../texts/reports/reports.ts';
import { clearing } from './clearing.ts';
import { cutover } from './cutover.ts';
import { euSales } from './eu-sales.ts';
import { prepayments } from './prepayments.ts';
import { receivables } from './receivables.ts';
import type { Period, Section } from './report-sections.ts';
import { type VatInput, vat } from './vat.ts';
import { vouchers } from './vouchers.ts';

export interface ReportKind {
  description: string;
  /** The report shows the events of a month, the state after a day, or the state at `start_date`. */
  of: 'month' | 'day' | 'start';
  /**
   * The kinds of documents in the figures of the report. If a document of these kinds is not in the books, the figures
   * lack it.
   */
  documents: readonly DocumentKind[];
  make(db: Connection, input: VatInput, period: Period): Promise<Section[]>;
}

/** The reports by name (`vetledger report NAME`). */
export const reports = {
  vat: {
    description: reportDescriptions.vat,
    of: 'month',
    documents: ['invoice', 'prepayment'],
    make: vat,
  },
  'eu-sales': {
    description: reportDescriptions.euSales,
    of: 'month',
    documents: ['invoice'],
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
    make: prepayments,
  },
  vouchers: {
    description: reportDescriptions.vouchers,
    of: 'day',
    documents: ['invoice', 'payment'],
    make: vouchers,
  },
  clearing: {
    description: reportDescriptions.clearing,
    of: 'month',
    documents: ['payment', 'prepayment'],
    make: clearing,
  },
  cutover: {
    description: reportDescriptions.cutover,
    of: 'start',
    documents: [],
    make: cutover,
  },
} as const satisfies Record<string, ReportKind>;

export type ReportName = keyof typeof reports;
