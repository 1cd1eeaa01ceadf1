// The OpenAPI description as its readers use it: the names of its schemas.
import { expect, test } from 'vitest';
import { describeApi } from '../src/index.ts';

type Json = Record<string, unknown>;
interface Media {
  content?: { 'application/json': { schema: { $ref?: string } } };
}
interface Operation {
  operationId: string;
  requestBody?: Media;
  responses: Record<string, Media>;
}

const description = (await describeApi()) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json> };
};
const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
const nameOf = (media: Media | undefined) =>
  media?.content?.['application/json'].schema.$ref?.replace('#/components/schemas/', '');
/** What an operation takes, and what it answers on success, by name. */
const namesOf = (operationId: string) => {
  const { requestBody, responses } = operations.find((one) => one.operationId === operationId) as Operation;
  return [requestBody && nameOf(requestBody), nameOf(responses[200] ?? responses[201])];
};

test.each<[operation: string, takes: string | undefined, answers: string]>([
  ['invoice_list', undefined, 'InvoiceList'],
  ['invoice_partial_update', 'InvoiceChange', 'Invoice'],
  ['invoice_full_refund', 'FullRefundInput', 'Invoice'],
  ['invoicerow_list', undefined, 'InvoiceRowList'],
  ['invoicepayment_create', 'InvoicePaymentInput', 'InvoicePayment'],
  ['unallocatedpayment_create', 'PrepaymentInput', 'Prepayment'],
  ['client_retrieve', undefined, 'Client'],
  ['accountnumber_update', 'AccountNumberInput', 'AccountNumber'],
  ['accountnumber_partial_update', 'AccountNumberChange', 'AccountNumber'],
  ['codelist_breeds_list', undefined, 'CodeListEntryList'],
  ['consultation_foods_create', 'ConsultationFoodInput', 'ConsultationItem'],
  ['countersale_create', 'CounterSaleInput', 'Invoice'],
  ['prescription_create', 'PrescriptionInput', 'Prescription'],
  ['appointment_create', 'AppointmentBookingInput', 'AppointmentBooking'],
  ['appointment_retrieve', undefined, 'Appointment'],
  ['wholesaler_receipts', 'ReceiptReportInput', 'ReceiptReport'],
])('%s takes %s and answers %s', (operation, takes, answers) => {
  expect(namesOf(operation)).toEqual([takes, answers]);
});

test('every body and every answer is a component, and every component is used', () => {
  const media = operations.flatMap(({ requestBody, responses }) => [
    ...(requestBody ? [requestBody] : []),
    ...Object.values(responses).filter(({ content }) => content),
  ]);
  expect(media.filter((one) => nameOf(one) === undefined)).toEqual([]);
  const text = JSON.stringify(description);
  const { schemas } = description.components;
  expect(Object.keys(schemas).filter((name) => !text.includes(`"#/components/schemas/${name}"`))).toEqual([]);
});
