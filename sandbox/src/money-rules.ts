// What the API refuses of payments, prepayments and credit notes; staff can do more in the application (practice-api: States: Invoice
// status; Endpoints: Invoices, payments, prepayments; Errors).
// Not shown, and chosen: a payment is not zero. It has the sign of the invoice's total: a cancellation records money that is paid back;
// types 3 (Rounding) and 12 (Credit invoice) may have either sign. More than is due is accepted (quirk `overpayments`);
// due_sum is negative then. A payment may be dated before its invoice, and in the future. Types 6 and 12 are recorded as sent, without
// another invoice; a payment of type 6 is not cancelled, because the consolidated invoice would be wrong. A cancellation is not cancelled.
// A refund has the client and the department of its prepayment, which is money (Ready or Fully used) and no refund itself; a positive
// `paid` refunds nothing. Every row is credited once (quirk `repeatedCredits`), so that a full refund needs an invoice of which no row is
// credited; a row whose credit was credited counts as not credited. Credit notes are finalized invoices and can be credited (quirk
// `creditedCreditNotes`). An invoice may be due before its date.
import type { Clinic } from './clinic.ts';
import { type Amount, dec } from './money.ts';
import { type Invoice, invoiceStatus, type Prepayment, ValidationProblem } from './records.ts';

const rounding = 3;
const consolidated = 6;
/** Credit invoice. */
const settlesByNote = 12;

/** Refuses a payment on an invoice. */
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

/** Refuses the cancellation of a payment. */
export const requireCancellable = (clinic: Clinic, id: number): void => {
  if (clinic.payment(id).payment_type === consolidated) {
    throw new ValidationProblem('non_field_errors', 'A payment by a consolidated invoice cannot be cancelled.');
  }
};

/** Refuses a prepayment's refund. */
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

/** Refuses a credit note of the whole invoice, or of the rows. */
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

/** The rows of an invoice that its credit notes credit, without those whose credit was credited in turn. */
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
