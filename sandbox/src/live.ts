// Live events: actions of staff or clients that happen in the clinic now.
import { inventClient } from './catalogue.ts';
import type { Clinic } from './clinic.ts';
import { dec, fixed } from './money.ts';
import type { Invoice, Prepayment } from './records.ts';
import { invoiceStatus } from './records.ts';
import { invoiceVisit } from './visit-care.ts';
import { settlements as inventedSettlements, payNow, payRest, settleAgainst, visitRows } from './visits.ts';

export interface LiveEvent {
  /** ISO 8601 in UTC. */
  at: string;
  kind: string;
  /** A description of the event in plain words. */
  text: string;
  invoice?: number;
  payment?: number;
  prepayment?: number;
  client?: number;
}

type Happening = Omit<LiveEvent, 'at' | 'kind'>;

/** Only the history uses gift cards, because it knows their remaining amounts. */
const settlements = inventedSettlements.filter(([kind]) => kind !== 'giftCard');

/** Live events search this number of the newest records for one that they can use. */
const reach = 400;

/** The kinds of events with their weights. A function returns null if the clinic has no suitable record. */
const happenings: readonly (readonly [string, number, (clinic: Clinic) => Happening | null])[] = [
  ['invoice_finalised_at_once', 24, (clinic) => newInvoice(clinic, invoiceStatus.final)],
  ['draft_created', 10, (clinic) => newInvoice(clinic, invoiceStatus.draft)],
  ['draft_finalised', 12, finaliseDraft],
  ['counter_sale', 9, counterSale],
  ['payment', 18, payOpenInvoice],
  ['payment_cancelled', 4, cancelPayment],
  ['full_credit_note', 3, (clinic) => creditNote(clinic, true)],
  ['partial_credit_note', 3, (clinic) => creditNote(clinic, false)],
  ['prepayment_taken', 7, takePrepayment],
  ['prepayment_used', 5, usePrepayment],
  ['prepayment_refunded', 3, refundPrepayment],
  ['payer_changed', 3, changePayer],
  ['invoice_voided', 1, voidInvoice],
  ['invoices_consolidated', 1, consolidate],
  ['client_registered', 1, registerClient],
];

/** Makes this number of events happen now and returns them. */
export const live = (clinic: Clinic, events: number): LiveEvent[] =>
  Array.from({ length: events }, () => clinic.commit(() => happen(clinic)));

const happen = (clinic: Clinic): LiveEvent => {
  const at = new Date(clinic.clock()).toISOString();
  const [kind, , run] = clinic.liveRng.weighted(happenings.map((happening) => [happening, happening[1]] as const));
  const happened = run(clinic);
  if (happened) return { at, kind, ...happened };
  return { at, kind: 'invoice_finalised_at_once', ...newInvoice(clinic, invoiceStatus.final) };
};

const name = (invoice: Invoice): string =>
  invoice.invoice_number === null
    ? `draft ${invoice.id}`
    : `invoice ${invoice.invoice_prefix}-${invoice.invoice_number}`;

const recent = <T>(records: readonly T[], wanted: (record: T) => boolean): T[] => records.slice(-reach).filter(wanted);

const pickInvoice = (clinic: Clinic, wanted: (invoice: Invoice) => boolean): Invoice | undefined =>
  clinic.liveRng.pick(recent(clinic.invoices.all(), wanted));

const isOrdinary = (invoice: Invoice): boolean =>
  invoice.status === invoiceStatus.final &&
  !invoice.credit_note &&
  invoice.consolidated_invoices.length === 0 &&
  invoice.consolidated_invoice === null;

const isOpen = (invoice: Invoice): boolean => isOrdinary(invoice) && dec(invoice.due_sum).greaterThan(0);

const isUsable = (prepayment: Prepayment): boolean =>
  prepayment.refunds === null && prepayment.status === 'Ready' && dec(prepayment.unused_amount).greaterThan(0);

function newInvoice(clinic: Clinic, status: number): Happening {
  const rng = clinic.liveRng;
  const client = rng.pick(clinic.clients.all());
  const department = rng.pick([...clinic.departments.keys()]);
  const rows = visitRows(rng, clinic, client);
  const invoice = invoiceVisit(clinic, { department, client: client.id, rows, status, booked: true });
  if (status === invoiceStatus.final) payNow(rng, clinic, invoice, rng.weighted(settlements));
  return { text: `${name(invoice)} of ${invoice.total_with_vat}`, invoice: invoice.id };
}

function finaliseDraft(clinic: Clinic): Happening | null {
  const draft = pickInvoice(clinic, (invoice) => invoice.status === invoiceStatus.draft);
  if (!draft) return null;
  const invoice = clinic.finalise(draft.id);
  payNow(clinic.liveRng, clinic, invoice, clinic.liveRng.weighted(settlements));
  return { text: `draft ${draft.id} became ${name(invoice)}`, invoice: invoice.id };
}

function counterSale(clinic: Clinic): Happening {
  const rng = clinic.liveRng;
  const department = rng.pick([...clinic.departments.keys()]);
  const invoice = clinic.createInvoice({ department, countersale: true, rows: visitRows(rng, clinic, null, true) });
  payNow(rng, clinic, invoice, rng.pick(['card', 'mobile', 'cash']));
  return { text: `counter sale, ${name(invoice)} of ${invoice.total_with_vat}`, invoice: invoice.id };
}

function payOpenInvoice(clinic: Clinic): Happening | null {
  const invoice = pickInvoice(clinic, isOpen);
  if (!invoice) return null;
  const due = invoice.due_sum;
  payRest(clinic, invoice, clinic.liveRng.chance(0.2) ? 'insurance' : 'bankLater');
  return { text: `${due} paid on ${name(invoice)}`, invoice: invoice.id };
}

function cancelPayment(clinic: Clinic): Happening | null {
  const cancelled = new Set(
    clinic.invoicePayments
      .all()
      .slice(-reach)
      .map((payment) => payment.cancels),
  );
  const candidates = recent(
    clinic.invoicePayments.all(),
    (payment) =>
      payment.payment_type === 0 &&
      payment.cancels === null &&
      !cancelled.has(payment.id) &&
      dec(payment.paid).greaterThan(0),
  );
  const payment = clinic.liveRng.pick(candidates);
  if (!payment) return null;
  const reversal = clinic.cancelPayment(payment.id, 'Recorded on the wrong invoice');
  return { text: `payment ${payment.id} of ${payment.paid} cancelled`, invoice: payment.invoice, payment: reversal.id };
}

function creditNote(clinic: Clinic, full: boolean): Happening | null {
  const credited = new Set(
    clinic.invoices
      .all()
      .slice(-reach)
      .map((invoice) => invoice.credit_note_original_invoice),
  );
  const original = pickInvoice(
    clinic,
    (invoice) => isOrdinary(invoice) && !credited.has(invoice.id) && dec(invoice.total_with_vat).greaterThan(0),
  );
  if (!original) return null;
  const rows = clinic.invoiceRows
    .of(original.id)
    .slice(0, 1)
    .map((row) => row.id);
  const note = clinic.credit(original.id, full ? {} : { rows });
  if (isOpen(original)) settleAgainst(clinic, original, note);
  else if (!dec(note.due_sum).isZero()) clinic.pay(note.id, { payment_type: 0, info: 'Refund' });
  return { text: `credit note of ${note.total_with_vat} for ${name(original)}`, invoice: note.id };
}

function takePrepayment(clinic: Clinic): Happening {
  const rng = clinic.liveRng;
  const prepayment = clinic.takePrepayment({
    department: rng.pick([...clinic.departments.keys()]),
    client: rng.pick(clinic.clients.all()).id,
    payment_type: rng.pick([0, 2, 7]),
    paid: fixed(dec(rng.int(2, 40) * 10), clinic.decimals),
    description: 'Deposit',
    external_info: rng.chance(0.3) ? { till: `K${rng.int(1, 4)}` } : {},
  });
  return { text: `prepayment of ${prepayment.paid}`, prepayment: prepayment.id };
}

function usePrepayment(clinic: Clinic): Happening | null {
  const rng = clinic.liveRng;
  const prepayment = rng.pick(recent(clinic.prepayments.all(), isUsable));
  if (!prepayment) return null;
  const client = clinic.clients.get(prepayment.client) ?? null;
  const rows = visitRows(rng, clinic, client);
  const { client: clientId, department } = prepayment;
  const invoice = invoiceVisit(clinic, {
    department,
    client: clientId,
    rows,
    status: invoiceStatus.final,
    booked: true,
  });
  if (!isOpen(invoice)) return { text: `${name(invoice)} of ${invoice.total_with_vat}`, invoice: invoice.id };
  const payment = clinic.applyPrepayment(prepayment.id, invoice.id);
  const text = `${payment.paid} of prepayment ${prepayment.id} used on ${name(invoice)}`;
  return { text, invoice: invoice.id, payment: payment.id, prepayment: prepayment.id };
}

function refundPrepayment(clinic: Clinic): Happening | null {
  const original = clinic.liveRng.pick(recent(clinic.prepayments.all(), isUsable));
  // If refunds do not lower `unused_amount` (a quirk), a second refund would pay out more than the client paid.
  if (!original || clinic.prepayments.all().some((other) => other.refunds === original.id)) return null;
  const refund = clinic.refundPrepayment(original.id, original.unused_amount);
  return { text: `${refund.paid} refunded of prepayment ${original.id}`, prepayment: refund.id };
}

function changePayer(clinic: Clinic): Happening | null {
  const invoice = pickInvoice(clinic, (candidate) => isOrdinary(candidate) && candidate.client !== null);
  if (!invoice) return null;
  const client = clinic.liveRng.pick(clinic.clients.all());
  clinic.changePayer(invoice.id, client.id);
  return { text: `${name(invoice)} is now paid by client ${client.id}`, invoice: invoice.id, client: client.id };
}

function voidInvoice(clinic: Clinic): Happening | null {
  const invoice = pickInvoice(
    clinic,
    (candidate) => isOpen(candidate) && clinic.invoicePayments.of(candidate.id).length === 0,
  );
  if (!invoice) return null;
  clinic.voidInvoice(invoice.id);
  return { text: `${name(invoice)} voided`, invoice: invoice.id };
}

function consolidate(clinic: Clinic): Happening | null {
  const first = pickInvoice(clinic, (invoice) => isOpen(invoice) && invoice.client !== null);
  if (!first) return null;
  const members = recent(clinic.invoices.all(), (invoice) => isOpen(invoice) && invoice.client === first.client);
  const collector = clinic.consolidate(members.map((member) => member.id));
  return { text: `${members.length} invoices collected into ${name(collector)}`, invoice: collector.id };
}

function registerClient(clinic: Clinic): Happening {
  const client = clinic.insert(clinic.clients, inventClient(clinic.liveRng, clinic.clients.size + 1));
  return { text: `client ${client.id} registered`, client: client.id };
}
