import { absenceCode, absenceMessage, missingRowsMessage } from '../domain/absence.ts';
import type { Problem } from '../domain/problems.ts';
import type { DocumentRef } from '../terms.ts';
import type { Decision, DocumentFacts, Judgement, PostedBefore, PostingContext } from './types.ts';
import { weigh } from './weigh-outside.ts';

/**
 * Reports a document that stays posted although the source no longer shows it or its rows (ACCOUNTING "Absence"). Its
 * entry stays; its unposted effect is the reversal that a confirmation would post.
 */
export function nameAbsence(
  facts: DocumentFacts,
  judgement: Judgement,
  before: PostedBefore,
  decision: Decision,
  context: PostingContext,
): Decision {
  const last = decision.entries.at(-1);
  const isInForce = last === undefined ? before.inForce !== null : last.reverses === null;
  const found = isInForce ? problemOf(facts) : null;
  if (found === null) return decision;
  // Other problems wait until the absence is decided.
  const besides = decision.problem === null ? '' : `; besides: ${decision.problem.message}`;
  const problem = { ...found, message: `${found.message}${besides}` };
  // The entry that is in force after this decision.
  const inForce = last === undefined ? before.inForce : { ...last, id: '' };
  const wanted: Judgement = facts.absence ? { ...judgement, state: 'gone', entry: null } : judgement;
  return weigh(facts, wanted, { ...before, inForce }, { ...decision, problem }, context);
}

function problemOf(facts: DocumentFacts): Problem | null {
  const { absence = null } = facts;
  const document = refOf(facts);
  if (absence) return { code: absenceCode(absence), document, message: absenceMessage(document, absence) };
  const rows = facts.kind === 'invoice' ? (facts.missingRows ?? []) : [];
  if (rows.length === 0) return null;
  return { code: 'missing_in_source', document, message: missingRowsMessage(document, rows) };
}

/** The document to which the facts belong. */
export function refOf(facts: DocumentFacts): DocumentRef {
  switch (facts.kind) {
    case 'invoice':
      return { kind: 'invoice', id: facts.invoice.id };
    case 'payment':
      return { kind: 'payment', id: facts.payment.id };
    case 'vat_due':
      return { kind: 'vat_due', id: facts.id };
    case 'prepayment':
      return { kind: 'prepayment', id: facts.prepayment.id };
  }
}
