import { integer } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { type LateDocument, lockLate } from '../documents/late-documents.ts';
import { markDirty, markKnown } from '../documents/mark.ts';
import { UserError } from '../domain/errors.ts';
import type { LateDecisionKind } from '../posting/types.ts';
import type { DocumentRef, InstallationId } from '../terms.ts';
import { confirmGone } from './confirm-gone.ts';
import { recordDecisions } from './late-decision-store.ts';

/** What can be decided about a document with each problem (ACCOUNTING "Dates"). */
export const decisionsFor: Partial<Record<string, readonly LateDecisionKind[]>> = {
  period_locked: ['redate', 'as_dated', 'wait'],
  change_held: ['redate', 'as_dated', 'wait'],
  date_implausible: ['accept_date', 'redate', 'wait'],
  dated_before_start: ['redate', 'wait'],
  missing_in_source: ['confirm_gone'],
  source_shrank: ['confirm_gone'],
};

/** The option of `late decide` that says it. */
export function optionOf(decision: LateDecisionKind): string {
  return `--${decision.replaceAll('_', '-')}`;
}

/**
 * Records the decision of a person's action about the present version of a late document, and marks the document, so that the next window heeds it.
 * Throws UserError where there is nothing to decide, or not that.
 */
export async function decideLate(
  trx: Connection,
  installation: InstallationId,
  document: DocumentRef,
  { decision, action }: { decision: LateDecisionKind; action: number },
): Promise<LateDocument> {
  const name = `${installation}/${document.kind}/${document.id}`;
  const [found = null] = await lockLate(trx, installation, document.kind, [document.id]);
  const possible = (found && decisionsFor[found.problem ?? '']) ?? null;
  if (found === null || possible === null) throw notLate(name, found);
  if (!possible.includes(decision)) {
    throw new UserError(
      {
        code: 'not_decidable',
        message: `${name} is held as ${found.problem}, which ${optionOf(decision)} does not decide.`,
        todo: `It can be decided with ${possible.map(optionOf).join(', ')}.`,
      },
      2,
    );
  }
  if (found.problem === 'source_shrank') {
    throw new UserError(
      {
        code: 'one_of_many',
        message: `${name} is one of so many that the source does not show that they are one problem.`,
        todo: 'Confirm all of them with the number that `vetledger problems` shows: `vetledger late decide --filter code=source_shrank,kind=KIND --number N --confirm-gone`.',
      },
      2,
    );
  }
  if (found.version === null) {
    throw new UserError(
      {
        code: 'not_judged',
        message: `${name} has not been judged since decisions are recorded.`,
        todo: `Run \`vetledger problems retry ${name}\`, and decide again.`,
      },
      1,
    );
  }
  if (decision === 'confirm_gone') {
    await confirmGone(trx, installation, [document], action);
    return found;
  }
  await recordDecisions(trx, installation, [{ ...document, version: found.version }], { decision, action });
  await markDirty(trx, installation, document.kind, [document.id]);
  // They settle a receivable of these books from now on, and not one of the opening balances.
  if (document.kind === 'invoice')
    await markKnown(trx, installation, 'payment', await paymentsOf(trx, installation, document.id));
  return found;
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

function notLate(name: string, found: LateDocument | null): UserError {
  if (found === null) {
    return new UserError(
      {
        code: 'document_unknown',
        message: `There is no document ${name} here.`,
        todo: 'Ids are those that `vetledger late` prints.',
      },
      1,
    );
  }
  if (found.problem === 'date_in_future') {
    return new UserError(
      {
        code: 'not_decidable',
        message: `${name} is dated in the future (${found.documentDate}): there is nothing to decide.`,
        todo: 'It posts by itself when its day comes; correct the date in the practice software if it is wrong.',
      },
      2,
    );
  }
  return new UserError(
    {
      code: 'not_late',
      message: `${name} is not late${found.problem === null ? '' : `; it has the problem ${found.problem}`}.`,
      todo: 'Ids are those that `vetledger late` prints; `vetledger problems` says what to do about other problems.',
    },
    1,
  );
}
