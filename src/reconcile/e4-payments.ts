import { businessDate } from '../domain/dates.ts';
import { formatExact, type Money, sum, zero } from '../domain/money.ts';
import type { CalendarDate } from '../terms.ts';
import { e2Texts, e4Texts } from '../texts/findings/reconcile.ts';
import { heldPayment } from './held-changes.ts';
import type { Difference, Note, ReconcileInput } from './reconcile-report.ts';
import {
  isHeldChange,
  type LedgerSum,
  paymentSide,
  postedAmount,
  type ReconciledPayment,
  type ReconciledPrepayment,
  waitingHint,
} from './reconciled-documents.ts';

export interface PaymentFinding {
  differences: Difference[];
  heldChanges: Note[];
}

/** The fields of a payment's invoice that E4 needs. */
export interface InvoiceOfPayment {
  departmentId: number | null;
  invoiceDate: string | null;
}

type Settings = Pick<ReconcileInput, 'decimals' | 'timezone' | 'startDate'>;

/**
 * Equation E4 for one payment: its lines with the right type, department and date add up to its amount in the source.
 */
export function checkPayment(
  payment: ReconciledPayment,
  invoice: InvoiceOfPayment | null,
  settings: Settings,
): PaymentFinding {
  const { record } = payment;
  return check(payment, 'payment', record.paid, settings, {
    paymentType: record.paymentType,
    departmentId: invoice?.departmentId ?? null,
    dates: datesOf(payment, record.dateAdded, invoice, settings),
  });
}

/**
 * Equation E4 for one prepayment: its lines with the right type, department and date add up to its amount in the
 * source.
 */
export function checkPrepayment(prepayment: ReconciledPrepayment, settings: Settings): PaymentFinding {
  const { record } = prepayment;
  return check(prepayment, 'prepayment', record.paid, settings, {
    paymentType: record.paymentType,
    departmentId: record.departmentId,
    dates: datesOf(prepayment, record.created, null, settings),
  });
}

interface Tags {
  paymentType: number | null;
  departmentId: number | null;
  dates: CalendarDate[];
}

/**
 * The document dates with which a record may be posted: its own date; if that is before `start_date`, the date of its
 * invoice; and the date of its first posting, if a date in the source may have changed since (ACCOUNTING Dates).
 */
function datesOf(
  payment: ReconciledPayment | ReconciledPrepayment,
  text: string | null,
  invoice: InvoiceOfPayment | null,
  { timezone, startDate }: Settings,
): CalendarDate[] {
  const own = text === null ? null : businessDate(text, timezone);
  const ofInvoice = invoice?.invoiceDate == null ? null : businessDate(invoice.invoiceDate, timezone);
  const early = startDate !== null && own !== null && own < startDate;
  const dates = [own, early ? ofInvoice : null, payment.changed || early ? payment.documentDate : null];
  return dates.filter((date) => date !== null);
}

function check(
  payment: ReconciledPayment | ReconciledPrepayment,
  kind: 'payment' | 'prepayment',
  paid: Money | null,
  { decimals }: Settings,
  tags: Tags,
): PaymentFinding {
  const document = `${kind} ${payment.record.id}`;
  const side = paymentSide(kind, payment.sums);
  const posted = postedAmount(kind, payment.sums);
  if (isHeldChange(payment)) {
    const postedType = side[0]?.paymentType ?? null;
    return { differences: [], heldChanges: [heldPayment(payment, posted, postedType, decimals)] };
  }
  const expected = payment.state === 'posted' && !payment.gone ? (paid ?? zero) : zero;
  const right = sum(side.filter((line) => isTagged(line, tags)).map((line) => line.amount));
  const wrong = side.filter((line) => !isTagged(line, tags));
  if (right.equals(expected) && wrong.length === 0) return { differences: [], heldChanges: [] };

  const shown = side.map((line) => describe(line, decimals)).join(', ') || e4Texts.nothing;
  const source = expected.isZero()
    ? e4Texts.nothingExpected({ state: payment.gone ? e4Texts.gone : (payment.state ?? e2Texts.notJudged) })
    : e4Texts.line({
        ...{ amount: formatExact(expected, decimals), type: tags.paymentType, department: tags.departmentId },
        date: tags.dates[0] ?? null,
      });
  const amount = sum([expected.minus(right).abs(), ...wrong.map((line) => line.amount.abs())]);
  const message = e4Texts.differs({ ledger: shown, source }) + waitingHint(payment);
  return { differences: [{ document, amount, message }], heldChanges: [] };
}

function isTagged(line: LedgerSum, tags: Tags): boolean {
  return (
    line.paymentType === tags.paymentType &&
    line.departmentId === tags.departmentId &&
    tags.dates.includes(line.documentDate)
  );
}

function describe(line: LedgerSum, decimals: number): string {
  const { paymentType: type, departmentId: department, documentDate } = line;
  return e4Texts.line({ amount: formatExact(line.amount, decimals), type, department, date: documentDate });
}
