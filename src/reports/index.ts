import type { Connection } from '../db/rows.ts';
import type { DocumentKind } from '../terms.ts';
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
  /** Of a month's events, of the state after a day, or of `start_date` alone. */
  of: 'month' | 'day' | 'start';
  /** The kinds of documents that its figures are made of: what of them is not in the books is missing in the figures. */
  documents: readonly DocumentKind[];
  make(db: Connection, input: VatInput, period: Period): Promise<Section[]>;
}

/** The reports by name (`vetledger report NAME`). */
export const reports = {
  vat: {
    description:
      'What the entries of a month declare, by original VAT period; late items, posted after their period was first closed or not sent to the ERP before, apart; under them what was settled without being sent (`cancelled_out`), which is in no return. Beside it stands what the rows of the same invoices say in the practice software now. Differences are cents that were settled and changes that are held. Apart from them stands what is not compared: VAT of prepayments, corrections of another month’s entries, and entries that late ones have changed.',
    of: 'month',
    documents: ['invoice', 'prepayment'],
    make: vat,
  },
  'eu-sales': {
    description:
      'The bases of VAT groups of kind eu_goods and eu_services per VAT number and country, as the EU sales list needs them.',
    of: 'month',
    documents: ['invoice'],
    make: euSales,
  },
  receivables: {
    description:
      'What each customer owes at the end of a day, item by item, by days after the due date. Old receivables from before `start_date` (role opening_receivable) show only what was posted against them since.',
    of: 'day',
    documents: ['invoice', 'payment'],
    make: receivables,
  },
  prepayments: {
    description:
      'What clients have paid in advance at the end of a day: of each prepayment what was received, used, refunded and is unused, and its age, by the records of the practice software and what is known of uses; those from before `start_date` too. A payment from a prepayment (type 8) that could not be matched stands under its client, on a line of its own. The column “in the books” adds up to prepayment_liability; what is unused but not there is held, not yet posted, or from before `start_date`. With VAT at receipt, “VAT left” adds up to prepayment_vat.',
    of: 'day',
    documents: ['payment', 'prepayment'],
    make: prepayments,
  },
  vouchers: {
    description:
      'The liability for gift cards and multi-purpose vouchers at the end of a day, by account and month; with a `start_date` also what was open then, by the records of the practice software.',
    of: 'day',
    documents: ['invoice', 'payment'],
    make: vouchers,
  },
  clearing: {
    description:
      'The balance of each account before and after the month, and what payments and prepayments have put on it, received and paid back: what a payout, a bank statement or a cash count has to match. What the ERP has booked against it is not in these books.',
    of: 'month',
    documents: ['payment', 'prepayment'],
    make: clearing,
  },
  cutover: {
    description:
      'What was open in the practice software at `start_date`. Later payments are posted against opening_receivable, prepayment_liability, gift_card_liability and voucher_liability, so the opening balances of the ERP must hold these amounts. Of gift cards and vouchers only what the practice software has sold and redeemed is known.',
    of: 'start',
    documents: [],
    make: cutover,
  },
} as const satisfies Record<string, ReportKind>;

export type ReportName = keyof typeof reports;
