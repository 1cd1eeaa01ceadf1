// The API's rules for payments, prepayments and credit notes; staff can do more in the application (practice-api:
// States: Invoice status; Endpoints: Invoices, payments, prepayments; Errors).
// Choices of the sandbox: a payment is not zero. It has the sign of the invoice's total, because a cancellation records
// money that is paid back; types 3 (Rounding) and 12 (Credit invoice) may have either sign. The API accepts more than
// is due (quirk `overpayments`); due_sum is negative then. A payment may be dated before its invoice, and in the
// future. The API records types 6 and 12 as sent, without another invoice. A payment of type 6 cannot be cancelled,
// because the consolidated invoice would be wrong. A cancellation cannot be cancelled. A refund has the client and the
// department of its prepayment. The prepayment must be Ready or Fully used, and not a refund; a positive `paid` is
// refused. Every row is credited once (quirk `repeatedCredits`), so a full refund needs an invoice without credited
// rows. If a credit note is credited in full, its rows count as not credited. Credit notes are finalized invoices and
// can be credited (quirk `creditedCreditNotes`). An invoice may be due before its date.
import type { Clinic } from './clinic.ts';
import { type Amount, dec } from './money.ts';
import { type Invoice, invoiceStatus, type Prepayment, ValidationProblem } from './records.ts';

const rounding = 3;
const consolidated = 6;
/** The payment type "Credit invoice". */
const settlesByNote = 12;

/** Throws ValidationProblem if the API refuses this payment on the invoice. */
export const requirePayment = (clinic: Clinic, id: number, payment: { payment_type: number; paid: Amount }): void => {
  const { total_with_vat, due_sum, status } = clinic.invoice(id);
  const paid = dec(payment.paid);
  if (status !== invoiceStatus.final || payment.payment_type === rounding || payment.payment_type === settlesByNote)
    return;
  const isOfCredit = dec(total_with_vat).isNegative();
  if (paid.isNegative() !== isOfCredit) {
    const sign = isOfCredit ? 'negative on an invoice with a negative total' : 'positive; cancel a payment to undo it';
    throw new ValidationProblem('paid', `The amount must be ${sign}.`);
  }
  const rest = dec(due_sum).minus(paid);
  if (!clinic.quirks.overpayments && !rest.isZero() && rest.isNegative() !== isOfCredit) {
    throw new ValidationProblem('paid', `The amount exceeds what is due (${due_sum}).`);
  }
};

/** Throws ValidationProblem if the API refuses to cancel the payment. */
export const requireCancellable = (clinic: Clinic, id: number): void => {
  if (clinic.payment(id).payment_type === consolidated) {
    throw new ValidationProblem('non_field_errors', 'A payment by a consolidated invoice cannot be cancelled.');
  }
};

/** Throws ValidationProblem if the API refuses this refund of the prepayment. */
export const requireRefund = (
  original: Prepayment,
  { client, department, paid }: { client: number; department: number; paid: Amount },
): void => {
  if (dec(paid).isPositive()) throw new ValidationProblem('paid', 'Send a negative amount with refunds.');
  if (original.refunds !== null) throw new ValidationProblem('refunds', 'It is a refund itself.');
  if (original.status !== 'Ready' && original.status !== 'Fully used') {
    throw new ValidationProblem('refunds', `The prepayment is ${original.status}: there is nothing to refund.`);
  }
  if (client !== original.client) throw new ValidationProblem('client', 'The prepayment is of another client.');
  if (department !== original.department) {
    throw new ValidationProblem('department', 'The prepayment is of another department.');
  }
};

/** Throws ValidationProblem if the API refuses to credit the whole invoice, or these rows. */
export const requireCreditable = (clinic: Clinic, id: number, rows?: readonly number[]): void => {
  const { creditedCreditNotes, repeatedCredits } = clinic.quirks;
  const invoice = clinic.invoice(id);
  if (invoice.credit_note && !creditedCreditNotes) {
    throw new ValidationProblem('non_field_errors', 'A credit note cannot be refunded.');
  }
  if (repeatedCredits) return;
  const wanted = rows ?? clinic.invoiceRows.of(id).map((row) => row.id);
  const credited = creditedRows(clinic, invoice);
  const again = wanted.find((row) => credited.has(row));
  if (again === undefined) return;
  if (rows) throw new ValidationProblem('invoice_rows', `Row ${again} is credited already.`);
  throw new ValidationProblem('non_field_errors', `Row ${again} is credited already. Refund the other rows.`);
};

/** The rows of an invoice that credit notes have credited. Rows whose credit was credited again are not included. */
const creditedRows = (clinic: Clinic, { id }: Invoice): Set<number> => {
  const notes = clinic.invoices
    .all()
    .filter((note) => note.credit_note_original_invoice === id && note.status === invoiceStatus.final);
  return new Set(
    notes.flatMap((note) => {
      const takenBack = creditedRows(clinic, note);
      const rows = clinic.invoiceRows.of(note.id).filter((row) => !takenBack.has(row.id));
      return rows.flatMap((row) => row.credited_invoicerow ?? []);
    }),
  );
};
