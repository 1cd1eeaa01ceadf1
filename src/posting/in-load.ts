import { prepaymentUse } from '../records/source-codes.ts';
import type { Decision, DocumentFacts } from './types.ts';

/**
 * Whether a first load may post a document before its lists are read to their ends: nothing that is still to come changes its entry
 * (DESIGN "Sync"). What has a problem or a remark may have it because a payment, a row or an original has not come.
 */
export function isCertainInLoad(facts: DocumentFacts, { problem, reports, refetch, entries }: Decision): boolean {
  if (problem !== null || reports.length > 0 || refetch || entries.length > 1) return false;
  switch (facts.kind) {
    case 'invoice':
      return !facts.invoice.creditNote || (facts.originalDate ?? null) !== null;
    case 'payment':
      // Whose prepayment was used is known when all payments and prepayments are.
      return facts.payment.paymentType !== prepaymentUse;
    case 'prepayment':
      // The client of a refund, and its share of the VAT, are those of its original.
      return facts.prepayment.paid?.isNegative() === false;
  }
}
