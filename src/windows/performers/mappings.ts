import { askedBy } from '../../actions/asking.ts';
import { checkShown } from '../../actions/record.ts';
import {
  hashOfPreview,
  previewedBy,
  previewedRequest,
  proposalRequest,
  withProposal,
} from '../../bookkeeping/asked-mapping.ts';
import { storedLocks, summarisePreview } from '../../bookkeeping/mapping-preview.ts';
import { applyProposal } from '../../bookkeeping/mapping-versions.ts';
import { previewRemap, type RemappedDocument } from '../../bookkeeping/preview.ts';
import { repost } from '../../bookkeeping/repost.ts';
import type { AskedKind } from '../../console/users/permitted-actions.ts';
import { everything } from '../../documents/in-force.ts';
import { UserError } from '../../domain/errors.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { actionErrors } from '../../texts/errors/actions.ts';
import type { LongPerform, Perform } from './performer.ts';

/** How long a repost waits for a running window. */
const waitSeconds = 600;

const propose: LongPerform = async ({ db }, installation, { input, shownHash }, signal) => {
  const { content, mapping_hash } = proposalRequest.parse(input);
  // The person saw the mapping in force, and proposed a change of it.
  checkShown(shownHash, installation.mappingHash);
  const proposed = withProposal(installation, content);
  const preview = await summarisePreview(previewRemap(db, proposed, storedLocks, everything), signal);
  return { base: installation.mappingHash, mapping_hash, preview };
};

const previewRepost: LongPerform = async ({ db }, installation, { shownHash }, signal) => {
  const { mappingHash } = installation;
  checkShown(shownHash, mappingHash);
  const preview = await summarisePreview(previewRemap(db, installation, storedLocks, everything), signal);
  return { base: mappingHash, mapping_hash: mappingHash, preview };
};

/** Posts the corrections of the mapping in force, if a preview still has the result that the person saw. */
const repostBooks: LongPerform = async ({ db }, installation, { input, shownHash }, signal) => {
  const { preview: id } = previewedRequest.parse(input);
  const seen = await previewedBy(db, installation.id, { id, kind: 'preview_repost' });
  if (seen === null || seen.mappingHash !== installation.mappingHash || shownHash !== hashOfPreview(seen))
    throw new UserError(actionErrors.changed(), 2);
  const batches = repost(db, installation, storedLocks, {
    ...{ selection: everything, signal, clock: systemClock, waitSeconds, onWait: () => undefined },
    async check(renew) {
      const present = renewing(previewRemap(db, installation, storedLocks, everything), renew);
      const preview = await summarisePreview(present, signal);
      checkShown(shownHash, hashOfPreview({ ...seen, preview }));
    },
  });
  const { counts } = await summarisePreview(batches, signal);
  return { corrected: counts.corrected, change_held: counts.change_held };
};

async function* renewing(
  batches: AsyncIterable<RemappedDocument[]>,
  renew: () => Promise<void>,
): AsyncGenerator<RemappedDocument[]> {
  for await (const batch of batches) {
    await renew();
    yield batch;
  }
}

export const mappingPerformers = {
  propose_mapping: propose,
  preview_repost: previewRepost,
  repost_books: repostBooks,
} as const satisfies Partial<Record<AskedKind, LongPerform>>;

/** Puts a proposal in force. The database refuses the request of the person who proposed it. */
export const performApproval: Perform = async (trx, { id }, action) => {
  const { input, shownHash } = action;
  const { preview } = previewedRequest.parse(input);
  const proposal = await previewedBy(trx, id, { id: preview, kind: 'propose_mapping' });
  if (proposal === null || proposal.content === null || shownHash !== hashOfPreview(proposal))
    throw new UserError(actionErrors.changed(), 2);
  const { content, base, mappingHash: mapping_hash } = proposal;
  const applied = { content, base, proposal: preview, mapping_hash };
  if (!(await applyProposal(trx, id, applied, askedBy(action)))) throw new UserError(actionErrors.changed(), 2);
};
