import { approvalRequest } from '../../../actions/asking.ts';
import type { InstallationId } from '../../../terms.ts';
import { actionTexts } from '../../../texts/console/actions.ts';
import { html } from '../../html.ts';
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
  approve_action: ofAction,
  withdraw_action: ofAction,
  ...readersOf(deliveryForms),
  propose_mapping: proposalAsked,
  ...readersOf(mappingForms),
  ...readersOf(windowForms),
  ...readersOf(pauseForms),
  ...readersOf(reconcileForms),
};

function ofAction(installation: InstallationId, input: unknown): ShownRequest {
  const { action } = approvalRequest.parse(input);
  const form = `/${installation}/actions/${action}`;
  return { form, view: () => html`<dt>${actionTexts.request}</dt><dd><a href=${form}>${action}</a></dd>` };
}

function readersOf<Kind extends AskedKind>(forms: Record<Kind, EffectForm>): Record<Kind, Reader> {
  const readers = Object.entries<EffectForm>(forms).map(([kind, form]) => [kind, form.shownRequest]);
  return Object.fromEntries(readers) as Record<Kind, Reader>;
}
