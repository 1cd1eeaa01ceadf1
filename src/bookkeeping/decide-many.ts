import { type ActedBy, recordAction } from '../actions/record.ts';
import type { Connection } from '../db/rows.ts';
import { type LateDocument, lateDocuments } from '../documents/late-documents.ts';
import { UserError } from '../domain/errors.ts';
import type { LateDecisionKind } from '../posting/types.ts';
import type { DocumentRef, InstallationId } from '../terms.ts';
import { lateErrors } from '../texts/errors/late-documents.ts';
import { confirmGone } from './confirm-gone.ts';
import { decideLate } from './decide-late.ts';
import { decisionsOf } from './late-decision-store.ts';

/**
 * The undecided late documents that `matches` accepts, by installation. Throws UserError if their number is not
 * `number`, or if they are only a part of the missing documents of one problem `source_shrank`.
 */
export async function chooseLate(
  db: Connection,
  installations: readonly InstallationId[],
  matches: (document: LateDocument) => boolean,
  number: number,
): Promise<[InstallationId, LateDocument[]][]> {
  const chosen: [InstallationId, LateDocument[]][] = [];
  for (const installation of installations) {
    const late = await lateDocuments(db, installation);
    const decisions = await decisionsOf(db, installation, late);
    const open = late.filter(
      ({ kind, id, version }) => !decisions.get(`${kind}/${id}`)?.some((each) => each.version === version),
    );
    const matching = open.filter(matches);
    if (open.some((each) => isAlike(each, matching) && !matching.includes(each))) {
      throw new UserError(lateErrors.partOfMany(), 2);
    }
    if (matching.length > 0) chosen.push([installation, matching]);
  }
  const found = chosen.reduce((all, [, matching]) => all + matching.length, 0);
  if (found === number) return chosen;
  throw new UserError(lateErrors.otherNumber({ found, number }), 2);
}

/** Whether the document has the same problem `source_shrank` as one of `chosen`. */
function isAlike({ problem, kind }: LateDocument, chosen: readonly LateDocument[]): boolean {
  return problem === 'source_shrank' && chosen.some((each) => each.problem === problem && each.kind === kind);
}

/**
 * Records one decision about several documents of an installation, as one action. `chosen` is true if `chooseLate`
 * selected them, so that a problem `source_shrank` is complete. Throws UserError and decides nothing if the decision is
 * not possible for one document.
 */
export async function decideAll(
  trx: Connection,
  installation: InstallationId,
  documents: readonly DocumentRef[],
  { decision, ...by }: ActedBy & { decision: LateDecisionKind },
  { chosen }: { chosen: boolean },
): Promise<LateDocument[]> {
  const input = { decision, documents: documents.map(({ kind, id }) => `${kind}/${id}`) };
  const { id: action } = await recordAction(trx, { installation, kind: 'decide_late', by, input });
  if (chosen && decision === 'confirm_gone') return confirmGone(trx, installation, documents, action);
  const decided: LateDocument[] = [];
  for (const { kind, id } of documents) {
    decided.push(await decideLate(trx, installation, { kind, id }, { decision, action }));
  }
  return decided;
}
