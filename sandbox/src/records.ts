// The clinic's records in memory. Field names are those of practice-api and the field notes. References are ids
// (answers have url-references), instants are epoch milliseconds, amounts are decimal text.
import type { Amount } from './money.ts';

export interface RecordBase {
  id: number;
  created: number;
  modified: number;
}

export const invoiceStatus = { draft: 0, sent: 1, open: 2, final: 3, invoicing: 4, voided: 99 } as const;

/**
 * The payment type of a payment from a prepayment. Lists show it; the API never accepts it (practice-api: Invoice
 * payment).
 */
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
  /**
   * The payment that this one cancels, and the prepayment that a type 8 payment uses. Answers do not have these fields.
   */
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
  /**
   * The time of the client's last statement about SMS and e-mail; null before the first. Answers do not have this
   * field.
   */
  preferences_stated_at: number | null;
  /** The client's fields for payer snapshots. Answers lack them, because the specification does not name them. */
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
  /** True if payment links may be made (practice-api: Department settings). */
  allow_nhp_processing: boolean;
  /** The item that the fee of an online prescription is sold as; null if the clinic charges no fee. */
  prescription_fee_item: number | null;
}

/** An invalid request, answered with `{"<field>": ["message"]}` as Django REST Framework does. */
export class ValidationProblem extends Error {
  readonly fields: Record<string, string[]>;

  /** `more` names other fields with the same message. */
  constructor(field: string, message: string, more: readonly string[] = []) {
    super(`${field}: ${message}`);
    this.fields = Object.fromEntries([field, ...more].map((name) => [name, [message]]));
  }
}

/** A missing record, answered with 404 `{"detail": "Not found."}`. */
export class NotFound extends Error {}
