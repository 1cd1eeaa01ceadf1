import { recordAction } from '../../actions/record.ts';
import { retryRequest, weighRetry } from '../../bookkeeping/asked-retry.ts';
import { hashOfShown } from '../../bookkeeping/shown-decision.ts';
import { lockDocuments } from '../../documents/document.ts';
import { markDirty } from '../../documents/mark.ts';
import { UserError } from '../../domain/errors.ts';
import { documentKinds } from '../../terms.ts';
import { actionErrors } from '../../texts/errors/actions.ts';
import { writeAgain } from '../../writeback/questions.ts';
import type { Perform } from './performer.ts';

/**
 * Marks documents, so that the next window judges them again. Throws UserError if the judgement would no longer be the one that the
 * person saw.
 */
export const performRetry: Perform = async (
  trx,
  installation,
  { id: asked, subject: actedBy, reason, input, shownHash },
  { clock },
) => {
  const { id } = installation;
  const { documents } = retryRequest.parse(JSON.parse(input));
  await lockDocuments(trx, id, documents);
  const weighed = await weighRetry(trx, installation, documents, clock);
  if (shownHash !== hashOfShown('retry', [{ installation, documents: weighed }]))
    throw new UserError(actionErrors.changed(), 2);
  for (const kind of documentKinds) {
    const ids = documents.flatMap((each) => (each.kind === kind ? each.id : []));
    await markDirty(trx, id, kind, ids);
    if (kind === 'prepayment') await writeAgain(trx, id, ids);
  }
  const by = { actedBy, reason, asked: { id: asked } };
  const names = documents.map(({ kind, id: number }) => `${kind}/${number}`);
  await recordAction(trx, { installation: id, kind: 'retry_documents', by, input: { documents: names } });
};
