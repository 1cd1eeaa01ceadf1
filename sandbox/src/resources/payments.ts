// practice-api: Invoice payment; States: Invoice status; Errors.
import { z } from 'zod';
import { acceptedPaymentTypes, code, codeInput, paymentTypes } from '../http/codes.ts';
import { amount, answer, id, money, optionalText, text, time, timestamp, url } from '../http/fields.ts';
import { idFilter, listRoute } from '../http/listing.ts';
import { reference } from '../http/references.ts';
import { instant, pathId, type RouteSpec, route } from '../http/route.ts';
import { requireCancellable, requirePayment } from '../money-rules.ts';
import type { InvoicePayment } from '../records.ts';

const section = 'Invoices, payments, prepayments';
const permission = 'Financial: Invoices';

const record = answer({
  id: id(),
  url: url(),
  invoice: url(),
  payment_type: code(paymentTypes),
  paid: amount(),
  date_added: time(),
  info: z.string(),
});

/** The payment types that a request may write: all but 8 (Prepayment). */
export const paymentType = () => codeInput(acceptedPaymentTypes);

export const paymentRoutes: RouteSpec[] = [
  listRoute<InvoicePayment>({
    path: 'invoicepayment/',
    action: 'invoicepayment.list',
    summary: 'Payments on invoices',
    ...{ section, permission, record },
    table: ({ clinic }) => clinic.invoicePayments,
    filters: {
      ...idFilter,
      invoice: { kind: { record: 'invoice' }, operators: ['is', 'in'], value: (payment) => payment.invoice },
    },
    wire: ({ wire }, payment) => wire.invoicePayment(payment),
    group: 'invoice',
  }),
  route({
    method: 'POST',
    path: 'invoicepayment/',
    action: 'invoicepayment.create',
    summary: 'Record a payment on a finalized invoice',
    ...{ section, permission },
    body: z.object({
      invoice: reference('invoice'),
      payment_type: paymentType(),
      paid: money('notZero'),
      date_added: timestamp(),
      info: optionalText(1000).optional(),
    }),
    answers: { 201: record },
    handle: (request) => {
      const { body, clinic, wire } = request;
      const { info = '', payment_type, paid } = body;
      requirePayment(clinic, body.invoice, { payment_type, paid });
      const payment = clinic.pay(body.invoice, {
        ...{ payment_type, paid, info },
        date_added: instant(request, body.date_added, 'date_added'),
      });
      return { status: 201, body: wire.invoicePayment(payment) };
    },
  }),
  route({
    method: 'POST',
    path: 'invoicepayment/:id/cancel_payment/',
    action: 'invoicepayment.cancel_payment',
    summary: 'Cancel a payment by a negative one',
    ...{ section, permission },
    body: z.object({ info: text(1000), cancel_date: timestamp() }),
    answers: { 201: record },
    handle: (request) => {
      const { info, cancel_date } = request.body;
      requireCancellable(request.clinic, pathId(request));
      const when = instant(request, cancel_date, 'cancel_date');
      return {
        status: 201,
        body: request.wire.invoicePayment(request.clinic.cancelPayment(pathId(request), info, when)),
      };
    },
  }),
];
