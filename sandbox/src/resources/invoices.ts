// practice-api: Invoice, Invoice row; Endpoints: Invoices, payments, prepayments. Choices of the sandbox: a PATCH of the
// invoice writes `invoice_date` (of drafts) and `invoice_due_date`; it ignores other fields. An invoice has no endpoint
// that reads it alone.
import { z } from 'zod';
import { code, invoiceStatuses } from '../http/codes.ts';
import { amount, answer, boolean, date, day, id, time, url } from '../http/fields.ts';
import type { FilterFields } from '../http/filters.ts';
import { idFilter, listRoute, modifiedFilter } from '../http/listing.ts';
import { reference } from '../http/references.ts';
import { type ApiRequest, pathId, type RouteSpec, route } from '../http/route.ts';
import { requireCreditable } from '../money-rules.ts';
import type { Invoice, InvoiceRow } from '../records.ts';

const section = 'Invoices, payments, prepayments';
const permission = 'Financial: Invoices';

const payer = {
  payer_name: z.string(),
  payer_organization_name: z.string(),
  payer_id_number: z.string(),
  payer_register_number: z.string(),
  payer_vat_number: z.string(),
  payer_street_address: z.string(),
  payer_street_address_2: z.string(),
  payer_zip_code: z.string(),
  payer_city: z.string(),
  payer_state: z.string(),
  payer_country: z.string(),
  payer_country_code: z.string(),
};

export const invoiceRecord = answer({
  id: id(),
  url: url(),
  ...payer,
  status: code(invoiceStatuses),
  invoice_number: z.int().nullable(),
  invoice_prefix: z.string(),
  invoice_date: day(),
  invoice_due_date: day(),
  created: time(),
  modified: time(),
  date_paid: time().nullable(),
  credit_note: z.boolean(),
  countersale: z.boolean(),
  total: amount(),
  total_vat: amount(),
  total_with_vat: amount(),
  due_sum: amount(),
  reference_number: z.string(),
  additional_reference: z.string(),
  client: url().nullable(),
  department: url(),
  consultation: url().nullable(),
  credit_note_original_invoice: url().nullable(),
  consolidated_invoice: url().nullable(),
  consolidated_invoices: z.array(url()),
});

const dimension = z.string().nullable();

export const rowRecord = answer({
  id: id(),
  url: url(),
  invoice: url(),
  name: z.string(),
  quantity: amount(),
  price: amount(),
  price_with_vat: amount(),
  sum: amount(),
  sum_vat: amount(),
  sum_total: amount(),
  vat_percentage: amount(),
  account_number: z.string(),
  reporting_dimension_1: dimension,
  reporting_dimension_2: dimension,
  reporting_dimension_3: dimension,
  credited_invoicerow: url().nullable(),
  invoice_row_extra: answer({
    account_number: z.string().nullable(),
    reporting_dimension_1: dimension,
    reporting_dimension_2: dimension,
  }),
  invoicerow_vat_group: answer({ name: z.string(), percentage: amount(), account_number: z.string() }).optional(),
  created: time(),
  modified: time(),
});

const invoiceFilters: FilterFields<Invoice> = {
  ...idFilter,
  ...modifiedFilter,
  status: { kind: 'integer', operators: ['is'], value: (invoice) => invoice.status },
  invoice_date: { kind: 'date', operators: ['gte', 'lte'], value: (invoice) => invoice.invoice_date },
  date_paid: { kind: 'time', operators: ['gte'], value: (invoice) => invoice.date_paid },
  client: { kind: { record: 'client' }, operators: ['is'], value: (invoice) => invoice.client },
  department: { kind: { record: 'department' }, operators: ['is'], value: (invoice) => invoice.department },
  credit_note: { kind: 'boolean', operators: ['is'], value: (invoice) => invoice.credit_note },
  countersale: { kind: 'boolean', operators: ['is'], value: (invoice) => invoice.countersale },
};

const rowFilters: FilterFields<InvoiceRow> = {
  ...idFilter,
  modified: { kind: 'time', operators: ['gte', 'lt'], value: (row) => row.modified },
  invoice: { kind: { record: 'invoice' }, operators: ['is', 'in'], value: (row) => row.invoice },
};

const vatGroupFlag = 'expose_invoicerow_vat_group';
const refund = { use_original_invoice_date: boolean().optional() };

const credit = (request: ApiRequest, useOriginalDate: boolean | undefined, rows?: number[]) => {
  requireCreditable(request.clinic, pathId(request), rows);
  const creditNote = request.clinic.credit(pathId(request), {
    useOriginalDate: useOriginalDate ?? false,
    ...(rows ? { rows } : {}),
  });
  return { status: 201, body: request.wire.invoice(creditNote) };
};

export const invoiceRoutes: RouteSpec[] = [
  listRoute<Invoice>({
    path: 'invoice/',
    action: 'invoice.list',
    summary: 'Invoices and credit notes',
    ...{ section, permission },
    table: ({ clinic }) => clinic.invoices,
    filters: invoiceFilters,
    record: invoiceRecord,
    wire: ({ wire }, invoice) => wire.invoice(invoice),
  }),
  route({
    method: 'PATCH',
    path: 'invoice/:id/',
    action: 'invoice.partial_update',
    summary: 'Change the due date; of a draft, the business date too',
    ...{ section, permission },
    body: z.object({ invoice_date: date().optional(), invoice_due_date: date().optional() }),
    answers: { 200: invoiceRecord },
    handle: (request) => {
      const { invoice_date, invoice_due_date } = request.body;
      const invoice = request.clinic.redate(pathId(request), {
        ...(invoice_date === undefined ? {} : { invoice_date }),
        ...(invoice_due_date === undefined ? {} : { invoice_due_date }),
      });
      return { status: 200, body: request.wire.invoice(invoice) };
    },
  }),
  route({
    method: 'POST',
    path: 'invoice/:id/full_refund/',
    action: 'invoice.full_refund',
    summary: 'A credit note of all rows',
    ...{ section, permission },
    body: z.object(refund),
    answers: { 201: invoiceRecord },
    handle: (request) => credit(request, request.body.use_original_invoice_date),
  }),
  route({
    method: 'POST',
    path: 'invoice/:id/partial_refund/',
    action: 'invoice.partial_refund',
    summary: 'A credit note of the selected rows',
    ...{ section, permission },
    body: z.object({
      invoice_rows: z
        .array(z.object({ invoice_row: reference('invoicerow') }))
        .min(1, 'This list may not be empty.')
        .max(1000),
      ...refund,
    }),
    answers: { 201: invoiceRecord },
    handle: (request) =>
      credit(
        request,
        request.body.use_original_invoice_date,
        request.body.invoice_rows.map((row) => row.invoice_row),
      ),
  }),
  listRoute<InvoiceRow>({
    path: 'invoicerow/',
    action: 'invoicerow.list',
    summary: 'Rows of invoices',
    ...{ section, permission },
    table: ({ clinic }) => clinic.invoiceRows,
    filters: rowFilters,
    flags: { [vatGroupFlag]: 'each row has its invoicerow_vat_group' },
    record: rowRecord,
    wire: ({ wire, search }, row) => wire.invoiceRow(row, search.has(vatGroupFlag)),
    group: 'invoice',
  }),
];
