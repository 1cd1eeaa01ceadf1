// The clinic's records in memory. Names are those of practice-api and its field notes. References are ids (url-references in
// answers), instants epoch milliseconds, amounts decimal text.
import type { Amount } from './money.ts';

export interface RecordBase {
  id: number;
  created: number;
  modified: number;
}

export const invoiceStatus = { draft: 0, sent: 1, open: 2, final: 3, invoicing: 4, voided: 99 } as const;

/** practice-api: Invoice payment. It appears on lists and is never accepted. */
export const prepaymentType = 8;

export interface Payer {
  payer_name: string;
  payer_organization_name: string;
  payer_id_number: string;
  payer_register_number: string;
  payer_vat_number: string;
  payer_street_address: string;
  payer_street_address_2: string;
  payer_zip_code: string;
  payer_city: string;
  payer_state: string;
  payer_country: string;
  payer_country_code: string;
}

export interface Invoice extends RecordBase, Payer {
  status: number;
  invoice_number: number | null;
  invoice_prefix: string;
  invoice_date: string;
  invoice_due_date: string;
  date_paid: number | null;
  credit_note: boolean;
  countersale: boolean;
  total: Amount;
  total_vat: Amount;
  total_with_vat: Amount;
  due_sum: Amount;
  reference_number: string;
  additional_reference: string;
  client: number | null;
  department: number;
  consultation: number | null;
  credit_note_original_invoice: number | null;
  consolidated_invoice: number | null;
  consolidated_invoices: number[];
}

export interface VatGroup {
  name: string;
  percentage: Amount;
  account_number: string;
}

export interface RowExtra {
  account_number: string | null;
  reporting_dimension_1: string | null;
  reporting_dimension_2: string | null;
}

export interface InvoiceRow extends RecordBase {
  invoice: number;
  name: string;
  quantity: Amount;
  price: Amount;
  price_with_vat: Amount;
  sum: Amount;
  sum_vat: Amount;
  sum_total: Amount;
  vat_percentage: Amount;
  account_number: string;
  reporting_dimension_1: string | null;
  reporting_dimension_2: string | null;
  reporting_dimension_3: string | null;
  credited_invoicerow: number | null;
  invoice_row_extra: RowExtra;
  vat_group: VatGroup;
}

export interface InvoicePayment extends RecordBase {
  invoice: number;
  payment_type: number;
  paid: Amount;
  date_added: number;
  info: string;
  /** Not in answers: the payment that this one cancels, and the prepayment that a type 8 payment uses. */
  cancels: number | null;
  prepayment: number | null;
}

export type ExternalInfo = Record<string, unknown>;
export type PrepaymentStatus = 'Ready' | 'Pending' | 'Fully used' | 'Failed' | 'Aborted';

export interface Prepayment extends RecordBase {
  department: number;
  client: number;
  payment_type: number;
  paid: Amount;
  description: string;
  refunds: number | null;
  unused_amount: Amount;
  fully_used: boolean;
  status: PrepaymentStatus;
  external_info: ExternalInfo;
}

export interface Client extends RecordBase {
  firstname: string;
  lastname: string;
  organization_name: string;
  email: string;
  country: string;
  customer_type: number;
  no_sms: boolean;
  no_email: boolean;
  archived: boolean;
  /** When the client last said whether SMS and e-mail may be sent; null before. Not in answers. */
  preferences_stated_at: number | null;
  /** For the payer snapshot. Not in answers, because the specification does not name these fields. */
  payer: Payer;
}

export interface AccountNumber extends RecordBase {
  number: string;
  description: string;
  department: number | null;
  archived: boolean;
}

export interface AlternativePayer extends RecordBase {
  name: string;
  organization_name: string;
  vat_number: string;
  street_address: string;
  zip_code: string;
  city: string;
  country: string;
  archived: boolean;
}

export interface AlternativePricing extends RecordBase {
  name: string;
  percentage: Amount;
  archived: boolean;
}

export interface AccountingReport extends RecordBase {
  department: number;
  date: string;
  invoices: number;
  total: Amount;
  total_vat: Amount;
  total_with_vat: Amount;
}

export interface Department {
  id: number;
  name: string;
  prefix: string;
  next_invoice_number: number;
  financial_period_lock_date: string | null;
  automatic_financial_period_lock_enabled: boolean;
  automatic_financial_period_lock_day: number;
  payment_cancel_set_date: boolean;
  enable_communication_preferences: boolean;
  /** practice-api: Department settings. Whether payment links may be made. */
  allow_nhp_processing: boolean;
  /** The item that the fee of an online prescription is sold as; null where the clinic takes none. */
  prescription_fee_item: number | null;
}

/** An invalid request, answered with `{"<field>": ["message"]}` as Django REST Framework does. */
export class ValidationProblem extends Error {
  readonly fields: Record<string, string[]>;

  /** `more`: other fields that the same message is about. */
  constructor(field: string, message: string, more: readonly string[] = []) {
    super(`${field}: ${message}`);
    this.fields = Object.fromEntries([field, ...more].map((name) => [name, [message]]));
  }
}

/** A missing record, answered with 404 `{"detail": "Not found."}`. */
export class NotFound extends Error {}
