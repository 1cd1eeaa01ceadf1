import { type AskedAction, isSamePerson } from '../../../actions/asking.ts';
import { closeRequest, reopenRequest } from '../../../queries/close-books.ts';
import { approvalTexts as texts } from '../../../texts/console/closing.ts';
import { html, type Node } from '../../html.ts';
import { form } from '../../layout.ts';
import type { InstallationRequest } from '../../route.ts';
import { permittedActions } from '../../users/permitted-actions.ts';
import { askFields } from './ask.ts';
import { obstacleView, type PresentEffect, shownClose, shownReopening } from './closing-effect.ts';

/** The present effect of a request that waits for a second person, and the form with which another user approves it. */
export async function approvalPart(request: InstallationRequest, action: AskedAction): Promise<() => Node | null> {
  const { installation, rights, session } = request;
  if (!rights.may(permittedActions.approve_action, installation.id)) return () => null;
  const { hash, obstacle, view } = await presentEffect(request, action);
  const isChanged = hash !== action.shownHash;
  return () => {
    if (obstacle !== null) return html`${obstacleView(request, obstacle)} ${view()}`;
    if (isChanged) return html`<p class="problem" role="alert">${texts.changed}</p>${view()}`;
    if (isSamePerson(action.subject, session.name)) return html`<p>${texts.own}</p>${view()}`;
    const path = `/${installation.id}/actions/${action.id}`;
    return html`${view()}<section class="narrow">${form(session, path, askFields(hash, texts.approve))}</section>`;
  };
}

function presentEffect(request: InstallationRequest, { kind, input }: AskedAction): Promise<PresentEffect> {
  return kind === 'reopen_books'
    ? shownReopening(request, reopenRequest.parse(input).from)
    : shownClose(request, closeRequest.parse(input).through);
}
