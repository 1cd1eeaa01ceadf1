import { businessDate } from '../domain/dates.ts';
import { type Money, sum, zero } from '../domain/money.ts';
import type { CalendarDate } from '../terms.ts';
import {
  isHeldChange,
  type LedgerFigure,
  type PaymentBook,
  type PrepaymentBook,
  paymentSide,
  postedAmount,
  waitingHint,
} from './books.ts';
import { type Difference, figure, type Note, type ReconcileInput } from './report.ts';

export interface PaymentFinding {
  differences: Difference[];
  heldChanges: Note[];
}

/** A payment's invoice, as far as E4 asks for it. */
export interface InvoiceOfPayment {
  departmentId: number | null;
  invoiceDate: string | null;
}

type Settings = Pick<ReconcileInput, 'decimals' | 'timezone' | 'startDate'>;

/** Equation E4 for one payment: the lines tagged with its type say what the source says, under its department and date. */
export function checkPayment(book: PaymentBook, invoice: InvoiceOfPayment | null, settings: Settings): PaymentFinding {
  const { record } = book;
  return check(book, 'payment', record.paid, settings, {
    paymentType: record.paymentType,
    departmentId: invoice?.departmentId ?? null,
    dates: datesOf(book, record.dateAdded, invoice, settings),
  });
}

/** Equation E4 for one prepayment. */
export function checkPrepayment(book: PrepaymentBook, settings: Settings): PaymentFinding {
  const { record } = book;
  return check(book, 'prepayment', record.paid, settings, {
    paymentType: record.paymentType,
    departmentId: record.departmentId,
    dates: datesOf(book, record.created, null, settings),
  });
}

interface Tags {
  paymentType: number | null;
  departmentId: number | null;
  dates: CalendarDate[];
}

/**
 * The document dates that a record may be posted under: its own; the invoice's where its own lies before `start_date` and
 * the invoice's does not; and, where either may have changed since, the one taken first (ACCOUNTING Dates).
 */
function datesOf(
  book: PaymentBook | PrepaymentBook,
  text: string | null,
  invoice: InvoiceOfPayment | null,
  { timezone, startDate }: Settings,
): CalendarDate[] {
  const own = text === null ? null : businessDate(text, timezone);
  const ofInvoice = invoice?.invoiceDate == null ? null : businessDate(invoice.invoiceDate, timezone);
  const early = startDate !== null && own !== null && own < startDate;
  const dates = [own, early ? ofInvoice : null, book.changed || early ? book.documentDate : null];
  return dates.filter((date) => date !== null);
}

function check(
  book: PaymentBook | PrepaymentBook,
  kind: 'payment' | 'prepayment',
  paid: Money | null,
  { decimals }: Settings,
  tags: Tags,
): PaymentFinding {
  const document = `${kind} ${book.record.id}`;
  const side = paymentSide(kind, book.figures);
  const posted = postedAmount(kind, book.figures);
  if (isHeldChange(book)) {
    const now = book.gone ? 'gone from the source' : paid === null ? 'unreadable' : figure(paid, decimals);
    const message = `posted with ${figure(posted, decimals)}; the source now says ${now} (${book.problem})`;
    return { differences: [], heldChanges: [{ document, message }] };
  }
  const expected = book.state === 'posted' && !book.gone ? (paid ?? zero) : zero;
  const right = sum(side.filter((line) => isTagged(line, tags)).map((line) => line.amount));
  const wrong = side.filter((line) => !isTagged(line, tags));
  if (right.equals(expected) && wrong.length === 0) return { differences: [], heldChanges: [] };

  const shown = side.map((line) => describe(line, decimals)).join(', ') || 'nothing';
  const source = expected.isZero()
    ? `nothing to be there (it is ${book.gone ? 'gone' : (book.state ?? 'not judged')})`
    : `${figure(expected, decimals)} of type ${tags.paymentType} in department ${tags.departmentId ?? 'none'} on ${tags.dates[0] ?? 'no date'}`;
  const amount = sum([expected.minus(right).abs(), ...wrong.map((line) => line.amount.abs())]);
  const message = `the ledger has ${shown}; the source asks for ${source}${waitingHint(book)}`;
  return { differences: [{ document, amount, message }], heldChanges: [] };
}

function isTagged(line: LedgerFigure, tags: Tags): boolean {
  return (
    line.paymentType === tags.paymentType &&
    line.departmentId === tags.departmentId &&
    tags.dates.includes(line.documentDate)
  );
}

function describe(line: LedgerFigure, decimals: number): string {
  const department = line.departmentId ?? 'none';
  return `${figure(line.amount, decimals)} of type ${line.paymentType ?? 'none'} in department ${department} on ${line.documentDate}`;
}
