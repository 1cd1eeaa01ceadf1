import { businessDate } from '../domain/dates.ts';
import type { DraftEntry } from '../domain/entry.ts';
import type { Money } from '../domain/money.ts';
import type { Problem, ProblemCode } from '../domain/problems.ts';
import { type Found, isUnmapped, type LookUp } from '../mapping/look-ups.ts';
import type { Defect, InvoiceRecord } from '../records/types.ts';
import type { CalendarDate, DocumentRef, DocumentState } from '../terms.ts';
import type { Judgement, PostingContext } from './types.ts';

/** Gathers what is wrong with one document while it is judged: what holds it, and what is only reported. */
export class Findings {
  readonly holding: Problem[] = [];
  readonly reports: Problem[] = [];
  refetch = false;
  documentDate: CalendarDate | null = null;
  readonly #document: DocumentRef;
  readonly #name: string;

  constructor(document: DocumentRef, name: string) {
    this.#document = document;
    this.#name = name;
  }

  hold(code: ProblemCode, message: string): null {
    this.holding.push(this.#problem(code, message));
    return null;
  }

  /** A proof that fresh parts might mend (ACCOUNTING Proofs). */
  holdAndRefetch(code: ProblemCode, message: string): null {
    this.refetch = true;
    return this.hold(code, message);
  }

  report(code: ProblemCode, message: string): void {
    this.reports.push(this.#problem(code, `${this.#name}: ${message}`));
  }

  /** Tells of a document from before the cut-over that the source has no longer: the opening balances still count it. */
  goneOpening({ startDate }: PostingContext): void {
    if (this.documentDate === null || startDate === null || this.documentDate >= startDate) return;
    const dated = `it is dated ${this.documentDate}, before start_date ${startDate}`;
    this.report('opening_changed', `${dated}, and is gone from the source`);
  }

  /** Holds for each field of the record that could not be read; `part` names the row it is a field of. */
  defects(defects: Defect[], part = ''): void {
    for (const { field, message } of defects) {
      this.hold(codeOfDefect(message), `${part}${field} ${message}`);
    }
  }

  /** An amount that posting needs, at the minor unit. */
  amount(amount: Money | null, field: string, context: PostingContext): Money | null {
    // Absent ones are among the defects already, which name the field as the source does.
    if (amount === null) return this.holding.length > 0 ? null : this.hold('amount_missing', `${field} is absent`);
    if (amount.decimalPlaces() <= context.decimals) return amount;
    return this.hold(
      'amount_precision',
      `${field} is ${amount.toFixed()}, and ${context.currency} has ${context.decimals} decimals`,
    );
  }

  /** A date of the wire as a calendar date in the installation's zone; `whose` names the field in messages. */
  date(text: string | null, whose: string, context: PostingContext): CalendarDate | null {
    if (text === null) return this.hold('date_missing', `${whose} is absent`);
    return businessDate(text, context.timezone) ?? this.hold('date_invalid', `${whose} is no date (${text})`);
  }

  account<Result extends Found>(result: LookUp<Result>): Result | null {
    if (!isUnmapped(result)) return result;
    if (this.holding.some(({ message }) => message === result.message)) return null;
    return this.hold(result.code, result.message);
  }

  /** The judgement that keeps the document out of the books, with every message of its first problem's kind. */
  held(): Judgement {
    const [first] = this.holding;
    const alike = this.holding.filter(({ code }) => code === first?.code).map(({ message }) => message);
    const problem = first ? { ...first, message: `${this.#name}: ${alike.join('; ')}` } : null;
    return { ...this.#judgement('held'), problem };
  }

  /** The judgement that asks for `entry`; without lines there is nothing to post. */
  posted(entry: DraftEntry): Judgement {
    if (entry.lines.length === 0) return this.#judgement('nothing_to_post');
    return { ...this.#judgement('posted'), entry };
  }

  /** A judgement without entry or problem. */
  state(state: Exclude<DocumentState, 'posted' | 'held'>): Judgement {
    return { ...this.#judgement(state), refetch: false };
  }

  #judgement(state: DocumentState): Judgement {
    const { reports, refetch, documentDate } = this;
    return { state, entry: null, problem: null, reports, refetch, documentDate };
  }

  #problem(code: ProblemCode, message: string): Problem {
    return { code, document: this.#document, message };
  }
}

/** What a field that could not be read means; only amounts are ever required. */
export function codeOfDefect(message: string): ProblemCode {
  if (message === 'is absent') return 'amount_missing';
  return message.startsWith('is no decimal') ? 'amount_invalid' : 'field_invalid';
}

/** The number printed on the document: prefix and number; for a draft its id (practice-api: Invoice). */
export function documentNumber(invoice: InvoiceRecord): string {
  if (invoice.number === null) return String(invoice.id);
  return invoice.prefix ? `${invoice.prefix}-${invoice.number}` : invoice.number;
}

/** How messages and descriptions call an invoice. */
export function invoiceName(invoice: InvoiceRecord): string {
  return `${invoice.creditNote ? 'credit note' : 'invoice'} ${documentNumber(invoice)}`;
}

/** A sentence's first letter as it should be. */
export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
