// practice-api: Invoice payment; States: Invoice status; Errors.
import type { FilterFields } from '../filters.ts';
import { type ApiRequest, decimalField, pathId, type Route, refField, textField, timeField } from '../http.ts';
import { idFilter, list } from '../listing.ts';
import { type InvoicePayment, paymentTypes, prepaymentType, ValidationProblem } from '../records.ts';

const filters: FilterFields<InvoicePayment> = {
  ...idFilter,
  invoice: { kind: 'integer', operators: ['is', 'in'], value: (payment) => payment.invoice },
};

export const paymentRoutes: Route[] = [
  {
    method: 'GET',
    path: 'invoicepayment/',
    action: 'invoicepayment.list',
    handle: (request) =>
      list(request, request.clinic.invoicePayments, {
        filters,
        wire: (payment) => request.wire.invoicePayment(payment),
        group: 'invoice',
      }),
  },
  { method: 'POST', path: 'invoicepayment/', action: 'invoicepayment.create', handle: (request) => create(request) },
  {
    method: 'POST',
    path: 'invoicepayment/:id/cancel_payment/',
    action: 'invoicepayment.cancel_payment',
    handle: (request) => {
      const info = textField(request.body, 'info');
      const reversal = request.clinic.cancelPayment(pathId(request), info, timeField(request, 'cancel_date'));
      return { status: 201, body: request.wire.invoicePayment(reversal) };
    },
  },
];

const create = (request: ApiRequest) => {
  const { body, clinic } = request;
  const invoice = refField(body, 'invoice');
  if (!clinic.invoices.get(invoice))
    throw new ValidationProblem('invoice', 'Invalid hyperlink - Object does not exist.');
  const payment = clinic.pay(invoice, {
    payment_type: paymentTypeField(body),
    paid: decimalField(body, 'paid', clinic.decimals),
    date_added: timeField(request, 'date_added'),
    info: textField(body, 'info', ''),
  });
  return { status: 201, body: request.wire.invoicePayment(payment) };
};

/** A payment type that may be written: any but 8 (Prepayment). */
export const paymentTypeField = (body: Record<string, unknown>): number => {
  const text = textField(body, 'payment_type');
  const known = paymentTypes.find((type) => String(type) === text);
  if (known === undefined || known === prepaymentType) {
    throw new ValidationProblem('payment_type', `"${text}" is not a valid choice.`);
  }
  return known;
};
