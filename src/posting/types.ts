import type { Absence } from '../domain/absence.ts';
import type { ClosedDays } from '../domain/dates.ts';
import type { DraftEntry, EntryReason } from '../domain/entry.ts';
import type { Money } from '../domain/money.ts';
import type { Problem } from '../domain/problems.ts';
import type { Mapping } from '../mapping/schema.ts';
import type { InvoiceRecord, PaymentRecord, PrepaymentRecord, RowRecord } from '../records/types.ts';
import type { CalendarDate, DocumentState } from '../terms.ts';
import type { AccountEffect, FieldChange } from './changed-fields.ts';
import type { PostedFacts } from './hash.ts';
import type { DueBooks } from './vat-due.ts';

/** The plain data that posting requires besides a document's facts. */
export interface PostingContext {
  installation: number;
  timezone: string;
  currency: string;
  /** Decimals of the currency's minor unit. */
  decimals: number;
  startDate: CalendarDate | null;
  mapping: Mapping;
  /** Last closed day of our books; null if none is closed. */
  closedThrough: CalendarDate | null;
  /** Earliest open day of each department that the source has locked; used only with `policies.follow_source_lock`. */
  sourceLockDates: ReadonlyMap<number, CalendarDate>;
  /**
   * Days that are closed in the ERP, as delivery last read them, in order. Days before the first delivered day are left
   * out.
   */
  closedInErp?: readonly ClosedDays[];
  /** Today in the installation's time zone. If null or absent, no date counts as in the future. */
  today?: CalendarDate | null;
}

/** The time when vetledger first read the record. Null for a record of the first load, whose age is unknown. */
interface Seen {
  firstSeenAt?: Date | null;
}

/** Whether the source shows the record. */
interface Shown {
  /**
   * True if the document was never posted and two look-ups did not find it, or if the accountant confirmed its absence.
   */
  gone: boolean;
  /**
   * Set if a complete list no longer shows the document; the facts are then those of its last version. Null or absent
   * if the list shows the document.
   */
  absence?: Absence | null;
}

export interface InvoiceFacts extends Seen, Shown {
  kind: 'invoice';
  invoice: InvoiceRecord;
  rows: RowRecord[];
  /** P2: the row set was fetched no earlier than the invoice's `modified`. */
  rowsFresh: boolean;
  /** Payments of this invoice in the mirror, for P3. */
  payments: PaymentRecord[];
  /** Payments of type 6 of a consolidated invoice's members, for P1 (R10). */
  memberPayments: PaymentRecord[];
  /** The invoice date of the first original in a credit note's chain. Absent if unknown. */
  originalDate?: string | null;
  /** The credited invoice or credit note. Absent if it is not in the mirror. */
  original?: InvoiceRecord | null;
  /** Ids of rows that the source no longer shows although `modified` did not change. These rows are in `rows`. */
  missingRows?: readonly number[];
  /**
   * The credit notes of the circle that contains this credit note. Null or absent if there is no circle (ACCOUNTING
   * P6).
   */
  creditCircle?: readonly number[] | null;
}

export interface PaymentFacts extends Seen, Shown {
  kind: 'payment';
  payment: PaymentRecord;
  /**
   * True if the payment's invoice is dated before the start date, and a decision of the accountant posted that invoice.
   */
  invoiceDecidedIn?: boolean;
  /** The invoice of the payment. Null while it is not in the mirror. */
  invoice: InvoiceRecord | null;
  /**
   * The prepayments that a payment of type 8 used. Absent if they were not determined yet; the payment is then posted
   * under the invoice's client.
   */
  prepayment?: UsedPrepayment;
  /** The shares that a matched payment of type 8 takes, with `at_receipt`. */
  shares?: readonly PrepaymentShare[];
  /** With `policies.vat_due`, the books on which the VAT of the document's invoices depends. */
  due?: DueBooks;
}

/** The stored result of matching a payment of type 8 (ACCOUNTING "Who and where"). */
export interface UsedPrepayment {
  /**
   * The client of the matched prepayments. Without a match, the client that the invoice had at the payment's first
   * posting; null means the invoice's present client.
   */
  clientId: number | null;
  /** Ids of the matched prepayments; empty without a match. */
  prepaymentIds: readonly number[];
}

/** The amount that a payment of type 8 or a refund takes from a prepayment that was posted with VAT (ACCOUNTING R5). */
export interface PrepaymentShare {
  prepaymentId: number;
  /** The amount that the document takes. Negative if the document returns money to the prepayment. */
  amount: Money;
  /** The amount of the prepayment that was used and refunded before, in order of posting. */
  usedBefore: Money;
  /** The VAT of the prepayment's entry in force; null if that entry has no VAT. */
  vat: {
    account: string;
    suspendedAccount: string;
    group: string | null;
    rate: Money | null;
    /** The VAT of the complete prepayment, and the amount received. */
    amount: Money;
    paid: Money;
  } | null;
}

export interface PrepaymentFacts extends Shown {
  kind: 'prepayment';
  prepayment: PrepaymentRecord;
  /** The client of a linked refund's original. Null if there is no original, or if it is not in the mirror. */
  originalClientId?: number | null;
  /** The share that a linked refund takes, with `at_receipt`. */
  shares?: readonly PrepaymentShare[];
}

/** The latest day of an invoice, on which the rest of its VAT becomes due (ACCOUNTING R13). */
export interface VatDueFacts extends Shown {
  kind: 'vat_due';
  /** The invoice's id. */
  id: number;
  books: DueBooks;
}

export type DocumentFacts = InvoiceFacts | PaymentFacts | PrepaymentFacts | VatDueFacts;

/** The result of the rules for a document's present facts, without its history in the books. */
export interface Judgement {
  state: DocumentState;
  /** The entry for these facts; null unless `state` is `posted`. */
  entry: DraftEntry | null;
  /** The facts of the entry's input hash. Absent if no entry is posted. */
  postedFacts?: PostedFacts;
  /** The problem that holds the document; null unless `state` is `held`. */
  problem: Problem | null;
  /** Problems that do not hold the document (P3, VAT rate). */
  reports: Problem[];
  /**
   * A failed proof may succeed after invoice, rows and payments are fetched again, so fetch before holding (ACCOUNTING
   * Proofs).
   */
  refetch: boolean;
  /** The document's business date; null if unknown. */
  documentDate: CalendarDate | null;
  /** Dates with which the entry's date is checked. Absent if the entry's date cannot be in doubt. */
  dating?: Dating;
}

/** When the source recorded a document, to check the document's own date. */
export interface Dating {
  /** The day on which the source recorded the document. Null if unknown. */
  recorded: CalendarDate | null;
  /** True if an old date is not doubtful (ACCOUNTING "Dates": credit notes, payments of type 12). */
  mayBeOld: boolean;
}

export const lateDecisions = ['wait', 'redate', 'as_dated', 'leave_as_posted', 'accept_date', 'confirm_gone'] as const;
export type LateDecisionKind = (typeof lateDecisions)[number];
/** The decisions about a locked date. */
export type LockDecision = Exclude<LateDecisionKind, 'accept_date' | 'confirm_gone'>;

/** The accountant's decision about the entry that a document would become (`versionOf`). */
export interface LateDecision {
  decision: LateDecisionKind;
  version: string;
}

/** A document that waits for a lock or for a decision. */
export interface LateStanding {
  /** The version to which a decision would apply (`versionOf`). */
  version: string;
  /**
   * True if the document was late at a close of our books, or arrived after the close. Reopening the books does not
   * post the document.
   */
  atClose: boolean;
  /** The decision about this version, or null. */
  decision: LockDecision | null;
}

/** The history of a document in the books. */
export interface PostedBefore {
  /** The stored entry in force. Null after a reversal, or if nothing was posted. */
  inForce: (DraftEntry & { id: string }) | null;
  /** True once any entry of the document was posted. */
  everPosted: boolean;
  /** The reason why the last entry was reversed. Null or absent if an entry is in force or nothing was posted. */
  reversedFor?: EntryReason | null;
  /** The stored state; null if the document is new. */
  state: DocumentState | null;
  /** The date of the first judgement, which a payment or prepayment keeps (ACCOUNTING Dates). */
  documentDate: CalendarDate | null;
  /** True if a closed period holds a correction after the mapping changed. */
  remapHeld?: boolean;
  /** The stored late state, if the document is late. */
  late?: LateStanding | null;
  /** Decisions, the newest first. */
  decisions?: readonly LateDecision[];
}

/** The effect that a problem keeps out of the books (ACCOUNTING E6 "Reconciled is not complete"). */
export interface Outside {
  /** The document's amount, or for a posted document the difference from its entry. Null if unreadable. */
  amount: Money | null;
  /** The document's VAT, or the difference. Null if unreadable, and for payments and prepayments. */
  vat: Money | null;
  /** For a posted document: its posted facts that have other values in the source now, as far as known. */
  changes: readonly FieldChange[];
  /** For a posted document: the effect of its correction on each account. */
  effect: readonly AccountEffect[];
}

/**
 * The result of a decision: the new state, the entries to append in order (a reversal before its successor), and the
 * problems.
 */
export interface Decision {
  state: DocumentState;
  entries: DraftEntry[];
  /**
   * The reason why the document is held. For state `posted`: why the present facts are not posted (`change_held`, or a
   * failed proof).
   */
  problem: Problem | null;
  reports: Problem[];
  refetch: boolean;
  documentDate: CalendarDate | null;
  /** The value of `remapHeld` in PostedBefore after this decision. */
  remapHeld?: boolean;
  /**
   * The amounts that the problem keeps out of the books. Absent without a problem, and if the facts could not be
   * judged.
   */
  outside?: Outside;
  /**
   * The late state of the document. Null or absent if the document waits for neither a closed period nor a decision.
   */
  late?: LateStanding | null;
}
