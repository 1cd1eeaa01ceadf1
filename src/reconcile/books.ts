import { type Money, sum } from '../domain/money.ts';
import type { InvoiceRecord, PaymentRecord, PrepaymentRecord, RowRecord, SourceRecord } from '../records/types.ts';
import type { CalendarDate, DocumentState, LineRole } from '../terms.ts';

/** What the ledger holds of one document under one set of tags, over all of its entries; zero sums are left out. */
export interface LedgerFigure {
  account: string;
  role: LineRole;
  invoiceId: number | null;
  partyCode: string | null;
  paymentType: number | null;
  departmentId: number | null;
  documentDate: CalendarDate;
  /** Debit positive. */
  amount: Money;
}

/** A line of the entry in force. */
export interface BookLine {
  account: string;
  role: LineRole;
  partyCode: string | null;
  vatGroup: string | null;
  vatRate: Money | null;
  documentDate: CalendarDate;
  rowIds: number[];
  /** Debit positive. */
  amount: Money;
}

/** One document on both sides: what the mirror says of it, what state it is in, what the ledger holds. */
export interface Book<Record extends SourceRecord> {
  record: Record;
  /** Confirmed missing from the source. */
  gone: boolean;
  /** More than one version has been seen. */
  changed: boolean;
  state: DocumentState | null;
  problem: string | null;
  /** Waits to be judged again. */
  dirty: boolean;
  documentDate: CalendarDate | null;
  figures: LedgerFigure[];
}

export type PaymentBook = Book<PaymentRecord>;
export type PrepaymentBook = Book<PrepaymentRecord>;

export interface InvoiceBook extends Book<InvoiceRecord> {
  payments: PaymentBook[];
  rows: RowRecord[];
  /** Lines of its entry in force; null when it has none. */
  inForce: BookLine[] | null;
}

/** Sum of the figures or lines that `wanted` picks, debit positive. */
export function balance<T extends { amount: Money }>(figures: T[], wanted: (figure: T) => boolean): Money {
  return sum(figures.filter(wanted).map((each) => each.amount));
}

/** A prepayment or payment as it was posted: its own side, by R4-R7 the one that is not a receivable or the liability. */
export function paymentSide(kind: 'payment' | 'prepayment', figures: LedgerFigure[]): LedgerFigure[] {
  return figures.filter(({ role }) =>
    kind === 'payment' ? role !== 'receivable' && role !== 'opening_receivable' : role !== 'prepayment_liability',
  );
}

/** What a posted payment or prepayment amounts to in the ledger. */
export function postedAmount(kind: 'payment' | 'prepayment', figures: LedgerFigure[]): Money {
  return sum(paymentSide(kind, figures).map((each) => each.amount));
}

/** A posted document whose present facts could not be posted: the equations take its facts as posted (ACCOUNTING Dates). */
export function isHeldChange(book: Book<SourceRecord>): boolean {
  return book.state === 'posted' && book.problem !== null;
}

/** A hint for a difference that the next window may mend by itself. */
export function waitingHint(...books: Book<SourceRecord>[]): string {
  return books.some((book) => book.dirty) ? '; it waits to be judged again by the next sync' : '';
}
