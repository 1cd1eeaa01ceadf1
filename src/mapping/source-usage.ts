import type { Money } from '../domain/money.ts';
import type { CalendarDate } from '../terms.ts';

/** Rows of final invoices that have the same values in these fields: their number and exact sums. */
export interface RowUse {
  account: string | null;
  department: number | null;
  dimensions: [string | null, string | null, string | null];
  internal: { account: string | null; dimension1: string | null; dimension2: string | null };
  vat: { name: string | null; rate: Money | null; account: string | null };
  count: number;
  net: Money;
  vatAmount: Money;
  gross: Money;
  /** Whether any row has a net amount, or VAT, other than zero. Zero requires no account. */
  hasNet: boolean;
  hasVat: boolean;
  /** The first and last invoice dates; null if no date is readable. */
  dates: [CalendarDate, CalendarDate] | null;
}

/** Payments or prepayments of one type in one department. */
export interface MoneyUse {
  kind: 'payment' | 'prepayment';
  type: number | null;
  department: number | null;
  /** Payments on invoices that are part of the opening balances. */
  opening: boolean;
  count: number;
  paid: Money;
}

/**
 * Final invoices of one department. `collector` separates consolidated invoices from others, and `client` invoices with
 * a client from those without.
 */
export interface InvoiceUse {
  department: number | null;
  collector: boolean;
  client: boolean;
  count: number;
  gross: Money;
}

/**
 * The values of the mirror for which posting requires accounts, with their sums. Documents dated before start_date are
 * left out.
 */
export interface SourceUsage {
  rows: RowUse[];
  money: MoneyUse[];
  invoices: InvoiceUse[];
}
