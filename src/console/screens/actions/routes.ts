import type { InstallationRequest, Route } from '../../route.ts';
import { permittedActions } from '../../users/permitted-actions.ts';
import { showAction } from './action-page.ts';
import { approve } from './approve.ts';
import { closingForms } from './closing.ts';
import { deliveryForms } from './deliveries.ts';
import { askLate, showLate } from './late.ts';
import { mappingForms } from './mappings.ts';
import { askMatch, showMatch } from './match.ts';
import { askPause, showPauses } from './pauses.ts';
import { proposalRoutes } from './propose-mapping.ts';
import { askRepost, showRepost } from './repost.ts';
import { askRetry, showRetry } from './retry.ts';
import { windowForms } from './windows.ts';

const late = '/:installation/actions/late';
const retry = '/:installation/actions/retry';
const match = '/:installation/actions/match';
const repost = '/:installation/actions/repost';
const pauses = '/:installation/actions/pauses';
const action = '/:installation/actions/:id';
const decides = { who: permittedActions.decide_late, in: 'installation' } as const;
const closes = { who: permittedActions.close_books, in: 'installation' } as const;
const operates = { who: permittedActions.pause_windows, in: 'installation' } as const;

/** Asking for actions. Each form shows the effect first, and the page of the action shows what came of it. */
export const actionsRoutes: readonly Route[] = [
  {
    ...{ method: 'GET', path: late, access: decides, audit: 'nothing' },
    answer: (request: InstallationRequest) => showLate(request, request.query, null),
  },
  { method: 'POST', path: late, access: decides, audit: 'action', answer: askLate },
  {
    ...{ method: 'GET', path: retry, access: decides, audit: 'nothing' },
    answer: (request: InstallationRequest) => showRetry(request, request.query, null),
  },
  { method: 'POST', path: retry, access: decides, audit: 'action', answer: askRetry },
  {
    ...{ method: 'GET', path: match, access: decides, audit: 'nothing' },
    answer: (request: InstallationRequest) => showMatch(request, request.query, null),
  },
  { method: 'POST', path: match, access: decides, audit: 'action', answer: askMatch },
  {
    ...{ method: 'GET', path: repost, access: decides, audit: 'nothing' },
    answer: (request: InstallationRequest) => showRepost(request, request.query, null),
  },
  { method: 'POST', path: repost, access: decides, audit: 'action', answer: askRepost },
  {
    ...{ method: 'GET', path: pauses, access: operates, audit: 'nothing' },
    answer: (request: InstallationRequest) => showPauses(request),
  },
  { method: 'POST', path: pauses, access: operates, audit: 'action', answer: askPause },
  ...proposalRoutes,
  ...[closingForms, deliveryForms, mappingForms, windowForms]
    .flatMap((forms) => Object.values(forms))
    .flatMap(({ routes }) => routes),
  {
    ...{ method: 'GET', path: action, audit: 'nothing' },
    access: { who: 'read_operations', in: 'installation' },
    answer: (request: InstallationRequest) => showAction(request),
  },
  { method: 'POST', path: action, access: closes, audit: 'action', answer: approve },
];
