// What the clinic's operations take; everything that can be left out has a sensible default.
import type { Amount } from './money.ts';
import type { ExternalInfo, Payer, PrepaymentStatus, RowExtra, VatGroup } from './records.ts';

export interface RowInput {
  /** Net amount; up to 4 decimals. */
  sum: Amount;
  /** Percent; 0 unless given. */
  vat_percentage?: Amount;
  /** From `sum` and the percentage unless given. */
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
  /** The clinic's group of that percentage unless given. */
  vat_group?: VatGroup;
}

export interface InvoiceInput {
  department?: number;
  client?: number | null;
  rows: RowInput[];
  /** 3 Finalized unless given. */
  status?: number;
  /** Today unless given. */
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
  /** What is due unless given. */
  paid?: Amount;
  /** Epoch milliseconds; now unless given. */
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
