import type { CalendarDate } from '../terms.ts';
import { decide } from './correct.ts';
import { judgeInvoice } from './invoice.ts';
import { nameAbsence } from './name-absence.ts';
import { judgePayment } from './payment.ts';
import { judgePrepayment } from './prepayment.ts';
import { decideRemap, type Remap } from './remap.ts';
import type { Decision, DocumentFacts, Judgement, PostedBefore, PostingContext } from './types.ts';
import { judgeVatDue } from './vat-due-entry.ts';
import { weigh } from './weigh-outside.ts';

export { isLocked } from './correct.ts';
export { sameLines } from './entry-content.ts';
export type { Remap, RemapOutcome } from './remap.ts';

/**
 * Judges a document by its present facts only (ACCOUNTING Rules, Proofs). Bad data holds the document and never throws.
 * `takenDate` is the date of the first judgement, which payments and prepayments keep; an invoice's date follows the
 * invoice.
 */
export function judge(facts: DocumentFacts, context: PostingContext, takenDate: CalendarDate | null = null): Judgement {
  switch (facts.kind) {
    case 'invoice':
      return judgeInvoice(facts, context);
    case 'payment':
      return judgePayment(facts, context, takenDate);
    case 'prepayment':
      return judgePrepayment(facts, context, takenDate);
    case 'vat_due':
      return judgeVatDue(facts, context);
  }
}

/** Judges a document and decides which entries to append, given its history in the books. */
export function post(facts: DocumentFacts, before: PostedBefore, context: PostingContext): Decision {
  const judgement = judge(facts, context, before.documentDate);
  const decision = before.remapHeld
    ? decideRemap(judgement, before, context).decision
    : decide(judgement, before, context);
  return nameAbsence(facts, judgement, before, weigh(facts, judgement, before, decision, context), context);
}

/** Judges a posted document under a changed mapping and decides which entries to append. */
export function remap(facts: DocumentFacts, before: PostedBefore, context: PostingContext): Remap {
  const judgement = judge(facts, context, before.documentDate);
  const remapped = decideRemap(judgement, before, context);
  const weighed = weigh(facts, judgement, before, remapped.decision, context);
  return { ...remapped, decision: nameAbsence(facts, judgement, before, weighed, context) };
}
