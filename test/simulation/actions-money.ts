// Random actions of a life: payments and prepayments.

import { acceptedPaymentTypes } from '../../sandbox/src/http/codes.ts';
import { dec, fixed } from '../../sandbox/src/money.ts';
import type { Invoice, Prepayment } from '../../sandbox/src/records.ts';
import type { Rng } from '../../sandbox/src/rng.ts';
import type { WatchedClinic } from './clinic.ts';
import { type Action, pick, totalAmount } from './picks.ts';

const dayMs = 86_400_000;
const acceptedTypes = Object.keys(acceptedPaymentTypes).map(Number);

const isFinal = (invoice: Invoice): boolean => invoice.status === 3;
const isMoney = ({ status }: Prepayment): boolean => status === 'Ready' || status === 'Fully used';

const pay: Action = (clinic, rng) => {
  const invoice = pick(rng, clinic.invoices.all(), (each) => isFinal(each) && !dec(each.due_sum).isZero());
  if (!invoice) return null;
  const paid = rng.chance(0.6) ? invoice.due_sum : totalAmount(clinic, rng);
  const payment = clinic.pay(invoice.id, { payment_type: rng.pick(acceptedTypes), paid });
  return `payment ${payment.id} of ${paid}, type ${payment.payment_type}, on invoice ${invoice.id}`;
};

/** A payment of an invoice in any status, before the cut-over, of an unknown invoice, or of an unknown type. */
const payOddly: Action = (clinic, rng) => {
  const invoice = pick(rng, clinic.invoices.all())?.id ?? 99_999;
  const payment_type = rng.chance(0.1) ? 13 : rng.pick(acceptedTypes);
  const date_added = clinic.clock() - rng.int(0, 40) * dayMs;
  const id = rng.chance(0.05) ? 99_999 : invoice;
  const payment = clinic.putPayment(id, { payment_type, paid: totalAmount(clinic, rng), date_added });
  return `payment ${payment.id} of ${payment.paid}, type ${payment_type}, put on invoice ${id}`;
};

const cancel: Action = (clinic, rng) => {
  const payment = pick(rng, clinic.invoicePayments.all(), (each) => each.cancels === null);
  if (!payment) return null;
  const cancellation = clinic.cancelPayment(payment.id, '', clinic.clock() - rng.int(0, 3) * dayMs);
  return `payment ${payment.id} cancelled by ${cancellation.id}`;
};

const removePayment: Action = (clinic, rng) => {
  const payment = pick(rng, clinic.invoicePayments.all());
  if (!payment) return null;
  clinic.giveBack(payment);
  clinic.deleteRecord('invoicepayment', payment.id);
  return `payment ${payment.id} on invoice ${payment.invoice} gone from the source`;
};

const settleCredit: Action = (clinic, rng) => {
  const note = pick(
    rng,
    clinic.invoices.all(),
    (each) => each.credit_note && isFinal(each) && each.credit_note_original_invoice !== null,
  );
  const original = note && clinic.invoices.get(note.credit_note_original_invoice!);
  if (!note || !original) return null;
  const paid = note.total_with_vat;
  clinic.pay(note.id, { payment_type: 12, paid });
  clinic.pay(original.id, { payment_type: 12, paid: fixed(dec(paid).negated(), clinic.decimals) });
  return `invoice ${original.id} settled against credit note ${note.id}`;
};

const takePrepayment: Action = (clinic, rng) => {
  const prepayment = clinic.takePrepayment({
    department: rng.pick([11, 12, 13]),
    client: pick(rng, clinic.clients.all())!.id,
    payment_type: rng.chance(0.08) ? rng.pick([6, 8, 13]) : rng.pick([0, 1, 2, 7, 11, 15]),
    paid: totalAmount(clinic, rng),
    status: rng.weighted([
      ['Ready', 8],
      ['Pending', 2],
      ['Failed', 0.5],
    ] as const),
  });
  return `prepayment ${prepayment.id} of ${prepayment.paid}, ${prepayment.status}`;
};

const usable = (clinic: WatchedClinic, rng: Rng): Prepayment | undefined =>
  pick(
    rng,
    clinic.prepayments.all(),
    (each) => each.refunds === null && isMoney(each) && dec(each.unused_amount).greaterThan(0),
  );

const applyPrepayment: Action = (clinic, rng) => {
  const prepayment = usable(clinic, rng);
  if (!prepayment) return null;
  const own = pick(
    rng,
    clinic.invoices.all(),
    (each) => isFinal(each) && each.client === prepayment.client && dec(each.due_sum).greaterThan(0),
  );
  const invoice = rng.chance(0.8) ? own : pick(rng, clinic.invoices.all(), isFinal);
  if (!invoice) return null;
  const part = fixed(dec(prepayment.unused_amount).times(rng.int(1, 10)).div(10), clinic.decimals);
  const payment = clinic.applyPrepayment(
    prepayment.id,
    invoice.id,
    rng.chance(0.5) && dec(invoice.due_sum).greaterThan(0) ? undefined : part,
  );
  return `${payment.paid} of prepayment ${prepayment.id} used on invoice ${invoice.id} by payment ${payment.id}`;
};

/** A prepayment that is used at once. */
const takeAndUse: Action = (clinic, rng) => {
  const invoice = pick(rng, clinic.invoices.all(), (each) => isFinal(each) && dec(each.due_sum).greaterThan(0));
  if (!invoice) return null;
  const { id } = clinic.takePrepayment({
    ...{ department: invoice.department, client: pick(rng, clinic.clients.all())!.id, payment_type: 7 },
    ...{ paid: invoice.due_sum, status: 'Ready' },
  });
  return `prepayment ${id} taken and used by payment ${clinic.applyPrepayment(id, invoice.id).id}`;
};

const refundPrepayment: Action = (clinic, rng) => {
  const prepayment = usable(clinic, rng);
  if (!prepayment) return null;
  const refunded = clinic.prepayments.all().filter((each) => each.refunds === prepayment.id);
  // If refunds do not lower `unused_amount`, a second refund would pay out more than was paid in.
  if (!clinic.quirks.refundLowersUnused && refunded.length > 0) return null;
  const part = fixed(dec(prepayment.unused_amount).times(rng.int(1, 10)).div(10), clinic.decimals);
  const other = rng.chance(0.3) ? { payment_type: rng.pick([1, 2]) } : {};
  return `${part} of prepayment ${prepayment.id} paid back by ${clinic.refundPrepayment(prepayment.id, part, other).id}`;
};

/** A prepayment without uses; with uses, the source would contradict itself. */
const untouched = (clinic: WatchedClinic, rng: Rng): Prepayment | undefined =>
  pick(
    rng,
    clinic.prepayments.all(),
    (each) =>
      each.refunds === null &&
      dec(each.unused_amount).equals(each.paid) &&
      !clinic.prepayments.all().some((other) => other.refunds === each.id) &&
      !clinic.invoicePayments.all().some((payment) => payment.prepayment === each.id),
  );

const changeStatus: Action = (clinic, rng) => {
  const prepayment = untouched(clinic, rng);
  if (!prepayment) return null;
  const status = isMoney(prepayment) ? rng.pick(['Failed', 'Aborted', 'Pending'] as const) : 'Ready';
  clinic.commit(() => clinic.update(clinic.prepayments, prepayment, { status }));
  return `prepayment ${prepayment.id} is ${status}`;
};

const removePrepayment: Action = (clinic, rng) => {
  const prepayment = untouched(clinic, rng);
  if (!prepayment) return null;
  clinic.deleteRecord('unallocatedpayment', prepayment.id);
  return `prepayment ${prepayment.id} gone from the source`;
};

const writeBack: Action = (clinic, rng) => {
  const prepayment = pick(rng, clinic.prepayments.all());
  if (!prepayment) return null;
  clinic.mergeExternalInfo(prepayment.id, { external_id: `x${rng.int(1, 999)}` });
  return `prepayment ${prepayment.id} has another external_id`;
};

export const moneyActions: [number, Action][] = [
  [26, pay],
  [8, payOddly],
  [5, cancel],
  [2, removePayment],
  [2, settleCredit],
  [12, takePrepayment],
  [16, applyPrepayment],
  [4, takeAndUse],
  [6, refundPrepayment],
  [2, changeStatus],
  [1, removePrepayment],
  [1, writeBack],
];
