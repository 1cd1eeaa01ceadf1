import type { InstallationRequest, Route } from '../../route.ts';
import { permittedActions } from '../../users/permitted-actions.ts';
import { showAction } from './action-page.ts';
import { approve, withdraw } from './approve.ts';
import { closingForms } from './closing.ts';
import { deliveryForms } from './deliveries.ts';
import { documentForms } from './document-forms.ts';
import { mappingForms } from './mappings.ts';
import { pauseForms } from './pauses.ts';
import { proposalRoutes } from './propose-mapping.ts';
import { reconcileForms } from './reconcile.ts';
import { windowForms } from './windows.ts';

const action = '/:installation/actions/:id';

/** Asking for actions. Each form shows the effect first, and the page of the action shows what came of it. */
export const actionsRoutes: readonly Route[] = [
  ...proposalRoutes,
  ...[documentForms, closingForms, deliveryForms, mappingForms, windowForms, pauseForms, reconcileForms]
    .flatMap((forms) => Object.values(forms))
    .flatMap(({ routes }) => routes),
  {
    ...{ method: 'GET', path: action, audit: 'nothing' },
    access: { who: 'read_operations', in: 'installation' },
    answer: (request: InstallationRequest) => showAction(request),
  },
  {
    ...{ method: 'POST', path: action, audit: 'action', answer: approve },
    access: { who: permittedActions.approve_action, in: 'installation' },
  },
  {
    ...{ method: 'POST', path: `${action}/withdrawal`, audit: 'action', answer: withdraw },
    access: { who: permittedActions.withdraw_action, in: 'installation' },
  },
];
