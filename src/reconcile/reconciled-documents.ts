import type { ProblemDetails } from '../documents/save.ts';
import { type Money, sum } from '../domain/money.ts';
import type { StoredUse } from '../prepayments/used.ts';
import type { InvoiceRecord, PaymentRecord, PrepaymentRecord, RowRecord } from '../records/types.ts';
import type { CalendarDate, DocumentState, LineRole } from '../terms.ts';

/** The sum of a document's lines with the same tags, over all of its entries; sums of zero are left out. */
export interface LedgerSum {
  account: string;
  role: LineRole;
  invoiceId: number | null;
  partyCode: string | null;
  paymentType: number | null;
  departmentId: number | null;
  documentDate: CalendarDate;
  /** Debit positive. */
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
  /** Debit positive. */
  amount: Money;
}

/** A document with what is compared: its record in the mirror, its state, and its sums in the ledger. */
export interface ReconciledDocument<Record = unknown> {
  record: Record;
  /** Confirmed missing from the source. */
  gone: boolean;
  /** More than one version has been seen. */
  changed: boolean;
  state: DocumentState | null;
  problem: string | null;
  /** Of a change that is held: the posted facts that the source has otherwise now; absent where they are not known. */
  changes?: ProblemDetails['changes'];
  /** Waits to be judged again. */
  dirty: boolean;
  documentDate: CalendarDate | null;
  sums: LedgerSum[];
}

export interface ReconciledPayment extends ReconciledDocument<PaymentRecord> {
  /** Of a payment of type 8: whose prepayment it used, as stored; absent for others and where it was never looked for. */
  used?: Omit<StoredUse, 'paymentId'>;
}
export type ReconciledPrepayment = ReconciledDocument<PrepaymentRecord>;

export interface ReconciledInvoice extends ReconciledDocument<InvoiceRecord> {
  payments: ReconciledPayment[];
  rows: RowRecord[];
  /** Lines of its entry in force; null when it has none. */
  inForce: LineInForce[] | null;
  /** It has entries that are not in force any more. */
  wasCorrected: boolean;
}

/** Total of the sums or lines that `wanted` picks, debit positive. */
export function balance<T extends { amount: Money }>(sums: T[], wanted: (each: T) => boolean): Money {
  return sum(sums.filter(wanted).map(({ amount }) => amount));
}

/** Roles of the lines of VAT on prepayments, which cancel each other out in each entry (R5). */
const ofVat: readonly LineRole[] = ['vat', 'prepayment_vat'];

/** The payment's or prepayment's own side of its entries: by R4-R7 not the receivable's, and not the liability's. */
export function paymentSide(kind: 'payment' | 'prepayment', sums: LedgerSum[]): LedgerSum[] {
  return sums
    .filter(({ role }) => !ofVat.includes(role))
    .filter(({ role }) =>
      kind === 'payment' ? role !== 'receivable' && role !== 'opening_receivable' : role !== 'prepayment_liability',
    );
}

/** The amount that a payment or prepayment is posted with. */
export function postedAmount(kind: 'payment' | 'prepayment', sums: LedgerSum[]): Money {
  return sum(paymentSide(kind, sums).map((each) => each.amount));
}

/** A posted document whose changed facts are held: the equations use its facts as posted (ACCOUNTING Dates). */
export function isHeldChange({ state, problem }: ReconciledDocument): boolean {
  return state === 'posted' && problem !== null;
}

/** The end of a difference's message where the next window may remove it: one of the documents is to be judged again. */
export function waitingHint(...documents: ReconciledDocument[]): string {
  return documents.some(({ dirty }) => dirty) ? '; it waits to be judged again by the next sync' : '';
}
