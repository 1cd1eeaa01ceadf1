import type { Outside } from '../documents/outside-books.ts';
import type { Money } from '../domain/money.ts';
import { zero } from '../domain/money.ts';
import type { Mapping } from '../mapping/schema.ts';
import type { Dialect } from '../records/dialect.ts';
import type { CalendarDate, InstallationId, RecordKind, SoldRole } from '../terms.ts';

/** One installation to reconcile. */
export interface ReconcileInput {
  id: InstallationId;
  currency: string;
  /** Decimals of the currency's minor unit. */
  decimals: number;
  timezone: string;
  startDate: CalendarDate | null;
  /** The present day in the installation's time zone: months that are not over are not listed. */
  today: CalendarDate;
  dialect: Dialect;
  /** Tells what was sent to gift cards and vouchers before start_date; without it their opening balance is not listed. */
  mapping?: Mapping;
  /** Whether a refund lowers its original's `unused_amount`; `auto` infers it from the mirror (ACCOUNTING E3). */
  refundLowersUnused: boolean | 'auto';
  /** The source's own counts of what the mirror can know; null where unknown, which is not compared (ACCOUNTING E6). */
  sourceCounts: Partial<Record<RecordKind, { count: number } | null>>;
}

export const equationNames = ['E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'E9'] as const;
export type EquationName = (typeof equationNames)[number];

/** A document for which an equation does not hold. */
export interface Difference {
  /** `invoice 123`, several of them where only their sum differs, or the name of what is counted. */
  document: string;
  amount: Money;
  /** A sentence with the amounts compared. */
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
   * Sum of the documents' absolute differences, so that two errors never hide each other; in the installation's currency
   * (E6 and E10: a count of documents).
   */
  difference: string | number;
  documents: ReportedDifference[];
  /** Differences beyond those listed. */
  documents_omitted?: number;
}

/** E6. */
export interface CountEquation extends Equation {
  /** Lists whose count in the source is not known, for example because it could not be asked: of these only the states are checked. */
  not_counted?: string[];
}

/** Something listed that makes no equation fail. */
export interface Note {
  document: string;
  message: string;
}

export interface TrialBalanceLine {
  account: string;
  /** The account's role, when all of its lines have the same. */
  role?: string;
  debit: string;
  credit: string;
  balance: string;
}

/** What ACCOUNTING lists beside the equations. */
export interface Listed {
  /** E2: posted payments on invoices without an entry in force, unless they are cancelled or on opening balances. */
  payments_without_invoice: Note[];
  /** Posted documents whose present facts differ from the posted ones or are unreadable. */
  held_changes: Note[];
  /** E4: `consolidation_clearing` not zero, per collector. */
  consolidation_clearing: { document: string; balance: string }[];
  /** E4: `credit_settlement` not zero, per invoice and its credit notes. */
  credit_settlement: { documents: string[]; balance: string }[];
  /**
   * E3: clients whose prepayments differ, while the whole agrees, and of which nothing is proven: `unproven` are the payments of which
   * it is not known whose prepayment they used, or which are not posted.
   */
  prepayment_clients: { client: string; ledger: string; source: string; unproven: string[] }[];
  /** E4: the unused prepayments at the end of each month that is over; the accountant declares VAT on advances. */
  unused_prepayments: { month_end: CalendarDate; balance: string }[];
  /** E8: prepayments that were received without VAT and used, and unmatched uses of clients whose prepayments all agree. */
  prepayment_vat?: Note[];
  /** E9: by role, the opening balance as the source has it, and what was sold and redeemed since; credit positive. */
  vouchers: { role: SoldRole; opening: string; sold: string; redeemed: string; balance: string }[];
  /** Accounts of gift cards, vouchers or prepayments that stand in debit. */
  liabilities_in_debit: { account: string; roles: string[]; balance: string }[];
  /** E10: prepayments where somebody else's id stands, and those that were not read since they were written back. */
  write_backs: { foreign: Note[]; unproven: Note[] };
  /** E5: cents settled apart from the exact rows, per revenue or VAT account and day. */
  residues: { account: string; date: CalendarDate; residue: string }[];
  /** E1, in posting mode `daily_summary`: entries that wait for their day's summary; those overdue are differences. */
  unsummarised: { date: CalendarDate; entries: number }[];
  /** Problems that are reported without holding their document. */
  reports: { document: string; code: string; message: string }[];
}

/** What is listed beside E7 and makes it fail not. */
export interface ErpListed {
  /** Units that are not in the ERP yet: they wait, are in doubt, or are drafts. */
  undelivered: Note[];
  refused: Note[];
  /** An entry and its reversal of which neither was sent. */
  cancelled_out: Note[];
  /** Entries that the ERP holds otherwise, within the tolerance of its VAT amounts. */
  within_tolerance: Note[];
}

/** Documents of which the ledger and the mirror differ: fetched again from the source before that is reported. */
export interface Refetched {
  /** So many were fetched. */
  documents: number;
  /** Records that had changed. */
  changed: number;
  /** Not fetched: beyond what a run fetches, or a window or the source stood in the way. */
  left: number;
}

export interface InstallationReport {
  installation: InstallationId;
  /** Every equation holds for what is posted. It says nothing of what is not: `complete`. */
  ok: boolean;
  /** Nothing is outside the books (ACCOUNTING E6 "Reconciled is not complete"); with `--erp` nothing of them outside the ERP, either. */
  complete: boolean;
  /** Nothing was ever posted. */
  empty: boolean;
  /** What is not in the books, by kind of document. */
  outside: Outside;
  currency: string;
  /** E7 where the ERP was read back (`--erp`), E8 where VAT is posted on prepayments at receipt. E6 and E10 count documents. */
  equations: Record<EquationName, Equation> & { E6: CountEquation; E7?: Equation; E8?: Equation; E10: Equation };
  states: Record<'invoices' | 'payments' | 'prepayments', Record<string, number>>;
  trial_balance: TrialBalanceLine[];
  listed: Listed;
  /** Beside E7. */
  erp?: ErpListed;
  /** With `--erp`: entries and daily summaries that are not in the ERP, by state; `not_enqueued` ones are not in the outbox yet. */
  not_in_erp?: Record<string, number>;
  /** Absent where nothing was in dispute. */
  refetched?: Refetched;
  /** Lists cut short, and by how many. */
  omitted: Record<string, number>;
}

export interface ReconcileReport {
  ok: boolean;
  /** Nothing is outside the books of any installation. */
  complete: boolean;
  installations: InstallationReport[];
}

/** Entries of a list at most, so that memory is bounded however many differences there are; more are only counted. */
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

  /** Counts items that were not even read. */
  omit(count: number): void {
    this.omitted += count;
  }
}

/** Differences that a query has found: the listed ones, how many it left out, and the absolute sum of all of them. */
export interface FoundDifferences {
  listed: Difference[];
  omitted: number;
  total: Money;
}

/** Gathers one equation's differences. */
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

  /** As the report has it; `decimals` null where the difference is a count of documents. */
  equation(decimals: number | null): Equation {
    const { items, omitted } = this.#documents;
    return {
      ok: items.length === 0,
      difference: decimals === null ? this.#total.toNumber() : formatAmount(this.#total, decimals),
      documents: items.map(({ document, amount, message }) => ({
        document,
        difference: formatAmount(amount, decimals ?? 0),
        message,
      })),
      ...(omitted > 0 ? { documents_omitted: omitted } : {}),
    };
  }
}

/** An amount with the currency's decimals, or with more where it has more (rows of the source may). */
export function formatAmount(amount: Money, decimals: number): string {
  const plain = amount.isZero() ? zero : amount;
  return plain.toFixed(Math.max(decimals, plain.decimalPlaces()));
}
