// practice-api: Postransaction (payment link); Endpoints: Payment links.
// Choices of the sandbox: /invoice/{id}/postransactions/ lists an invoice's links, and /postransaction/{id}/ reads one.
// The default of `creator` is the application's virtual user. `department` must be the invoice's, or prepayment_data's.
// `duration` is at most a year. `return_url` must be https; http is allowed for this machine's names. `aborted` is true
// if the payer aborted. `payment_method` is card or mobile. `cashier_desk` and `refunded_transaction` are always null
// for links.
import { z } from 'zod';
import {
  code,
  codeInput,
  deliveryMethods,
  deliveryStatuses,
  linkPaymentTypes,
  linkTerminals,
  linkTransactionTypes,
  paymentStatuses,
} from '../http/codes.ts';
import { amount, answer, id, integer, money, optionalText, time, url } from '../http/fields.ts';
import { envelope, list, listQuery } from '../http/listing.ts';
import { reference } from '../http/references.ts';
import { type ApiRequest, pathId, type RouteSpec, route } from '../http/route.ts';
import { createLink, statusOf } from '../online/payment-links.ts';
import { userOf } from '../people.ts';
import { NotFound, ValidationProblem } from '../records.ts';
import { type Postransaction, paymentStatus } from '../state/online.ts';
import type { WireRecord } from '../wire.ts';
import { emailAddress, phoneNumber, returnUrl } from './contact-fields.ts';

const section = 'Payment links';
const permission = 'Financial: Payment links';
const minutesOfYear = 366 * 24 * 60;

const record = answer({
  id: id(),
  task_id: z.uuid(),
  created: time(),
  modified: time(),
  amount: amount(),
  terminal_id: code(linkTerminals),
  payment_type: code(linkPaymentTypes),
  transaction_type: code(linkTransactionTypes),
  creator: url().nullable(),
  department: url(),
  invoice: url().nullable(),
  prepayment_data: answer({ client_id: id(), department_id: id(), description: z.string() }).nullable(),
  aborted: z.boolean(),
  cashier_desk: z.null(),
  payment_method: z.enum(['card', 'mobile']).nullable(),
  payment: url().nullable(),
  unallocated_payment: url().nullable(),
  refunded_transaction: z.null(),
  payment_link: answer({
    external_id: z.uuid(),
    url: z.string(),
    expiration_time: time(),
    payment_status: code(paymentStatuses),
    delivery_status: code(deliveryStatuses),
  }),
});

const createBody = z.object({
  amount: money('aboveZero'),
  terminal_id: codeInput(linkTerminals),
  payment_type: codeInput(linkPaymentTypes),
  transaction_type: codeInput(linkTransactionTypes),
  creator: reference('user').nullish(),
  department: reference('department'),
  invoice: reference('invoice').nullish(),
  payment_link_data: z.object({
    duration: integer({ min: 1, max: minutesOfYear }),
    delivery_method: codeInput(deliveryMethods).prefault(1),
    email: emailAddress().optional(),
    phone: phoneNumber().optional(),
    description: optionalText(1000).optional(),
    return_url: returnUrl().nullish(),
    invoice_id: integer({ min: 1 }).nullish(),
    tokenize: z.enum(['yes', 'no', 'ask'], 'Not a valid choice.').optional(),
    recurring_model: z.enum(['subscription', 'one-off'], 'Not a valid choice.').optional(),
  }),
  prepayment_data: z
    .object({
      client_id: integer({ min: 1 }),
      department_id: integer({ min: 1 }),
      description: optionalText(1000).default(''),
    })
    .nullish(),
});

const wired = ({ clinic, wire }: ApiRequest, transaction: Postransaction): WireRecord => {
  const { link } = transaction;
  const status = statusOf(transaction, clinic.clock());
  return {
    id: transaction.id,
    task_id: transaction.task_id,
    created: wire.time(transaction.created),
    modified: wire.time(transaction.modified),
    amount: wire.text(transaction.amount),
    terminal_id: 0,
    payment_type: 5003,
    transaction_type: 4,
    creator: wire.ref('user', transaction.creator),
    department: wire.ref('department', transaction.department),
    invoice: wire.ref('invoice', transaction.invoice),
    prepayment_data: transaction.prepayment_data,
    aborted: status === paymentStatus.aborted,
    cashier_desk: null,
    payment_method: transaction.payment_method,
    payment: wire.ref('invoicepayment', transaction.payment),
    unallocated_payment: wire.ref('unallocatedpayment', transaction.unallocated_payment),
    refunded_transaction: null,
    payment_link: {
      external_id: link.external_id,
      url: wire.payPage(link.token),
      expiration_time: wire.time(link.expires),
      payment_status: status,
      delivery_status: link.delivery_status,
    },
  };
};

/**
 * Checks that the link pays for one thing: an invoice link names the same invoice twice; a prepayment link has
 * `prepayment_data` and no invoice.
 */
const requireOneSubject = ({ invoice, prepayment_data, payment_link_data }: z.output<typeof createBody>): void => {
  const { invoice_id } = payment_link_data;
  if (prepayment_data != null) {
    if (invoice != null || invoice_id != null) {
      throw new ValidationProblem('prepayment_data', 'Send either an invoice or prepayment_data.');
    }
    return;
  }
  if (invoice == null) throw new ValidationProblem('invoice', 'This field is required for an invoice link.');
  if (invoice_id == null) throw new ValidationProblem('payment_link_data', 'invoice_id: this field is required.');
  if (invoice_id !== invoice) throw new ValidationProblem('payment_link_data', 'invoice_id: is not the invoice.');
};

const create = (request: ApiRequest<unknown, z.output<typeof createBody>>): Postransaction => {
  const { application, body, clinic } = request;
  requireOneSubject(body);
  const { invoice_id, ...data } = body.payment_link_data;
  return createLink(clinic, {
    ...data,
    amount: body.amount,
    creator: body.creator ?? userOf(clinic, application).id,
    department: body.department,
    invoice: body.invoice ?? null,
    prepayment_data: body.prepayment_data ?? null,
  });
};

export const postransactionRoutes: RouteSpec[] = [
  route({
    ...{ method: 'POST', path: 'postransaction/', action: 'postransaction.create', section, permission },
    summary: 'Make a payment link for an invoice or a prepayment',
    body: createBody,
    answers: { 201: record },
    handle: (request) => ({ status: 201, body: wired(request, create(request)) }),
  }),
  route({
    ...{ method: 'GET', path: 'postransaction/:id/', action: 'postransaction.retrieve', section, permission },
    summary: 'One payment link',
    answers: { 200: record },
    handle: (request) => {
      const transaction = request.clinic.online.postransactions.get(pathId(request));
      if (!transaction) throw new NotFound();
      return { status: 200, body: wired(request, transaction) };
    },
  }),
  route({
    ...{
      method: 'GET',
      path: 'invoice/:id/postransactions/',
      action: 'invoice.postransactions.list',
      section,
      permission,
    },
    summary: 'The payment links of an invoice',
    query: listQuery<Postransaction>({}),
    answers: { 200: envelope(record) },
    handle: (request) => {
      const invoice = request.clinic.invoice(pathId(request));
      return list<Postransaction>(request, request.clinic.online.postransactions, {
        filters: {},
        parent: invoice.id,
        wire: (transaction) => wired(request, transaction),
      });
    },
  }),
];
