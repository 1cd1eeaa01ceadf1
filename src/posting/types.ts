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

/** What posting needs besides the document's facts: plain data. */
export interface PostingContext {
  installation: number;
  timezone: string;
  currency: string;
  /** Decimals of the currency's minor unit. */
  decimals: number;
  startDate: CalendarDate | null;
  mapping: Mapping;
  /** Last closed day of our own books; null when none is closed. */
  closedThrough: CalendarDate | null;
  /** Earliest open day of each department that the source has locked; used only with `policies.follow_source_lock`. */
  sourceLockDates: ReadonlyMap<number, CalendarDate>;
  /** Days that are closed in the ERP, as delivery last read them, in order; those before the first one delivered left out. */
  closedInErp?: readonly ClosedDays[];
  /** The day it is in the installation's time zone; null or absent: nothing is taken for dated in the future. */
  today?: CalendarDate | null;
}

/** When the source's record was first seen by us; null when that was in the first load, which tells nothing. */
interface Seen {
  firstSeenAt?: Date | null;
}

/** Whether the source shows the record. */
interface Shown {
  /** It is taken for gone: never posted and looked up twice, or confirmed by a person. */
  gone: boolean;
  /** A whole list does not show it any more; its facts are those of its last version. Null or absent: it is shown. */
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
  /** Of a credit note: the invoice date of the first original of its chain, as the source has it; absent where it is not known. */
  originalDate?: string | null;
  /** Ids of rows that the source does not show any more, though its `modified` has not moved; they are among `rows`. */
  missingRows?: readonly number[];
  /** The credit notes that credit each other in a circle with it; null or absent: none (ACCOUNTING P6). */
  creditCircle?: readonly number[] | null;
}

export interface PaymentFacts extends Seen, Shown {
  kind: 'payment';
  payment: PaymentRecord;
  /** Its invoice is dated before the cut-over and was decided to be posted all the same. */
  invoiceDecidedIn?: boolean;
  /** Null while the invoice is not in the mirror. */
  invoice: InvoiceRecord | null;
  /** Of a payment of type 8, whose prepayment it used; absent where nobody has looked: the invoice's client. */
  prepayment?: UsedPrepayment;
  /** Of a payment of type 8 whose prepayments are known, with `at_receipt`. */
  shares?: readonly PrepaymentShare[];
}

/** Whose prepayment a payment of type 8 used: a stored fact (ACCOUNTING "Who and where"). */
export interface UsedPrepayment {
  /** The client of the matched prepayments; without a match that of the invoice when first posted; null: the present one. */
  clientId: number | null;
  /** The matched prepayments; empty without a match. */
  prepaymentIds: readonly number[];
}

/** What a payment of type 8 or a refund takes from a prepayment that was received with VAT (ACCOUNTING R5). */
export interface PrepaymentShare {
  prepaymentId: number;
  /** Negative where it is given back. */
  amount: Money;
  /** What was used and refunded of it before, in order of posting. */
  usedBefore: Money;
  /** Of the entry in force of the prepayment; null where that has no VAT. */
  vat: {
    account: string;
    suspendedAccount: string;
    group: string | null;
    rate: Money | null;
    /** The VAT of the whole, and the amount received. */
    amount: Money;
    paid: Money;
  } | null;
}

export interface PrepaymentFacts extends Shown {
  kind: 'prepayment';
  prepayment: PrepaymentRecord;
  /** Of a linked refund: the client of its original; null where there is none, or it is not in the mirror. */
  originalClientId?: number | null;
  /** Of a linked refund, with `at_receipt`. */
  shares?: readonly PrepaymentShare[];
}

export type DocumentFacts = InvoiceFacts | PaymentFacts | PrepaymentFacts;

/** What the rules make of a document's present facts, regardless of what was posted before. */
export interface Judgement {
  state: DocumentState;
  /** The entry its facts ask for; null unless `state` is `posted`. */
  entry: DraftEntry | null;
  /** The facts behind the entry's input hash, the payer's in the middle; absent where it has no payer. */
  postedFacts?: PostedFacts;
  /** Why it is held; null unless `state` is `held`. */
  problem: Problem | null;
  /** Problems that do not hold it (P3, VAT rate). */
  reports: Problem[];
  /** A proof failed that may pass once invoice, rows and payments are fetched again: fetch before holding (ACCOUNTING Proofs). */
  refetch: boolean;
  /** The document's business date; null when it is unknown. */
  documentDate: CalendarDate | null;
  /** What the date of its entry is judged by; absent where it is never in doubt. */
  dating?: Dating;
}

/** When a document was recorded in the source, as far as that can be told, to judge its own date by. */
export interface Dating {
  /** Null: unknown. */
  recorded: CalendarDate | null;
  /** Its date may lie as far back as it likes (ACCOUNTING "Dates": credit notes, payments of type 12). */
  mayBeOld: boolean;
}

export const lateDecisions = ['wait', 'redate', 'as_dated', 'accept_date', 'confirm_gone'] as const;
export type LateDecisionKind = (typeof lateDecisions)[number];
/** What is decided about a lock. */
export type LockDecision = Exclude<LateDecisionKind, 'accept_date' | 'confirm_gone'>;

/** What a person decided about one version of a document. */
export interface LateDecision {
  decision: LateDecisionKind;
  version: string;
}

/** A document that waits for a lock or for a decision. */
export interface LateStanding {
  /** What a decision would be about (`versionOf`). */
  version: string;
  /** It was late when our own books were closed, or came after it: opening them again does not post it. */
  atClose: boolean;
  /** What was decided of this version, if anything. */
  decision: LockDecision | null;
}

/** What the books hold of a document so far. */
export interface PostedBefore {
  /** The entry in force, as stored; null after a reversal or when nothing was posted. */
  inForce: (DraftEntry & { id: string }) | null;
  /** True once any entry was posted. */
  everPosted: boolean;
  /** Why its last entry was reversed; null or absent where one is in force or there is none. */
  reversedFor?: EntryReason | null;
  /** Null when first seen. */
  state: DocumentState | null;
  /** The date of the first judgement, which a payment or prepayment keeps (ACCOUNTING Dates). */
  documentDate: CalendarDate | null;
  /** A correction after a changed mapping is held by a closed period. */
  remapHeld?: boolean;
  /** Where it is late: since before. */
  late?: LateStanding | null;
  /** The newest first. */
  decisions?: readonly LateDecision[];
}

/** What a document with a problem keeps out of the books (ACCOUNTING E6 "Reconciled is not complete"). */
export interface Outside {
  /** The document's amount; of a posted document the difference to what is posted. Null where it cannot be read. */
  amount: Money | null;
  /** Its VAT, or the difference; null where it cannot be read, and for payments and prepayments. */
  vat: Money | null;
  /** Of a posted document: which of its posted facts the source has otherwise now, as far as that can be told. */
  changes: readonly FieldChange[];
  /** Of a posted document: what its correction would do to each account. */
  effect: readonly AccountEffect[];
}

/** What to write: the state after it, the entries in order (a reversal before its successor), and the problems. */
export interface Decision {
  state: DocumentState;
  entries: DraftEntry[];
  /** Why it is held. With state `posted`: why its present facts are not in the books (`change_held`, or a failed proof). */
  problem: Problem | null;
  reports: Problem[];
  refetch: boolean;
  documentDate: CalendarDate | null;
  /** As in PostedBefore, after this decision. */
  remapHeld?: boolean;
  /** What the problem keeps out of the books; absent without a problem, and where nothing could be judged. */
  outside?: Outside;
  /** Null or absent: it waits for no lock and no decision. */
  late?: LateStanding | null;
}
