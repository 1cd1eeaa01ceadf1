import { prepaymentUse } from '../records/source-codes.ts';
import type { Decision, DocumentFacts, PrepaymentFacts } from './types.ts';

/**
 * Whether a first load may post a document before it has read its lists completely: nothing unread can change the entry
 * (DESIGN "Sync"). A document with a problem or remark must wait, since a payment, row or original may be unread.
 */
export function isCertainInLoad(facts: DocumentFacts, { problem, reports, refetch, entries }: Decision): boolean {
  if (problem !== null || reports.length > 0 || refetch || entries.length > 1) return false;
  switch (facts.kind) {
    case 'invoice':
      return !facts.invoice.creditNote || (facts.originalDate ?? null) !== null;
    case 'payment':
      // The used prepayment is found only when all payments and prepayments are read.
      return facts.payment.paymentType !== prepaymentUse;
    case 'vat_due':
      return false;
    case 'prepayment':
      return isRefundKnown(facts);
  }
}

/**
 * A linked refund takes its client from its original. Its share of the original's VAT depends on other uses of the
 * original.
 */
function isRefundKnown({ prepayment, originalClientId = null, shares = [] }: PrepaymentFacts): boolean {
  const isLinked = prepayment.paid?.isNegative() === true && prepayment.refundsId !== null;
  return !isLinked || (originalClientId !== null && shares.length === 0);
}
