import type { Dialect } from '../records/dialect.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../records/json.ts';
import { at, recordId } from '../records/schema.ts';
import type { Resource } from '../records/tenant.ts';
import type { InvoiceRecord, PaymentRecord, RowRecord } from '../records/types.ts';
import { amount, flag, integer, readReference, type Scalar, text } from '../records/values.ts';

/**
 * What the equations compare of the mirror's records, read as `parseRecord` reads it: a field that is absent or cannot be read is null
 * (false for a flag, empty for a list). Only these fields are read: a record has several times as many, and a clinic millions of records.
 */
export type InvoiceFacts = Pick<
  InvoiceRecord,
  | 'id'
  | 'status'
  | 'invoiceDate'
  | 'creditNote'
  | 'totalVat'
  | 'totalWithVat'
  | 'dueSum'
  | 'clientId'
  | 'departmentId'
  | 'originalInvoiceId'
  | 'consolidatedInvoiceIds'
>;
export type PaymentFacts = Pick<PaymentRecord, 'kind' | 'id' | 'invoiceId' | 'paymentType' | 'paid' | 'dateAdded'>;
export interface RowFacts
  extends Pick<RowRecord, 'id' | 'sum' | 'sumVat' | 'vatPercentage' | 'accountNumber' | 'dimensions' | 'internal'> {
  vatGroup: Pick<NonNullable<RowRecord['vatGroup']>, 'name' | 'rate'> | null;
}

export function invoiceFacts(value: JsonValue, dialect: Dialect): InvoiceFacts {
  const names = dialect.fields.invoice;
  const record = objectOf(value);
  return {
    id: recordId('invoice', value, names.id),
    status: read(record, names.status, integer),
    invoiceDate: read(record, names.invoice_date, text),
    creditNote: read(record, names.credit_note, flag) ?? false,
    totalVat: read(record, names.total_vat, amount),
    totalWithVat: read(record, names.total_with_vat, amount),
    dueSum: read(record, names.due_sum, amount),
    clientId: reference(record, names.client, dialect, 'client'),
    departmentId: reference(record, names.department, dialect, 'department'),
    originalInvoiceId: reference(record, names.original_invoice, dialect, 'invoice'),
    consolidatedInvoiceIds: references(record, names.consolidated_invoices, dialect, 'invoice'),
  };
}

export function paymentFacts(value: JsonValue, dialect: Dialect): PaymentFacts {
  const names = dialect.fields.payment;
  const record = objectOf(value);
  return {
    kind: 'payment',
    id: recordId('payment', value, names.id),
    invoiceId: reference(record, names.invoice, dialect, 'invoice'),
    paymentType: read(record, names.payment_type, integer),
    paid: read(record, names.paid, amount),
    dateAdded: read(record, names.date_added, text),
  };
}

/** Few rows are asked for more than their sums and their VAT: the rest is read then. */
export function rowFacts(value: JsonValue, dialect: Dialect): RowFacts {
  const names = dialect.fields.row;
  const record = objectOf(value);
  return {
    id: recordId('row', value, names.id),
    sum: read(record, names.sum, amount),
    sumVat: read(record, names.sum_vat, amount),
    vatGroup:
      at(record, names.vat_group) == null
        ? null
        : { name: read(record, names.vat_group_name, text), rate: read(record, names.vat_group_rate, amount) },
    vatPercentage: read(record, names.vat_percentage, amount),
    get accountNumber() {
      return read(record, names.account_number, text);
    },
    get dimensions(): RowRecord['dimensions'] {
      return [
        read(record, names.dimension_1, text),
        read(record, names.dimension_2, text),
        read(record, names.dimension_3, text),
      ];
    },
    get internal() {
      return {
        account: read(record, names.internal_account, text),
        dimension1: read(record, names.internal_dimension_1, text),
        dimension2: read(record, names.internal_dimension_2, text),
      };
    },
  };
}

function objectOf(value: JsonValue): JsonObject {
  return isJsonObject(value) ? value : {};
}

function read<T>(record: JsonObject, field: string, type: Scalar<T>): T | null {
  const value = at(record, field);
  return value == null ? null : (type.read(value) ?? null);
}

function reference(record: JsonObject, field: string, dialect: Dialect, resource: Resource): number | null {
  const value = at(record, field);
  const found = value == null ? null : readReference(value, dialect, resource);
  return typeof found === 'number' ? found : null;
}

function references(record: JsonObject, field: string, dialect: Dialect, resource: Resource): number[] {
  const value = at(record, field);
  if (!Array.isArray(value)) return [];
  const found = value.map((each) => readReference(each, dialect, resource));
  const ids = found.filter((each) => typeof each === 'number');
  return ids.length === found.length ? ids : [];
}
