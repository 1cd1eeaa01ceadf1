// Arguments of the clinic's operations. Every optional argument has a default.
import type { Amount } from './money.ts';
import type { ExternalInfo, Payer, PrepaymentStatus, RowExtra, VatGroup } from './records.ts';

export interface RowInput {
  /** Net amount with up to 4 decimals. */
  sum: Amount;
  /** Percent; the default is 0. */
  vat_percentage?: Amount;
  /** The default is computed from `sum` and the percentage. */
  sum_vat?: Amount;
  sum_total?: Amount;
  account_number?: string;
  name?: string;
  quantity?: Amount;
  price?: Amount;
  price_with_vat?: Amount;
  reporting_dimension_1?: string | null;
  reporting_dimension_2?: string | null;
  reporting_dimension_3?: string | null;
  credited_invoicerow?: number | null;
  invoice_row_extra?: Partial<RowExtra>;
  /** The default is the clinic's VAT group with that percentage. */
  vat_group?: VatGroup;
}

export interface InvoiceInput {
  department?: number;
  client?: number | null;
  rows: RowInput[];
  /** The default is 3 (Finalized). */
  status?: number;
  /** The default is today. */
  invoice_date?: string;
  payer?: Partial<Payer>;
  countersale?: boolean;
  credit_note?: boolean;
  credit_note_original_invoice?: number | null;
  consolidated_invoices?: number[];
  consultation?: number | null;
}

export interface PaymentInput {
  payment_type: number;
  /** The default is the invoice's due sum. */
  paid?: Amount;
  /** Epoch milliseconds; the default is now. */
  date_added?: number;
  info?: string;
}

export interface PrepaymentInput {
  department?: number;
  client?: number;
  payment_type: number;
  paid: Amount;
  description?: string;
  status?: PrepaymentStatus;
  external_info?: ExternalInfo;
}
