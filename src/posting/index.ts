import type { CalendarDate } from '../terms.ts';
import { decide } from './correct.ts';
import { judgeInvoice } from './invoice.ts';
import { judgePayment } from './payment.ts';
import { judgePrepayment } from './prepayment.ts';
import { decideRemap } from './remap.ts';
import type { Decision, DocumentFacts, Judgement, PostedBefore, PostingContext } from './types.ts';

export * from '../mapping/look-ups.ts';
export { type Mapping, parseMapping } from '../mapping/parse.ts';
export { decide } from './correct.ts';
export * from './remap.ts';
export type * from './types.ts';

/**
 * What the rules say of a document by its present facts (ACCOUNTING Rules, Proofs). Never throws on bad data: it holds.
 * `takenDate` is the date a payment or prepayment was given before; an invoice follows its own.
 */
export function judge(facts: DocumentFacts, context: PostingContext, takenDate: CalendarDate | null = null): Judgement {
  switch (facts.kind) {
    case 'invoice':
      return judgeInvoice(facts, context);
    case 'payment':
      return judgePayment(facts, context, takenDate);
    case 'prepayment':
      return judgePrepayment(facts, context, takenDate);
  }
}

/** Judges a document and decides what to write, given what the books hold of it. */
export function post(facts: DocumentFacts, before: PostedBefore, context: PostingContext): Decision {
  const judgement = judge(facts, context, before.documentDate);
  return before.remapHeld ? decideRemap(judgement, before, context).decision : decide(judgement, before, context);
}
