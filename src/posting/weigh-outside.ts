import { zero } from '../domain/money.ts';
import { changedFields, effectOf, type FieldChange } from './changed-fields.ts';
import { amountsOf } from './entry-amounts.ts';
import type { Decision, DocumentFacts, Judgement, Outside, PostedBefore, PostingContext } from './types.ts';

/** The decision with `outside`: the effect that a problem keeps out of the books. */
export function weigh(
  facts: DocumentFacts,
  judgement: Judgement,
  { inForce }: PostedBefore,
  decision: Decision,
  { decimals }: Pick<PostingContext, 'decimals'>,
): Decision {
  if (decision.problem === null) return decision;
  const source = sourceAmounts(facts, judgement);
  if (inForce === null) return { ...decision, outside: { ...source, changes: [], effect: [] } };
  const posted = amountsOf(inForce);
  const isKnown = judgement.state !== 'held';
  const outside: Outside = {
    amount: source.amount?.minus(posted.amount) ?? null,
    vat: source.vat?.minus(posted.vat ?? zero) ?? null,
    changes: changesOf(inForce, judgement, decimals),
    effect: isKnown ? effectOf(inForce, judgement.entry) : [],
  };
  return { ...decision, outside };
}

/** Without an entry, the change is that of the document's state. The changes of doubtful facts are unknown. */
function changesOf(
  posted: NonNullable<PostedBefore['inForce']>,
  { entry, state }: Judgement,
  decimals: number,
): FieldChange[] {
  if (entry !== null) return changedFields(posted, entry, decimals);
  return state === 'held' ? [] : [{ field: 'state', old: 'posted', new: state.replaceAll('_', ' ') }];
}

/** The amounts in the source: from the entry if the facts give one, otherwise from the record. */
function sourceAmounts(facts: DocumentFacts, { entry, state }: Judgement): Pick<Outside, 'amount' | 'vat'> {
  if (entry !== null) return amountsOf(entry);
  if (state !== 'held')
    return { amount: zero, vat: facts.kind === 'invoice' || facts.kind === 'vat_due' ? zero : null };
  switch (facts.kind) {
    case 'invoice':
      return { amount: facts.invoice.totalWithVat, vat: facts.invoice.totalVat };
    case 'payment':
      return { amount: facts.payment.paid, vat: null };
    case 'vat_due':
      return { amount: zero, vat: null };
    case 'prepayment':
      return { amount: facts.prepayment.paid, vat: null };
  }
}
