import { integer } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { type LateDocument, lockLate } from '../documents/late-documents.ts';
import { markDirty, markKnown } from '../documents/mark.ts';
import { UserError } from '../domain/errors.ts';
import { isReversalOnly } from '../posting/late.ts';
import type { LateDecisionKind } from '../posting/types.ts';
import type { DocumentRef, InstallationId } from '../terms.ts';
import { lateErrors } from '../texts/errors/late-documents.ts';
import { confirmGone } from './confirm-gone.ts';
import { recordDecisions } from './late-decision-store.ts';

/** The possible decisions for each problem (ACCOUNTING "Dates"). */
export const decisionsFor: Partial<Record<string, readonly LateDecisionKind[]>> = {
  period_locked: ['redate', 'as_dated', 'wait'],
  change_held: ['redate', 'as_dated', 'wait', 'leave_as_posted'],
  left_as_posted: ['redate', 'as_dated', 'wait'],
  date_implausible: ['accept_date', 'redate', 'wait'],
  dated_before_start: ['redate', 'wait'],
  missing_in_source: ['confirm_gone'],
  source_shrank: ['confirm_gone'],
};

/** The option of `late decide` for a decision. */
export function optionOf(decision: LateDecisionKind): string {
  return `--${decision.replaceAll('_', '-')}`;
}

/**
 * Records the decision of an action about the present version of a late document, and marks the document for the next
 * window. Throws UserError if the document is not late, or if this decision is not possible.
 */
export async function decideLate(
  trx: Connection,
  installation: InstallationId,
  document: DocumentRef,
  { decision, action }: { decision: LateDecisionKind; action: number },
): Promise<LateDocument> {
  const [late = null] = await lockLate(trx, installation, document.kind, [document.id]);
  const found = checkDecidable(installation, document, late, decision, { isNamed: true });
  if (decision === 'confirm_gone') {
    await confirmGone(trx, installation, [document], action);
    return found;
  }
  await recordDecisions(trx, installation, [{ ...document, version: found.version }], { decision, action });
  await markDirty(trx, installation, document.kind, [document.id]);
  // These payments now settle a receivable of these books, and no longer one of the opening balances.
  if (document.kind === 'invoice')
    await markKnown(trx, installation, 'payment', await paymentsOf(trx, installation, document.id));
  return found;
}

/**
 * Returns the late document if the decision is possible, otherwise throws UserError. With `isNamed`, a document of a problem
 * `source_shrank` is refused, because all of them are confirmed together.
 */
export function checkDecidable(
  installation: InstallationId,
  document: DocumentRef,
  found: LateDocument | null,
  decision: LateDecisionKind,
  { isNamed = false }: { isNamed?: boolean } = {},
): LateDocument & { version: string } {
  const name = `${installation}/${document.kind}/${document.id}`;
  const possible = (found && decisionsFor[found.problem ?? '']) ?? null;
  if (found === null || possible === null) throw notLate(name, found);
  if (!possible.includes(decision)) {
    throw new UserError(
      lateErrors.otherDecision({
        document: name,
        problem: found.problem ?? '',
        option: optionOf(decision),
        options: possible.map(optionOf).join(', '),
      }),
      2,
    );
  }
  if (isNamed && found.problem === 'source_shrank') {
    throw new UserError(lateErrors.oneOfMany({ document: name }), 2);
  }
  const { version } = found;
  if (version === null) throw new UserError(lateErrors.notJudged({ document: name }), 1);
  if (decision === 'leave_as_posted' && isReversalOnly(version)) {
    throw new UserError(lateErrors.onlyReversed({ document: name }), 2);
  }
  return { ...found, version };
}

async function paymentsOf(trx: Connection, installation: InstallationId, invoice: number): Promise<number[]> {
  const found = await rows(
    trx,
    { id: integer },
    `select id from mirror_record where installation = ? and kind = 'payment' and parent_id = ?`,
    [installation, invoice],
  );
  return found.map(({ id }) => id);
}

function notLate(document: string, found: LateDocument | null): UserError {
  if (found === null) return new UserError(lateErrors.documentUnknown({ document }), 1);
  const { problem, documentDate } = found;
  if (problem === 'date_in_future') return new UserError(lateErrors.dateInFuture({ document, date: documentDate }), 2);
  return new UserError(lateErrors.notLate({ document, problem }), 1);
}
