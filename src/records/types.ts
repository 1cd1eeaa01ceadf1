import type { Money } from '../domain/money.ts';
import type { ProblemCode } from '../texts/problems.ts';

/**
 * The source's records as facts (parsed in src/records/schema.ts). Amounts are exact. Dates are the source's text,
 * because their time zone is the installation's (src/domain/dates.ts). An amount that is absent or not a number is null
 * and listed in `defects`. Only its own document is then held (field-notes: What hurts users).
 */

/** A field that could not be read. */
export interface Defect {
  /** The problem of a document that needs the field. */
  code: DefectCode;
  /** The field's name in the source. */
  field: string;
  /** The end of the sentence "<field> …", for example `is missing` (src/texts/findings/records.ts). */
  message: string;
}

export type DefectCode = Extract<
  ProblemCode,
  'amount_missing' | 'amount_invalid' | 'field_invalid' | 'foreign_reference' | 'record_too_large'
>;

/** The payer's data as the invoice contains them (practice-api: Invoice). */
export interface Payer {
  name: string | null;
  vatNumber: string | null;
  /** Together with the client it identifies a payer without VAT number (ACCOUNTING R8). */
  registerNumber?: string | null;
  countryCode: string | null;
}

export interface InvoiceRecord {
  kind: 'invoice';
  id: number;
  status: number | null;
  number: string | null;
  prefix: string | null;
  invoiceDate: string | null;
  dueDate: string | null;
  created: string | null;
  modified: string | null;
  creditNote: boolean;
  countersale: boolean;
  total: Money | null;
  totalVat: Money | null;
  totalWithVat: Money | null;
  dueSum: Money | null;
  bankReference: string | null;
  clientId: number | null;
  departmentId: number | null;
  originalInvoiceId: number | null;
  /** Members of a consolidated invoice. If it is not empty, this invoice is the collector (ACCOUNTING R10). */
  consolidatedInvoiceIds: number[];
  payer: Payer;
  defects: Defect[];
}

export interface RowRecord {
  kind: 'row';
  id: number;
  invoiceId: number | null;
  name: string | null;
  sum: Money | null;
  sumVat: Money | null;
  sumTotal: Money | null;
  accountNumber: string | null;
  dimensions: [string | null, string | null, string | null];
  internal: { account: string | null; dimension1: string | null; dimension2: string | null };
  vatGroup: { name: string | null; rate: Money | null; account: string | null } | null;
  vatPercentage: Money | null;
  creditedRowId: number | null;
  modified: string | null;
  defects: Defect[];
}

export interface PaymentRecord {
  kind: 'payment';
  id: number;
  invoiceId: number | null;
  paymentType: number | null;
  paid: Money | null;
  dateAdded: string | null;
  modified: string | null;
  defects: Defect[];
}

export interface PrepaymentRecord {
  kind: 'prepayment';
  id: number;
  clientId: number | null;
  departmentId: number | null;
  paymentType: number | null;
  paid: Money | null;
  unusedAmount: Money | null;
  refundsId: number | null;
  /**
   * `ready`, `fully used`, `pending`, `failed` or `aborted`, in lower case. Null if the source gives none, which counts
   * as `ready`.
   */
  status: string | null;
  created: string | null;
  modified: string | null;
  description: string | null;
  /** The value of `external_info.external_id` in the source. */
  externalId: string | null;
  defects: Defect[];
}

export type SourceRecord = InvoiceRecord | RowRecord | PaymentRecord | PrepaymentRecord;

/** A record of the practice software's list of account numbers. */
export interface AccountNumber {
  number: string;
  description: string | null;
  departmentId: number | null;
  archived: boolean;
}
