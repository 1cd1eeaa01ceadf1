import { approvalRequest } from '../../../actions/asking.ts';
import type { InstallationId } from '../../../terms.ts';
import type { AskedKind } from '../../users/permitted-actions.ts';
import { closingForms } from './closing.ts';
import { deliveryForms } from './deliveries.ts';
import type { EffectForm } from './effect-form.ts';
import { lateAsked } from './late.ts';
import { mappingForms } from './mappings.ts';
import { matchAsked } from './match.ts';
import { pausesPath } from './pauses-link.ts';
import { proposalAsked } from './propose-mapping.ts';
import { repostAsked } from './repost.ts';
import { retryAsked } from './retry.ts';
import type { ShownRequest } from './shown-request.ts';
import { windowForms } from './windows.ts';

type Reader = (installation: InstallationId, input: unknown) => ShownRequest | null;

/** Reads the request of each kind of action from its JSON. Null if another build asked. */
export const shownRequests: Record<AskedKind, Reader> = {
  decide_late: lateAsked,
  retry_documents: retryAsked,
  match_prepayment: matchAsked,
  repost_document: repostAsked,
  ...readersOf(closingForms),
  approve_action: ofApproval,
  ...readersOf(deliveryForms),
  propose_mapping: proposalAsked,
  ...readersOf(mappingForms),
  ...readersOf(windowForms),
  ...{ pause_windows: ofPauses, resume_windows: ofPauses, pause_delivery: ofPauses, resume_delivery: ofPauses },
};

function ofPauses(installation: InstallationId): ShownRequest {
  return { form: pausesPath(installation) };
}

function ofApproval(installation: InstallationId, input: unknown): ShownRequest {
  const { action } = approvalRequest.parse(input);
  return { form: `/${installation}/actions/${action}` };
}

function readersOf<Kind extends AskedKind>(forms: Record<Kind, EffectForm>): Record<Kind, Reader> {
  const readers = Object.entries<EffectForm>(forms).map(([kind, form]) => [kind, form.shownRequest]);
  return Object.fromEntries(readers) as Record<Kind, Reader>;
}
