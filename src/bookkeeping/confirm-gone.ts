import type { Connection } from '../db/rows.ts';
import { isMissing, type LateDocument, lockLate } from '../documents/late-documents.ts';
import { markDirty } from '../documents/mark.ts';
import { UserError } from '../domain/errors.ts';
import { confirmAbsence } from '../mirror/not-shown.ts';
import { type DocumentRef, documentKinds, type InstallationId } from '../terms.ts';
import { lateErrors } from '../texts/errors/late-documents.ts';
import { recordDecisions } from './late-decision-store.ts';

/**
 * Records the action that confirms these documents, or their missing rows, as gone, and marks the documents. The next window
 * reverses their entries with the reason `gone` (ACCOUNTING R3, "Absence"). Throws UserError if the source shows one of them
 * again.
 */
export async function confirmGone(
  trx: Connection,
  installation: InstallationId,
  documents: readonly DocumentRef[],
  action: number,
): Promise<LateDocument[]> {
  const found: LateDocument[] = [];
  for (const kind of documentKinds) {
    const ids = documents.flatMap((each) => (each.kind === kind ? each.id : []));
    if (ids.length === 0) continue;
    const accepted = await confirmAbsence(trx, installation, kind, ids);
    const locked = new Map((await lockLate(trx, installation, kind, ids)).map((each) => [each.id, each]));
    const decided = ids.map((id) => {
      const document = locked.get(id);
      if (!document || !isMissing(document) || !accepted.has(id) || document.version === null)
        throw new UserError(lateErrors.notMissing({ document: `${installation}/${kind}/${id}` }), 1);
      return { kind, id, version: document.version, document };
    });
    await recordDecisions(trx, installation, decided, { decision: 'confirm_gone', action });
    await markDirty(trx, installation, kind, ids);
    found.push(...decided.map(({ document }) => document));
  }
  return found;
}
