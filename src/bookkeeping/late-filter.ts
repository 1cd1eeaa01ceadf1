import type { LateDocument } from '../documents/late-documents.ts';
import type { Money } from '../domain/money.ts';
import type { LateDecisionKind } from '../posting/types.ts';
import type { CalendarDate, DocumentKind } from '../terms.ts';
import { largestEffect, type WeighedDocument } from './weigh-decision.ts';

/** Conditions on late documents. A document must meet all that are given. */
export interface LateFilter {
  code?: string;
  kind?: DocumentKind;
  from?: CalendarDate;
  to?: CalendarDate;
  /** An account on which posting the document would change the balance. */
  account?: string;
  department?: number;
  /** Limits of the largest amount that posting the document would move on one account. */
  amount?: { least?: Money; most?: Money };
  /** Selects documents with this decision, instead of documents without a decision. */
  decided?: LateDecisionKind;
}

/** Whether a document meets the conditions on it alone. A document without a date does not meet `from` or `to`. */
export function matchesLate(
  { code, kind, from, to, decided }: LateFilter,
  { problem, kind: own, documentDate: date }: Pick<LateDocument, 'problem' | 'kind' | 'documentDate'>,
  decision: LateDecisionKind | null,
): boolean {
  return (
    decision === (decided ?? null) &&
    (code === undefined || problem === code) &&
    (kind === undefined || own === kind) &&
    (from === undefined || (date !== null && date >= from)) &&
    (to === undefined || (date !== null && date <= to))
  );
}

/** Whether a document meets the conditions on the effects of its posting. */
export function matchesWeighed({ account, department, amount }: LateFilter, document: WeighedDocument): boolean {
  const largest = largestEffect(document);
  return (
    (account === undefined || document.effects.some((effect) => effect.account === account)) &&
    (department === undefined || document.departments.includes(department)) &&
    (amount?.least === undefined || largest.greaterThanOrEqualTo(amount.least)) &&
    (amount?.most === undefined || largest.lessThanOrEqualTo(amount.most))
  );
}
