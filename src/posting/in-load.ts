import { prepaymentUse } from '../records/source-codes.ts';
import type { Decision, DocumentFacts, PrepaymentFacts } from './types.ts';

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
      return isRefundKnown(facts);
  }
}

/** A linked refund has its client from its original; its share of the original's VAT depends on what else was taken of it. */
function isRefundKnown({ prepayment, originalClientId = null, shares = [] }: PrepaymentFacts): boolean {
  const isLinked = prepayment.paid?.isNegative() === true && prepayment.refundsId !== null;
  return !isLinked || (originalClientId !== null && shares.length === 0);
}
