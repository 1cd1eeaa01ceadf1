// practice-api: Invoice, Invoice row; Endpoints: Invoices, payments, prepayments.
import type { FilterFields } from '../filters.ts';
import { type ApiRequest, booleanField, pathId, type Route, refOf } from '../http.ts';
import { idFilter, list, modifiedFilter } from '../listing.ts';
import { type Invoice, type InvoiceRow, ValidationProblem } from '../records.ts';

const invoiceFilters: FilterFields<Invoice> = {
  ...idFilter,
  ...modifiedFilter,
  status: { kind: 'integer', operators: ['is'], value: (invoice) => invoice.status },
  invoice_date: { kind: 'date', operators: ['gte', 'lte'], value: (invoice) => invoice.invoice_date },
  date_paid: { kind: 'time', operators: ['gte'], value: (invoice) => invoice.date_paid },
  client: { kind: 'integer', operators: ['is'], value: (invoice) => invoice.client },
  department: { kind: 'integer', operators: ['is'], value: (invoice) => invoice.department },
  credit_note: { kind: 'boolean', operators: ['is'], value: (invoice) => invoice.credit_note },
  countersale: { kind: 'boolean', operators: ['is'], value: (invoice) => invoice.countersale },
};

const rowFilters: FilterFields<InvoiceRow> = {
  ...idFilter,
  modified: { kind: 'time', operators: ['gte', 'lt'], value: (row) => row.modified },
  invoice: { kind: 'integer', operators: ['is', 'in'], value: (row) => row.invoice },
};

export const invoiceRoutes: Route[] = [
  {
    method: 'GET',
    path: 'invoice/',
    action: 'invoice.list',
    handle: (request) =>
      list(request, request.clinic.invoices, {
        filters: invoiceFilters,
        wire: (invoice) => request.wire.invoice(invoice),
      }),
  },
  {
    method: 'POST',
    path: 'invoice/:id/full_refund/',
    action: 'invoice.full_refund',
    handle: (request) => credit(request, undefined),
  },
  {
    method: 'POST',
    path: 'invoice/:id/partial_refund/',
    action: 'invoice.partial_refund',
    handle: (request) => credit(request, rowsOf(request)),
  },
  {
    method: 'GET',
    path: 'invoicerow/',
    action: 'invoicerow.list',
    handle: (request) => {
      const expose = request.query.has('expose_invoicerow_vat_group');
      const wire = (row: InvoiceRow) => request.wire.invoiceRow(row, expose);
      return list(request, request.clinic.invoiceRows, { filters: rowFilters, wire, group: 'invoice' });
    },
  },
];

const credit = (request: ApiRequest, rows: number[] | undefined) => {
  const useOriginalDate = booleanField(request.body, 'use_original_invoice_date', false);
  const creditNote = request.clinic.credit(pathId(request), { useOriginalDate, ...(rows ? { rows } : {}) });
  return { status: 201, body: request.wire.invoice(creditNote) };
};

const rowsOf = (request: ApiRequest): number[] => {
  const rows = request.body.invoice_rows;
  if (!Array.isArray(rows)) throw new ValidationProblem('invoice_rows', 'This field is required.');
  return rows.map((row) => refOf(String((row as Record<string, unknown> | null)?.invoice_row ?? ''), 'invoice_rows'));
};
