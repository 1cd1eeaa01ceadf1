// Arguments of the clinic's operations. Everything optional has a default.
import type { Amount } from './money.ts';
import type { ExternalInfo, Payer, PrepaymentStatus, RowExtra, VatGroup } from './records.ts';

export interface RowInput {
  /** Net amount; up to 4 decimals. */
  sum: Amount;
  /** Percent; default 0. */
  vat_percentage?: Amount;
  /** Default: from `sum` and the percentage. */
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
  /** Default: the clinic's group of that percentage. */
  vat_group?: VatGroup;
}

export interface InvoiceInput {
  department?: number;
  client?: number | null;
  rows: RowInput[];
  /** Default 3 (Finalized). */
  status?: number;
  /** Default: today. */
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
  /** Default: what is due. */
  paid?: Amount;
  /** Epoch milliseconds; default: now. */
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
