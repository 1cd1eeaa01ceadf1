import type { InstallationId } from '../../../terms.ts';
import type { AskedKind } from '../../users/permitted-actions.ts';
import { lateAsked } from './late.ts';
import { matchAsked } from './match.ts';
import { pausesPath } from './pauses-link.ts';
import { repostAsked } from './repost.ts';
import { retryAsked } from './retry.ts';
import type { ShownRequest } from './shown-request.ts';

/** Reads the request of each kind of action from its JSON. Null if another build asked. */
export const shownRequests: Record<AskedKind, (installation: InstallationId, input: string) => ShownRequest | null> = {
  decide_late: lateAsked,
  retry_documents: retryAsked,
  match_prepayment: matchAsked,
  repost_document: repostAsked,
  ...{ pause_windows: ofPauses, resume_windows: ofPauses, pause_delivery: ofPauses, resume_delivery: ofPauses },
};

function ofPauses(installation: InstallationId): ShownRequest {
  return { form: pausesPath(installation) };
}
