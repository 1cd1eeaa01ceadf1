// Payment links: made for an invoice or a prepayment, and paid, refused, aborted or left to expire by the payer
// (practice-api: Postransaction; States: Payment link).
// Choices of the sandbox: the payer changes 1 Pending to 5 Accepted, 2 Failed or 4 Aborted; the clinic's clock changes
// it to 3 Expired. These four are final: later actions on the page change nothing. A payment fails if the clinic can no
// longer record it, because the invoice was paid or voided, or the period is locked. A card payment has payment type 0,
// a mobile payment type 7.
import type { Clinic } from '../clinic.ts';
import { type Amount, dec } from '../money.ts';
import { type Client, type Invoice, invoiceStatus, NotFound, ValidationProblem } from '../records.ts';
import {
  type DeliveryMethod,
  deliveryStatus,
  type PaymentLink,
  type PaymentMethod,
  type Postransaction,
  type PrepaymentData,
  paymentStatus,
} from '../state/online.ts';
import { hex, uuid } from './ids.ts';
import { recipientOf, send } from './messages.ts';

export interface LinkInput {
  amount: Amount;
  creator: number | null;
  department: number;
  /** Either `invoice` or `prepayment_data` is null. */
  invoice: number | null;
  prepayment_data: PrepaymentData | null;
  /** Minutes until the link expires. */
  duration: number;
  delivery_method: DeliveryMethod;
  /** The default is the client's first e-mail address and mobile number. */
  email?: string | undefined;
  phone?: string | undefined;
  description?: string | undefined;
  return_url?: string | null | undefined;
  tokenize?: PaymentLink['tokenize'] | undefined;
  recurring_model?: PaymentLink['recurring_model'] | undefined;
}

const paymentTypeOf: Record<PaymentMethod, number> = { card: 0, mobile: 7 };

/** Makes a payment link and sends it. Throws ValidationProblem before it changes anything. */
export const createLink = (clinic: Clinic, input: LinkInput): Postransaction =>
  clinic.commit(() => {
    const client = payerOf(clinic, input);
    requirePayable(clinic, input);
    const { postransactions } = clinic.online;
    const { amount, creator, department, invoice, prepayment_data } = input;
    const rng = clinic.onlineRng;
    const transaction = clinic.insert(postransactions, {
      task_id: uuid(rng),
      ...{ amount, creator, department, invoice, prepayment_data },
      payment_method: null,
      payment: null,
      unallocated_payment: null,
      link: {
        external_id: uuid(rng),
        token: `${postransactions.nextId}-${hex(rng, 24)}`,
        expires: clinic.clock() + input.duration * 60_000,
        status: paymentStatus.pending,
        delivery_status: deliveryStatus.notSent,
        description: input.description ?? '',
        return_url: input.return_url ?? null,
        tokenize: input.tokenize ?? 'no',
        recurring_model: input.recurring_model ?? 'one-off',
        consent: false,
        failure: null,
      },
    });
    const known = recipientOf(clinic, client);
    const recipient = { ...known, email: input.email ?? known.email, phone: input.phone ?? known.phone };
    const { status } = send(clinic, input.delivery_method, recipient, {
      subject: `Payment to ${clinic.department(department).name}`,
      text: `Please pay ${amount} for ${subjectOf(clinic, transaction)} until ${clinic.zone.timestamp(transaction.link.expires, 'offset').slice(0, 16)}.`,
      payment_link: transaction.link.token,
    });
    transaction.link.delivery_status = status;
    return transaction;
  });

/** The client who will pay; null for a counter sale without a client. */
const payerOf = (clinic: Clinic, { department, invoice, prepayment_data }: LinkInput): Client | null => {
  const isKnown = clinic.departments.get(department);
  if (!isKnown) throw new ValidationProblem('department', 'Object does not exist.');
  if (!isKnown.allow_nhp_processing) {
    throw new ValidationProblem('department', 'Payment links are not allowed in this department.');
  }
  if (prepayment_data !== null) {
    const client = clinic.clients.get(prepayment_data.client_id);
    if (!client) throw new ValidationProblem('prepayment_data', 'client_id: object does not exist.');
    if (prepayment_data.department_id !== department) {
      throw new ValidationProblem('prepayment_data', 'department_id: must be the department of the transaction.');
    }
    return client;
  }
  const found = invoice === null ? undefined : clinic.invoices.get(invoice);
  if (!found) throw new ValidationProblem('invoice', 'Object does not exist.');
  if (found.department !== department)
    throw new ValidationProblem('department', 'The invoice is of another department.');
  return found.client === null ? null : (clinic.clients.get(found.client) ?? null);
};

const requirePayable = (clinic: Clinic, { amount, invoice }: Pick<LinkInput, 'amount' | 'invoice'>): void => {
  if (!dec(amount).greaterThan(0)) throw new ValidationProblem('amount', 'The amount must be positive.');
  if (invoice === null) return;
  const { status, due_sum } = clinic.invoice(invoice);
  if (status !== invoiceStatus.final) throw new ValidationProblem('invoice', 'Only a finalized invoice can be paid.');
  if (dec(amount).greaterThan(due_sum)) {
    throw new ValidationProblem('amount', `The amount exceeds what is due on the invoice (${due_sum}).`);
  }
};

/** The payment status at an instant. A pending link expires without an event, so its status depends on the clock. */
export const statusOf = ({ link }: Postransaction, nowMs: number): number =>
  link.status === paymentStatus.pending && nowMs >= link.expires ? paymentStatus.expired : link.status;

/** Finds the transaction by the token in the address of its payment page. Throws NotFound. */
export const byToken = (clinic: Clinic, token: string): Postransaction => {
  const transaction = clinic.online.postransactions.get(Number.parseInt(token, 10));
  if (transaction?.link.token !== token) throw new NotFound();
  return transaction;
};

/** Describes in words what the link pays for. */
export const subjectOf = (clinic: Clinic, { invoice }: Postransaction): string => {
  if (invoice === null) return 'a prepayment';
  const found: Invoice | undefined = clinic.invoices.get(invoice);
  return found?.invoice_number == null ? 'an invoice' : `invoice ${found.invoice_prefix}-${found.invoice_number}`;
};

/** Applies an action of the payer. Returns false if the link is no longer pending; it does not change then. */
const act = (clinic: Clinic, transaction: Postransaction, change: () => Partial<PaymentLink>): boolean =>
  clinic.commit(() => {
    if (statusOf(transaction, clinic.clock()) !== paymentStatus.pending) return false;
    const changes = change();
    clinic.update(clinic.online.postransactions, transaction, { link: { ...transaction.link, ...changes } });
    return true;
  }, 'request');

/**
 * Records the payment on the invoice, or the prepayment, once. Throws ValidationProblem if `tokenize` is `yes` and the
 * payer has not agreed to save the payment details.
 */
export const payLink = (
  clinic: Clinic,
  transaction: Postransaction,
  method: PaymentMethod,
  consent: boolean,
): boolean =>
  act(clinic, transaction, () => {
    if (transaction.link.tokenize === 'yes' && !consent) {
      throw new ValidationProblem('consent', 'Saving the payment details needs your consent.');
    }
    try {
      record(clinic, transaction, method);
    } catch (problem) {
      if (!(problem instanceof ValidationProblem || problem instanceof NotFound)) throw problem;
      const failure = problem instanceof NotFound ? 'The invoice does not exist any more.' : textOf(problem);
      return { status: paymentStatus.failed, failure };
    }
    return { status: paymentStatus.accepted, consent: consent && transaction.link.tokenize !== 'no' };
  });

const record = (clinic: Clinic, transaction: Postransaction, method: PaymentMethod): void => {
  const { amount, invoice, prepayment_data, link } = transaction;
  const payment_type = paymentTypeOf[method];
  const { postransactions } = clinic.online;
  requirePayable(clinic, { amount, invoice });
  if (prepayment_data === null) {
    const info = `Payment link ${link.external_id}`;
    const payment = clinic.pay(invoice ?? 0, { payment_type, paid: amount, info });
    clinic.update(postransactions, transaction, { payment: payment.id, payment_method: method });
    return;
  }
  const { client_id: client, department_id: department, description } = prepayment_data;
  const prepayment = clinic.takePrepayment({ department, client, payment_type, paid: amount, description });
  clinic.update(postransactions, transaction, { unallocated_payment: prepayment.id, payment_method: method });
};

const textOf = (problem: ValidationProblem): string => Object.values(problem.fields).flat().join(' ');

/** Records that the payment was refused, for example by the bank. */
export const failLink = (clinic: Clinic, transaction: Postransaction): boolean =>
  act(clinic, transaction, () => ({ status: paymentStatus.failed, failure: 'The payment was refused.' }));

/** Records that the payer cancelled the payment. */
export const abortLink = (clinic: Clinic, transaction: Postransaction): boolean =>
  act(clinic, transaction, () => ({ status: paymentStatus.aborted }));
