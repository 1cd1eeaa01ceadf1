import type { Outside } from '../documents/outside-books.ts';
import { formatExact, type Money, zero } from '../domain/money.ts';
import type { Mapping } from '../mapping/schema.ts';
import type { Dialect } from '../records/dialect.ts';
import type { CalendarDate, InstallationId, RecordKind, SoldRole } from '../terms.ts';

/** One installation to reconcile. */
export interface ReconcileInput {
  id: InstallationId;
  currency: string;
  decimals: number;
  timezone: string;
  startDate: CalendarDate | null;
  /** The current day in the installation's time zone. Months that are not over are not listed. */
  today: CalendarDate;
  dialect: Dialect;
  /**
   * The mapping shows which rows were gift cards and vouchers before start_date. Without a mapping, their opening
   * balance is not listed.
   */
  mapping?: Mapping;
  /** Whether a refund reduces its original's `unused_amount`; `auto` infers it from the mirror (ACCOUNTING E3). */
  refundLowersUnused: boolean | 'auto';
  /**
   * The source's counts of records that the mirror can know; null if unknown, which is not compared (ACCOUNTING E6).
   */
  sourceCounts: Partial<Record<RecordKind, { count: number } | null>>;
}

export const equationNames = ['E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'E9'] as const;
export type EquationName = (typeof equationNames)[number];

/** A document for which an equation does not hold. */
export interface Difference {
  /** `invoice 123`; several documents if only their sum differs; or the name of counted things. */
  document: string;
  amount: Money;
  /** A sentence with the compared amounts. */
  message: string;
}

export interface ReportedDifference {
  document: string;
  difference: string;
  message: string;
}

export interface Equation {
  ok: boolean;
  /**
   * Sum of the documents' absolute differences, so that two errors never cancel each other. It is in the installation's
   * currency; for E6 and E10 it is a number of documents.
   */
  difference: string | number;
  documents: ReportedDifference[];
  /** The number of differences that are not listed. */
  documents_omitted?: number;
}

/** E6. */
export interface CountEquation extends Equation {
  /**
   * Lists whose count in the source is unknown, for instance because the source did not answer. For these lists, only
   * the states of documents are checked.
   */
  not_counted?: string[];
}

/** A listed fact that fails no equation. */
export interface Note {
  document: string;
  message: string;
}

export interface TrialBalanceLine {
  account: string;
  /** The account's name; the commands add it. */
  name?: string | null;
  /** The account's role, if all its lines have the same. */
  role?: string;
  debit: string;
  credit: string;
  balance: string;
}

/** The lists that ACCOUNTING requires beside the equations. */
export interface Listed {
  /**
   * E2: posted payments on invoices without an entry in force. Cancelled payments and payments on opening balances are
   * left out.
   */
  payments_without_invoice: Note[];
  /** Posted documents whose current facts differ from the posted ones or are unreadable. */
  held_changes: Note[];
  /** E4: non-zero balances of `consolidation_clearing`, per collector. */
  consolidation_clearing: { document: string; balance: string }[];
  /** E4: non-zero balances of `credit_settlement`, per invoice and its credit notes. */
  credit_settlement: { documents: string[]; balance: string }[];
  /**
   * E3: clients whose prepayments differ, while the total agrees, so that the difference may not be an error.
   * `unproven` are payments that are not posted or whose used prepayment is unknown.
   */
  prepayment_clients: { client: string; ledger: string; source: string; unproven: string[] }[];
  /** E4: the unused prepayments at the end of each past month, for the accountant's VAT return on advances. */
  unused_prepayments: { month_end: CalendarDate; balance: string }[];
  /** E8: used prepayments that were received without VAT, and unmatched uses of clients whose prepayments all agree. */
  prepayment_vat?: Note[];
  /** E11: invoices whose VAT is not moved yet, because a document waits or has a problem. */
  vat_due?: Note[];
  /**
   * E9: by role, the opening balance as in the source, and the amounts sold and redeemed since; a credit is positive.
   */
  vouchers: { role: SoldRole; opening: string; sold: string; redeemed: string; balance: string }[];
  /** Accounts of gift cards, vouchers or prepayments with a debit balance. */
  liabilities_in_debit: { account: string; roles: string[]; balance: string }[];
  /** E10: prepayments with an id of another program, and prepayments that were not read since the write-back. */
  write_backs: { foreign: Note[]; unproven: Note[] };
  /** E5: settled cents that differ from the exact rows, per revenue or VAT account and day. */
  residues: { account: string; date: CalendarDate; residue: string }[];
  /**
   * E1, in posting mode `daily_summary`: entries that wait for the summary of their day. Entries that have waited too
   * long are differences.
   */
  unsummarised: { date: CalendarDate; entries: number }[];
  /** Problems that are reported without holding their document. */
  reports: { document: string; code: string; message: string }[];
}

/** The lists beside E7, which do not fail it. */
export interface ErpListed {
  /** Units that are not in the ERP yet: they are waiting, in doubt, or drafts. */
  undelivered: Note[];
  refused: Note[];
  /** An entry and its reversal, neither of which was sent. */
  cancelled_out: Note[];
  /** Entries that differ in the ERP within the tolerance of its VAT amounts. */
  within_tolerance: Note[];
}

/**
 * Documents that differ between ledger and mirror; they are fetched again from the source before a difference is
 * reported.
 */
export interface Refetched {
  /** The number of fetched documents. */
  documents: number;
  /** The number of records that had changed. */
  changed: number;
  /** The number of documents not fetched: they exceed the limit, or a window or the source prevented it. */
  left: number;
}

export interface InstallationReport {
  installation: InstallationId;
  /** Whether every equation holds for the posted documents. `complete` covers the others. */
  ok: boolean;
  /**
   * Whether no document is outside the books (ACCOUNTING E6 "Reconciled is not complete"). With `--erp`, also whether
   * all entries are in the ERP.
   */
  complete: boolean;
  /** Whether the installation has no entries. */
  empty: boolean;
  /** Documents that are not in the books, by kind. */
  outside: Outside;
  /** Changes of posted documents that the accountant declined; `complete` does not wait for them. */
  left_as_posted: Outside;
  currency: string;
  /**
   * E7 if the ERP was read back (`--erp`), E8 if VAT is posted on prepayments at receipt, E11 if VAT is posted on payment. E6 and E10 count documents.
   */
  equations: Record<EquationName, Equation> & {
    E6: CountEquation;
    E7?: Equation;
    E8?: Equation;
    E10: Equation;
    E11?: Equation;
  };
  states: Record<'invoices' | 'payments' | 'prepayments', Record<string, number>>;
  trial_balance: TrialBalanceLine[];
  listed: Listed;
  /** The lists beside E7. */
  erp?: ErpListed;
  /**
   * With `--erp`: the number of entries and daily summaries that are not in the ERP, by state. Units in the state
   * `not_enqueued` are not in the outbox yet.
   */
  not_in_erp?: Record<string, number>;
  /** The disputed documents that were fetched again. Absent if no document was disputed. */
  refetched?: Refetched;
  /** Shortened lists, with the number of omitted items. */
  omitted: Record<string, number>;
}

export interface ReconcileReport {
  ok: boolean;
  /** Whether no document is outside the books of any installation. */
  complete: boolean;
  installations: InstallationReport[];
}

/** Limit of items per list, so that memory is bounded. Further items are only counted. */
export const listLimit = 1000;

/** A list that keeps the first `listLimit` items and counts the others. */
export class BoundedList<T> {
  readonly items: T[] = [];
  omitted = 0;

  add(item: T): void {
    if (this.items.length < listLimit) this.items.push(item);
    else this.omitted += 1;
  }

  addAll(items: Iterable<T>): void {
    for (const item of items) this.add(item);
  }

  /** Counts items that were not read. */
  omit(count: number): void {
    this.omitted += count;
  }
}

/** The differences of a query: the listed ones, the number of omitted ones, and the absolute sum of all. */
export interface FoundDifferences {
  listed: Difference[];
  omitted: number;
  total: Money;
}

/** Collects one equation's differences. */
export class Tally {
  readonly #documents = new BoundedList<Difference>();
  #total: Money = zero;

  add(difference: Difference): void {
    this.#documents.add(difference);
    this.#total = this.#total.plus(difference.amount.abs());
  }

  addAll(differences: Iterable<Difference>): void {
    for (const difference of differences) this.add(difference);
  }

  addFound({ listed, omitted, total }: FoundDifferences): void {
    this.#documents.addAll(listed);
    this.#documents.omit(omitted);
    this.#total = this.#total.plus(total);
  }

  /** The equation for the report. `decimals` is null if the difference is a number of documents. */
  equation(decimals: number | null): Equation {
    const { items, omitted } = this.#documents;
    return {
      ok: items.length === 0,
      difference: decimals === null ? this.#total.toNumber() : formatExact(this.#total, decimals),
      documents: items.map(({ document, amount, message }) => ({
        document,
        difference: formatExact(amount, decimals ?? 0),
        message,
      })),
      ...(omitted > 0 ? { documents_omitted: omitted } : {}),
    };
  }
}
