import { absenceCode, absenceMessage, missingRowsMessage } from '../domain/absence.ts';
import type { Problem } from '../domain/problems.ts';
import type { DocumentRef } from '../terms.ts';
import type { Decision, DocumentFacts, Judgement, PostedBefore, PostingContext } from './types.ts';
import { weigh } from './weigh-outside.ts';

/**
 * Names a document that stays posted though the source does not show it, or rows of it, any more (ACCOUNTING "Absence"). It keeps its
 * entry, and what it keeps out of the books is what a confirmation would do: its reversal.
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
  // What else is the matter with it waits until the absence is settled.
  const besides = decision.problem === null ? '' : `; besides: ${decision.problem.message}`;
  const problem = { ...found, message: `${found.message}${besides}` };
  // Beside what is in force from now on.
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

/** The document that facts are about. */
export function refOf(facts: DocumentFacts): DocumentRef {
  switch (facts.kind) {
    case 'invoice':
      return { kind: 'invoice', id: facts.invoice.id };
    case 'payment':
      return { kind: 'payment', id: facts.payment.id };
    case 'prepayment':
      return { kind: 'prepayment', id: facts.prepayment.id };
  }
}
