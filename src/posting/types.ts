import type { DraftEntry } from '../domain/entry.ts';
import type { Problem } from '../domain/problems.ts';
import type { Mapping } from '../mapping/parse.ts';
import type { InvoiceRecord, PaymentRecord, PrepaymentRecord, RowRecord } from '../records/types.ts';
import type { CalendarDate, DocumentState } from '../terms.ts';

/** Everything posting needs besides the document itself. All data; no clock, no I/O. */
export interface PostingContext {
  installation: number;
  timezone: string;
  currency: string;
  /** Decimals of the currency's minor unit. */
  decimals: number;
  startDate: CalendarDate | null;
  mapping: Mapping;
  /**
   * Last closed day of our own books, and per department the source's lock (its earliest open day), both null when none or
   * unknown; the source's counts only with `policies.follow_source_lock`.
   */
  closedThrough: CalendarDate | null;
  sourceLockDates: ReadonlyMap<number, CalendarDate>;
}

export interface InvoiceFacts {
  kind: 'invoice';
  invoice: InvoiceRecord;
  rows: RowRecord[];
  /** P2: the row set was fetched no earlier than the invoice's `modified`. */
  rowsFresh: boolean;
  /** Payments of this invoice in the mirror (for P3), and the type-6 payments of a collector's members (for R10's P1). */
  payments: PaymentRecord[];
  memberPayments: PaymentRecord[];
  /** True when the source no longer has it (confirmed by a second look-up). */
  gone: boolean;
}

export interface PaymentFacts {
  kind: 'payment';
  payment: PaymentRecord;
  /** Null while the invoice is not in the mirror. */
  invoice: InvoiceRecord | null;
  gone: boolean;
}

export interface PrepaymentFacts {
  kind: 'prepayment';
  prepayment: PrepaymentRecord;
  gone: boolean;
}

export type DocumentFacts = InvoiceFacts | PaymentFacts | PrepaymentFacts;

/** What the rules say of a document by its present facts alone, before its history is looked at. */
export interface Judgement {
  state: DocumentState;
  /** The entry its facts ask for; null unless `state` is `posted`. */
  entry: DraftEntry | null;
  /** Why it is held; null unless `state` is `held`. */
  problem: Problem | null;
  /** Reported beside it, without holding it (P3, VAT rate). */
  reports: Problem[];
  /** A proof failed that fresh parts might mend: fetch invoice, rows and payments again before holding (ACCOUNTING Proofs). */
  refetch: boolean;
  /** The document's business date, once it could be told. */
  documentDate: CalendarDate | null;
}

/** What the books hold of a document so far. */
export interface PostedBefore {
  /** The entry in force, as stored; null after a reversal or when nothing was posted. */
  inForce: (DraftEntry & { id: string }) | null;
  /** True once any entry was posted. */
  everPosted: boolean;
  /** State recorded last, or null when first seen. */
  state: DocumentState | null;
  /** The date taken when it was first judged: a payment's or prepayment's never changes (ACCOUNTING Dates). */
  documentDate: CalendarDate | null;
  /** A correction after a changed mapping was asked for, and a closed period held it. */
  remapHeld?: boolean;
}

/** What to write: entries in order (a reversal before its successor), the state after, and what to tell. */
export interface Decision {
  state: DocumentState;
  entries: DraftEntry[];
  /** Why it is held; with state `posted`, why its change or its present facts are not in the books (`change_held`, a doubt). */
  problem: Problem | null;
  reports: Problem[];
  refetch: boolean;
  documentDate: CalendarDate | null;
  /** A correction after a changed mapping still waits for its period to be opened. */
  remapHeld?: boolean;
}
