import { approvalRequest } from '../../../actions/asking.ts';
import type { InstallationId } from '../../../terms.ts';
import type { AskedKind } from '../../users/permitted-actions.ts';
import { closingForms } from './closing.ts';
import { deliveryForms } from './deliveries.ts';
import { documentForms } from './document-forms.ts';
import type { EffectForm } from './effect-form.ts';
import { mappingForms } from './mappings.ts';
import { pauseForms } from './pauses.ts';
import { proposalAsked } from './propose-mapping.ts';
import { reconcileForms } from './reconcile.ts';
import type { ShownRequest } from './shown-request.ts';
import { windowForms } from './windows.ts';

type Reader = (installation: InstallationId, input: unknown) => ShownRequest | null;

/** Reads the request of each kind of action from its JSON. Null if another build asked. */
export const shownRequests: Record<AskedKind, Reader> = {
  ...readersOf(documentForms),
  ...readersOf(closingForms),
  approve_action: ofApproval,
  ...readersOf(deliveryForms),
  propose_mapping: proposalAsked,
  ...readersOf(mappingForms),
  ...readersOf(windowForms),
  ...readersOf(pauseForms),
  ...readersOf(reconcileForms),
};

function ofApproval(installation: InstallationId, input: unknown): ShownRequest {
  const { action } = approvalRequest.parse(input);
  return { form: `/${installation}/actions/${action}` };
}

function readersOf<Kind extends AskedKind>(forms: Record<Kind, EffectForm>): Record<Kind, Reader> {
  const readers = Object.entries<EffectForm>(forms).map(([kind, form]) => [kind, form.shownRequest]);
  return Object.fromEntries(readers) as Record<Kind, Reader>;
}
