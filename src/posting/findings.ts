import { businessDate } from '../domain/dates.ts';
import type { DraftEntry } from '../domain/entry.ts';
import type { Money } from '../domain/money.ts';
import type { Problem } from '../domain/problems.ts';
import { type Found, isUnmapped, type LookUp } from '../mapping/look-ups.ts';
import { printedNumber } from '../records/printed-number.ts';
import type { Defect, InvoiceRecord } from '../records/types.ts';
import type { CalendarDate, DocumentRef, DocumentState } from '../terms.ts';
import { postingFindings } from '../texts/findings/posting.ts';
import type { ProblemCode } from '../texts/problems.ts';
import type { PostedFacts } from './hash.ts';
import type { Dating, Judgement, PostingContext } from './types.ts';

/** Problems that one line of the mapping solves for all documents, so their messages name no document. */
const sharedCodes: ReadonlySet<ProblemCode> = new Set([
  'role_unmapped',
  'account_unmapped',
  'vat_group_unmapped',
  'payment_type_unmapped',
  'cash_customer_unmapped',
]);

/** Collects the problems of a document during judging: problems that hold it, and remarks. */
export class Findings {
  readonly holding: Problem[] = [];
  readonly reports: Problem[] = [];
  refetch = false;
  documentDate: CalendarDate | null = null;
  /** The dating of the document. The rules of its kind set it after reading the dates. */
  dating: Dating | null = null;
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

  /** Holds for a failed proof that may succeed after the rows or payments are fetched again (ACCOUNTING Proofs). */
  holdAndRefetch(code: ProblemCode, message: string): null {
    this.refetch = true;
    return this.hold(code, message);
  }

  /** A remark, with the amount that it is about. */
  report(code: ProblemCode, message: string, amount: Money | null = null): void {
    const problem = this.#problem(code, postingFindings.named({ name: this.#name, message }));
    this.reports.push(amount === null ? problem : { ...problem, amount });
  }

  /**
   * Reports a document dated before the start date that is gone from the source, since the opening balances still
   * include it.
   */
  goneOpening({ startDate }: PostingContext): void {
    if (this.documentDate === null || startDate === null || this.documentDate >= startDate) return;
    const dated = postingFindings.datedBeforeStart({ date: this.documentDate, startDate });
    this.report('opening_changed', postingFindings.gone({ dated }));
  }

  /** Holds for each unreadable field of the record. `textOf` makes the message of a field. */
  defects(defects: Defect[], textOf: (defect: Defect) => string = postingFindings.field): void {
    for (const defect of defects) this.hold(defect.code, textOf(defect));
  }

  /** A required amount. Holds if it is absent or has more decimals than the currency. */
  amount(amount: Money | null, field: string, context: PostingContext): Money | null {
    // If parsing already reported the absent amount under the source's field name, it is not reported twice.
    if (amount === null)
      return this.holding.length > 0 ? null : this.hold('amount_missing', postingFindings.absent({ field }));
    if (amount.decimalPlaces() <= context.decimals) return amount;
    return this.hold(
      'amount_precision',
      postingFindings.tooPrecise({
        field,
        amount: amount.toFixed(),
        currency: context.currency,
        decimals: context.decimals,
      }),
    );
  }

  /**
   * A date of the source as a calendar date in the installation's time zone. `field` is the field's name in messages.
   */
  date(text: string | null, field: string, context: PostingContext): CalendarDate | null {
    if (text === null) return this.hold('date_missing', postingFindings.absent({ field }));
    return businessDate(text, context.timezone) ?? this.hold('date_invalid', postingFindings.notADate({ field, text }));
  }

  /** The account of a look-up. Holds once for each part that the mapping lacks. */
  account<Result extends Found>(result: LookUp<Result>): Result | null {
    if (!isUnmapped(result)) return result;
    if (this.holding.some(({ message }) => message === result.message)) return null;
    return this.hold(result.code, result.message);
  }

  /**
   * A held judgement: the first problem, with the messages of all, so that one correction can solve them all. Problems
   * that other documents share, such as a role without an account, also become its causes.
   */
  held(): Judgement {
    const [first] = this.holding;
    if (first === undefined) return this.#judgement('held');
    const messages = [...new Set(this.holding.map(({ message }) => message))];
    const causes = this.holding.filter(({ code }) => sharedCodes.has(code)).map(({ message }) => message);
    const problem = { ...first, message: postingFindings.named({ name: this.#name, message: messages.join('; ') }) };
    return { ...this.#judgement('held'), problem: causes.length > 0 ? { ...problem, causes } : problem };
  }

  /** A posted judgement with `entry`, or `nothing_to_post` if the entry has no lines. */
  posted(entry: DraftEntry, postedFacts?: PostedFacts): Judgement {
    if (entry.lines.length === 0) return this.#judgement('nothing_to_post');
    const dating = this.dating === null ? {} : { dating: this.dating };
    return { ...this.#judgement('posted'), entry, ...dating, ...(postedFacts ? { postedFacts } : {}) };
  }

  /** A judgement with only a state: no entry, no problem. */
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

/** The number printed on the document. A draft has its id. */
export function documentNumber(invoice: InvoiceRecord): string {
  return printedNumber(invoice) ?? String(invoice.id);
}

/** The name of an invoice in messages and descriptions. */
export function invoiceName(invoice: InvoiceRecord): string {
  return `${invoice.creditNote ? 'credit note' : 'invoice'} ${documentNumber(invoice)}`;
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
