import { askedBy } from '../../actions/asking.ts';
import { checkShown, hashOf, recordAction } from '../../actions/record.ts';
import { repostRequest, weighRepost } from '../../bookkeeping/asked-repost.ts';
import { retryRequest, weighRetry } from '../../bookkeeping/asked-retry.ts';
import { repostDocument } from '../../bookkeeping/repost.ts';
import { hashOfShown } from '../../bookkeeping/shown-decision.ts';
import { lockDocuments } from '../../documents/document.ts';
import { markDirty } from '../../documents/mark.ts';
import { setMatch } from '../../prepayments/decide.ts';
import { takeTurn } from '../../prepayments/follow.ts';
import { matchRequest, shownMatch, weighMatch } from '../../prepayments/weigh-match.ts';
import { documentKinds } from '../../terms.ts';
import { writeAgain } from '../../writeback/questions.ts';
import type { Perform } from './performer.ts';

/**
 * Marks documents, so that the next window judges them again. Throws UserError if the judgement would no longer be the one that the
 * person saw.
 */
export const performRetry: Perform = async (trx, installation, action, { clock }) => {
  const { input, shownHash } = action;
  const { id } = installation;
  const { documents } = retryRequest.parse(input);
  await lockDocuments(trx, id, documents);
  const weighed = await weighRetry(trx, installation, documents, clock);
  checkShown(shownHash, hashOfShown('retry', [{ installation, documents: weighed }]));
  for (const kind of documentKinds) {
    const ids = documents.flatMap((each) => (each.kind === kind ? each.id : []));
    await markDirty(trx, id, kind, ids);
    if (kind === 'prepayment') await writeAgain(trx, id, ids);
  }
  const by = askedBy(action);
  const names = documents.map(({ kind, id: number }) => `${kind}/${number}`);
  await recordAction(trx, { installation: id, kind: 'retry_documents', by, input: { documents: names } });
};

/** Sets or removes the match of a payment. Throws UserError if its figures differ from those that the person saw. */
export const performMatch: Perform = async (trx, installation, action) => {
  const { input, shownHash } = action;
  const request = matchRequest.parse(input);
  await takeTurn(trx, installation.id);
  const shown = shownMatch(request, await weighMatch(trx, installation, request));
  checkShown(shownHash, hashOf(shown));
  await setMatch(trx, installation.id, { ...request, ...askedBy(action) });
};

/** Posts a document again with the mapping in force. Throws UserError if the effect differs from the one that the person saw. */
export const performRepost: Perform = async (trx, installation, action) => {
  const { input, shownHash } = action;
  const { id } = installation;
  const document = repostRequest.parse(input);
  await repostDocument(trx, installation, document, async () => {
    const { weighed } = await weighRepost(trx, installation, document);
    checkShown(shownHash, hashOfShown('repost', [{ installation, documents: [weighed] }]));
  });
  const by = askedBy(action);
  await recordAction(trx, { installation: id, kind: 'repost_document', by, input: document });
};
