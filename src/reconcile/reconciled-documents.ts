import type { ProblemDetails } from '../documents/save.ts';
import { type Money, sum, zero } from '../domain/money.ts';
import type { StoredUse } from '../prepayments/used.ts';
import type { InvoiceRecord, PaymentRecord, PrepaymentRecord, RowRecord } from '../records/types.ts';
import type { CalendarDate, DocumentState, LineRole } from '../terms.ts';
import { reconcileTexts } from '../texts/findings/reconcile.ts';

/** The sum of a document's lines with the same tags, over all its entries; sums of zero are left out. */
export interface LedgerSum {
  account: string;
  role: LineRole;
  invoiceId: number | null;
  partyCode: string | null;
  paymentType: number | null;
  departmentId: number | null;
  documentDate: CalendarDate;
  /** A debit is positive. */
  amount: Money;
}

/** A line of the entry in force. */
export interface LineInForce {
  account: string;
  role: LineRole;
  partyCode: string | null;
  vatGroup: string | null;
  vatRate: Money | null;
  documentDate: CalendarDate;
  rowIds: number[];
  /** A debit is positive. */
  amount: Money;
}

/** A document with the compared data: its record in the mirror, its state, and its sums in the ledger. */
export interface ReconciledDocument<Record = unknown> {
  record: Record;
  /** Whether the accountant confirmed that the document is gone from the source. */
  gone: boolean;
  /** Whether the mirror has more than one version of the document. */
  changed: boolean;
  state: DocumentState | null;
  problem: string | null;
  /** For a held change: the posted facts that have changed in the source; absent if unknown. */
  changes?: ProblemDetails['changes'];
  /** Whether the document waits to be judged again. */
  dirty: boolean;
  documentDate: CalendarDate | null;
  sums: LedgerSum[];
}

export interface ReconciledPayment extends ReconciledDocument<PaymentRecord> {
  /** For a payment of type 8: the stored use of prepayments. Absent for other documents, and if no use is stored. */
  used?: Omit<StoredUse, 'paymentId'>;
}
export type ReconciledPrepayment = ReconciledDocument<PrepaymentRecord>;

export interface ReconciledInvoice extends ReconciledDocument<InvoiceRecord> {
  payments: ReconciledPayment[];
  rows: RowRecord[];
  /** Lines of the document's entry in force; null if no entry is in force. */
  inForce: LineInForce[] | null;
  /** Whether the document has entries that were reversed. */
  wasCorrected: boolean;
}

/** Total of the sums or lines that `wanted` selects; a debit is positive. */
export function balance<T extends { amount: Money }>(sums: T[], wanted: (each: T) => boolean): Money {
  return sum(sums.filter(wanted).map(({ amount }) => amount));
}

/** Roles of VAT lines on payments and prepayments, which cancel each other in each entry (R5, R13). */
const ofVat: readonly LineRole[] = ['vat', 'prepayment_vat', 'vat_not_due', 'opening_vat_not_due'];

/** The lines of a payment's or prepayment's entries that are neither receivable nor liability (R4 to R7). */
export function paymentSide(kind: 'payment' | 'prepayment', sums: LedgerSum[]): LedgerSum[] {
  return sums
    .filter(({ role }) => !ofVat.includes(role))
    .filter(({ role }) =>
      kind === 'payment' ? role !== 'receivable' && role !== 'opening_receivable' : role !== 'prepayment_liability',
    );
}

/** The posted amount of a payment or prepayment. */
export function postedAmount(kind: 'payment' | 'prepayment', sums: LedgerSum[]): Money {
  return sum(paymentSide(kind, sums).map((each) => each.amount));
}

/** Whether a posted document has a held change: the equations then use its posted facts (ACCOUNTING Dates). */
export function isHeldChange({ state, problem }: ReconciledDocument): boolean {
  return state === 'posted' && problem !== null;
}

/**
 * The VAT of a posted invoice, as E8 and E11 add it up: the source's, or the posted one of `roles` if a change is held. Zero
 * for an invoice without entry, and for a consolidated one.
 */
export function vatOwed(invoice: ReconciledInvoice, roles: readonly LineRole[]): Money {
  if (invoice.inForce === null || invoice.record.consolidatedInvoiceIds.length > 0) return zero;
  const posted = balance(invoice.inForce, ({ role }) => roles.includes(role)).negated();
  return isHeldChange(invoice) ? posted : (invoice.record.totalVat ?? posted);
}

/**
 * The end of a difference's message if one of the documents waits to be judged again, which may remove the difference.
 */
export function waitingHint(...documents: ReconciledDocument[]): string {
  return documents.some(({ dirty }) => dirty) ? reconcileTexts.waitsForJudgement : '';
}
